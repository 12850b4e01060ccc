# The steps of tests/kubectl/run, in order: a name and the least minor version of kubectl.
# Each is a function step_NAME that runs with -e; what it needs of earlier ones is said there.
steps="setup 0
version 0
api_resources 0
explain 0
create 0
create_generated 0
get 0
get_outputs 0
get_selected 0
get_sorted_and_chunked 0
get_watch 0
describe_pod 0
logs 0
logs_follow 0
logs_labelled 0
logs_previous 0
exec 30
exec_stdin 30
cp 30
attach 30
debug 30
resize 32
port_forward 31
apply 0
apply_server_side 0
apply_server_side_conflict 0
diff 0
patch 0
edit 0
label_and_annotate 0
replace 0
dry_run 0
validation 0
secrets_and_configmaps 0
namespace_scope 0
custom_kind 0
tfjob_table 0
tfjob_describe 0
tfjob_watch 0
tfjob_wait 0
tfjob_invalid 0
scale 0
volcano_job 0
t9k_job 0
wait_condition 0
wait_jsonpath 23
wait_delete 0
events 26
events_listed 0
top 0
can_i 0
whoami 28
nodes 0
cordon 0
raw 0
run_pod 0
delete 0
delete_cascade 0
delete_orphan 0
delete_collection 0
delete_namespace 0"

pod() { # pod NAME COMMAND [LABEL]
  cat <<POD
apiVersion: v1
kind: Pod
metadata:
  name: $1
  labels: {app: ${3:-$1}}
spec:
  restartPolicy: Never
  terminationGracePeriodSeconds: 1
  containers:
    - name: main
      image: busybox
      command: [sh, -c, '$2']
POD
}

tfjob() { # tfjob NAME WORKERS COMMAND
  cat <<JOB
apiVersion: kubeflow.org/v1
kind: TFJob
metadata:
  name: $1
spec:
  runPolicy:
    cleanPodPolicy: None
  tfReplicaSpecs:
    Worker:
      replicas: $2
      restartPolicy: Never
      template:
        spec:
          terminationGracePeriodSeconds: 1
          containers:
            - name: tensorflow
              image: busybox
              command: [sh, -c, '$3']
JOB
}

talk='i=0; while true; do i=$((i+1)); echo "line $i"; sleep 0.2; done'

# The namespace, and the pod `talker` that most steps look at.
step_setup() {
  has "$(k create namespace "$namespace")" "namespace/$namespace created"
  has "$(pod talker "$talk" | k create -f -)" 'pod/talker created'
  has "$(k wait --for=condition=Ready pod/talker --timeout=30s)" 'pod/talker condition met'
}

step_version() {
  has "$(k version 2>&1)" 'Server Version'
  is "$(k get --raw /healthz)" ok
  is "$(k get --raw /readyz)" ok
}

step_api_resources() {
  local found
  found=$(k api-resources)
  has "$found" NAME SHORTNAMES NAMESPACED KIND tfjobs TFJob pods Pod configmaps
  found=$(k api-resources --api-group=kubeflow.org --no-headers)
  has "$found" tfjobs kubeflow.org/v1 true TFJob
  has "$(k api-resources -o name)" tfjobs.kubeflow.org tensorflowtrainingjobs.batch.tensorstack.dev jobs.batch.volcano.sh
  has "$(k api-resources --verbs=list,watch --namespaced=false -o name)" nodes namespaces
  has "$(k api-versions)" kubeflow.org/v1 batch.volcano.sh/v1alpha1 v1
}

step_explain() {
  has "$(k explain pod.spec.containers)" image command
  has "$(k explain tfjob)" TFJob spec
  has "$(k explain tfjob.spec.runPolicy)" cleanPodPolicy backoffLimit
  has "$(k explain configmap --recursive)" data
  exits 1 k explain pod.spec.nonsense
}

step_create() {
  has "$(k create configmap colours --from-literal=sky=blue)" 'configmap/colours created'
  is "$(k get configmap colours -o 'jsonpath={.data.sky}')" blue
  exits 1 k create configmap colours --from-literal=sky=red
  has "$output" 'already exists'
  printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: two}\n' >"$scratch/two.yaml"
  output=$(k create -f "$scratch/two.yaml")
  has "$output" 'configmap/one created' 'configmap/two created'
  exits 1 k create -f "$scratch/no-such-file.yaml"
}

step_create_generated() {
  output=$(printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: made-}\n' | k create -f - -o name)
  has "$output" configmap/made-
  is "${#output}" 20
}

step_get() {
  output=$(k get pods)
  has "$output" NAME READY STATUS RESTARTS AGE talker 1/1 Running
  output=$(k get pods -o wide)
  has "$output" IP NODE 'NOMINATED NODE' 'READINESS GATES'
  has "$(k get pod/talker configmap/colours)" pod/talker configmap/colours
  has "$(k get all)" pod/talker
  exits 1 k get pod nobody
  has "$output" NotFound 'pods "nobody" not found'
  exits 1 k get nonsense
  has "$output" "the server doesn't have a resource type"
  has "$(k get pods -A)" NAMESPACE "$namespace"
}

step_get_outputs() {
  is "$(k get pod talker -o name)" pod/talker
  has "$(k get pod talker -o yaml)" 'kind: Pod' 'name: talker' "namespace: $namespace" 'phase: Running' 'creationTimestamp:' 'uid:'
  has "$(k get pod talker -o json)" '"kind": "Pod"' '"phase": "Running"'
  has "$(k get pods -o json)" '"kind": "List"'
  is "$(k get pod talker -o 'jsonpath={.status.phase} {.spec.containers[0].name}')" 'Running main'
  is "$(k get pods -l app=talker --no-headers -o 'custom-columns=N:.metadata.name,P:.status.phase' | tr -s ' ')" 'talker Running'
  is "$(k get pod talker -o go-template='{{.metadata.name}}')" talker
  has "$(k get pods --show-labels)" app=talker
  has "$(k get pods -L app)" APP
}

step_get_selected() {
  has "$(k get pods -l app=talker -o name)" pod/talker
  is "$(k get pods -l app=nobody -o name)" ''
  has "$(k get pods -l app=nobody 2>&1)" 'No resources found'
  has "$(k get pods -l 'app in (talker,other)' -o name)" pod/talker
  is "$(k get pods -l 'app notin (talker)' -o name | grep talker || true)" ''
  has "$(k get pods --field-selector=status.phase=Running -o name)" pod/talker
  is "$(k get pods --field-selector=status.phase=Failed -o name)" ''
  has "$(k get pods --field-selector=metadata.name=talker -o name)" pod/talker
  exits 1 k get pods --field-selector=spec.nonsense=1
  has "$output" 'field label not supported'
}

step_get_sorted_and_chunked() {
  local i
  for i in 3 1 2; do k create configmap "chunk-$i" --from-literal=n=$i >/dev/null; done
  output=$(k get configmaps --sort-by=.metadata.name -o name | grep chunk | tr '\n' ' ')
  is "$output" 'configmap/chunk-1 configmap/chunk-2 configmap/chunk-3 '
  output=$(k get configmaps --sort-by=.metadata.creationTimestamp)
  has "$output" chunk-1 NAME DATA AGE
  has "$(k get configmaps --chunk-size=1 -o name)" configmap/chunk-1 configmap/chunk-2 configmap/chunk-3 configmap/colours
}

step_get_watch() {
  deadline=25 k get pods -w >"$scratch/watch" 2>&1 &
  local watcher=$!
  until_true 10 file_has "$scratch/watch" talker
  pod short 'exit 0' | k create -f - >/dev/null
  until_true 15 grep -q 'short.*Completed' "$scratch/watch"
  k delete pod short >/dev/null
  kill $watcher
  wait $watcher || true
  has "$(cat "$scratch/watch")" NAME READY
  # One object, and events only.
  deadline=15 k get configmap colours -w --output-watch-events >"$scratch/watch-one" 2>&1 &
  watcher=$!
  until_true 10 file_has "$scratch/watch-one" ADDED
  k label configmap colours watched=yes >/dev/null
  until_true 10 file_has "$scratch/watch-one" MODIFIED
  kill $watcher
  wait $watcher || true
}

step_describe_pod() {
  output=$(k describe pod talker)
  has "$output" 'Name:' talker 'Status:' Running 'Node:' 'Containers:' 'main:' 'Image:' busybox 'State:' 'Started:' \
    'Conditions:' PodScheduled ContainersReady 'Events:'
  [[ $output =~ Normal\ +Scheduled ]]
  [[ $output =~ Normal\ +Started ]]
  has "$(k describe configmap colours)" sky blue
  exits 1 k describe pod nobody
}

step_logs() {
  until_true 10 eval 'k logs talker | grep -q "line 5"'
  has "$(k logs talker)" 'line 1' 'line 2'
  is "$(k logs talker --tail=3 | wc -l)" 3
  lacks "$(k logs talker --tail=1)" 'line 1
'
  has "$(k logs talker -c main --limit-bytes=6)" 'line 1'
  [[ $(k logs talker --timestamps --tail=1) =~ ^20[0-9][0-9]-[0-9-]+T[0-9:.]+Z\ line ]]
  has "$(k logs talker --since=1h)" 'line 1'
  has "$(k logs pod/talker --all-containers)" 'line 1'
  exits 1 k logs talker -c nobody
  has "$output" nobody
  exits 1 k logs nobody
  has "$output" NotFound
}

step_logs_follow() {
  deadline=20 k logs -f talker --tail=1 >"$scratch/follow" &
  local follower=$!
  until_true 15 eval '[ $(wc -l <"$scratch/follow") -ge 5 ]'
  kill $follower
  wait $follower || true
  # The log of a pod that ends: follow ends with it.
  pod ending 'echo first; sleep 1; echo last' | k create -f - >/dev/null
  until_true 15 k logs ending
  is "$(deadline=20 k logs -f ending | tail -n 1)" last
  k delete pod ending >/dev/null
}

step_logs_labelled() {
  pod chorus-1 'echo one; sleep 300' chorus | k create -f - >/dev/null
  pod chorus-2 'echo two; sleep 300' chorus | k create -f - >/dev/null
  k wait --for=condition=Ready pod -l app=chorus --timeout=30s
  until_true 10 eval 'k logs -l app=chorus | grep -q one && k logs -l app=chorus | grep -q two'
  output=$(k logs -l app=chorus --prefix)
  has "$output" '[pod/chorus-1/main] one' '[pod/chorus-2/main] two'
  k delete pod -l app=chorus --wait=false >/dev/null
}

step_logs_previous() {
  pod again 'echo first; sleep 0.5; exit 3' | sed 's/restartPolicy: Never/restartPolicy: Always/' | k create -f - >/dev/null
  until_true 30 eval '[ "$(k get pod again -o "jsonpath={.status.containerStatuses[0].restartCount}")" -ge 1 ]'
  has "$(k logs again --previous)" first
  is "$(k get pod again -o 'jsonpath={.status.containerStatuses[0].lastState.terminated.exitCode}')" 3
  exits 1 k logs talker --previous
  has "$output" 'previous terminated container'
  k delete pod again --wait=false >/dev/null
}

step_exec() {
  is "$(k exec talker -- echo hello)" hello
  is "$(k exec talker -c main -- sh -c 'echo out; echo err >&2' 2>/dev/null)" out
  is "$(k exec talker -- sh -c 'echo out; echo err >&2' 2>&1 >/dev/null)" err
  exits 7 k exec talker -- sh -c 'exit 7'
  has "$output" 'exit code 7'
  status=0
  k exec talker -- /no/such/command || status=$?
  [ $status != 0 ]
  exits 1 k exec nobody -- true
  has "$output" NotFound
  exits 1 k exec talker -c nobody -- true
}

# A container beside those of a pod that runs, kept in its status; with -i one that is typed to.
step_debug() {
  k debug talker --image=example/none:1 --container=look -- sh -c 'echo looking at $HOSTNAME; exit 3' >/dev/null
  until_true 20 eval 'k logs talker -c look | grep -q "looking at talker"'
  until_true 10 eval '[ "$(k get pod talker -o "jsonpath={.status.ephemeralContainerStatuses[0].state.terminated.exitCode}")" = 3 ]'
  has "$(printf 'question\n' | k debug -i talker --image=example/none:1 --container=ask -- head -n 1 2>/dev/null)" question
  is "$(k get pod talker -o 'jsonpath={.status.phase}')" Running
  has "$(k describe pod talker)" 'Ephemeral Containers:' '  look:' '  ask:'
}

# What a container was given changes while it runs; what never fits is said, and what may not change refused.
step_resize() {
  pod sizes 'sleep 1000' | sed 's/^      image:/      resources: {requests: {cpu: 20m, memory: 16Mi}}\n      image:/' | k create -f - >/dev/null
  k wait --for=condition=Ready pod/sizes --timeout=30s >/dev/null
  of='{.status.containerStatuses[0].resources.requests.cpu} {.status.containerStatuses[0].allocatedResources.cpu} {.status.containerStatuses[0].restartCount}'
  is "$(k get pod sizes -o "jsonpath=$of")" '20m 20m 0'
  k patch pod sizes --subresource resize -p '{"spec":{"containers":[{"name":"main","resources":{"requests":{"cpu":"30m"}}}]}}' >/dev/null
  until_true 10 eval '[ "$(k get pod sizes -o "jsonpath=$of")" = "30m 30m 0" ]'
  k wait --for='jsonpath={.status.observedGeneration}'="$(k get pod sizes -o 'jsonpath={.metadata.generation}')" pod/sizes --timeout=10s >/dev/null
  k patch pod sizes --subresource resize -p '{"spec":{"containers":[{"name":"main","resources":{"requests":{"memory":"900Ti"}}}]}}' >/dev/null
  k wait --for=condition=PodResizePending pod/sizes --timeout=10s >/dev/null
  is "$(k get pod sizes -o 'jsonpath={.status.conditions[?(@.type=="PodResizePending")].reason}')" Infeasible
  exits 1 k patch pod sizes --subresource resize --type json -p '[{"op":"remove","path":"/spec/containers/0/resources/requests/cpu"}]'
  has "$output" 'resource requests cannot be removed'
  exits 1 k patch pod sizes -p '{"spec":{"containers":[{"name":"main","resources":{"requests":{"cpu":"40m"}}}]}}'
  has "$output" 'pod updates may not change fields'
  k delete pod sizes --now >/dev/null
}

step_exec_stdin() {
  is "$(printf 'a\nb\n' | k exec -i talker -- cat)" "$(printf 'a\nb')"
  is "$(head -c 3000000 /dev/zero | k exec -i talker -- wc -c | tr -d ' ')" 3000000
  is "$(k exec talker -- head -c 3000000 /dev/zero | wc -c)" 3000000
  is "$(k exec talker -- sh -c 'sleep 0.3; echo late')" late
}

step_cp() {
  head -c 300000 /dev/urandom >"$scratch/sent"
  k exec talker -- mkdir -p "/tmp/$namespace"
  k cp "$scratch/sent" "talker:/tmp/$namespace/file"
  k cp "talker:/tmp/$namespace/file" "$scratch/received"
  cmp "$scratch/sent" "$scratch/received"
  mkdir -p "$scratch/folder/deep"
  echo a >"$scratch/folder/a"
  echo b >"$scratch/folder/deep/b"
  k cp "$scratch/folder" "talker:/tmp/$namespace/folder" -c main
  is "$(k exec talker -- cat "/tmp/$namespace/folder/deep/b")" b
  k exec talker -- rm -r "/tmp/$namespace"
}

step_attach() {
  deadline=5 k attach talker >"$scratch/attached" 2>&1 || true
  has "$(cat "$scratch/attached")" line
}

step_port_forward() {
  local port=$((20000 + RANDOM % 10000)) local_port
  # kubectl gives up when the first connection is refused, so the pod says when it listens.
  pod web "exec python3 -m http.server $port --directory /etc" |
    sed "s|busybox|python:3.11-slim\n      readinessProbe: {tcpSocket: {port: $port}, periodSeconds: 1}|" | k create -f - >/dev/null
  k wait --for=condition=Ready pod/web --timeout=60s
  deadline=40 k port-forward pod/web ":$port" >"$scratch/forward" 2>&1 &
  local forwarder=$!
  until_true 10 file_has "$scratch/forward" 'Forwarding from 127.0.0.1:'
  local_port=$(sed -n 's/.*127.0.0.1:\([0-9]*\) ->.*/\1/p' "$scratch/forward" | head -n 1)
  until_true 20 ask_web "$local_port"
  # Again, and two at a time.
  ask_web "$local_port" & ask_web "$local_port"
  wait $!
  kill $forwarder
  wait $forwarder || true
  k delete pod web --wait=false >/dev/null
}
ask_web() (
  exec 9<>"/dev/tcp/127.0.0.1/$1" || exit 1
  printf 'GET /hostname HTTP/1.0\r\n\r\n' >&9
  timeout 10 head -n 1 <&9 | grep -q '200 OK'
)

step_apply() {
  local file=$scratch/applied.yaml
  printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: applied, labels: {a: "1"}}\ndata: {x: "1", y: "1"}\n' >"$file"
  has "$(k apply -f "$file")" 'configmap/applied created'
  has "$(k apply -f "$file")" 'configmap/applied unchanged'
  sed -i 's/x: "1", y: "1"/x: "2"/' "$file"
  has "$(k apply -f "$file")" 'configmap/applied configured'
  is "$(k get configmap applied -o 'jsonpath={.data}')" '{"x":"2"}'
  has "$(k apply view-last-applied configmap applied)" 'x: "2"'
  # A pod: labels may change, its image's command may not.
  pod applied-pod 'sleep 300' | k apply -f - >/dev/null
  has "$(pod applied-pod 'sleep 300' other | k apply -f -)" 'pod/applied-pod configured'
  is "$(k get pod applied-pod -o 'jsonpath={.metadata.labels.app}')" other
  exits 1 eval 'pod applied-pod "sleep 301" | k apply -f -'
  has "$output" 'pod updates may not change fields'
  k delete pod applied-pod --wait=false >/dev/null
  # A folder, recursively, and a kind that is not built in.
  mkdir -p "$scratch/many/more"
  cp "$file" "$scratch/many/more/"
  tfjob applied-job 1 'exit 0' >"$scratch/many/job.yaml"
  output=$(k apply -R -f "$scratch/many")
  has "$output" 'configmap/applied unchanged' 'tfjob.kubeflow.org/applied-job created'
  has "$(k apply -f "$scratch/many/job.yaml")" 'tfjob.kubeflow.org/applied-job unchanged'
  has "$(tfjob applied-job 2 'exit 0' | k apply -f -)" 'tfjob.kubeflow.org/applied-job configured'
  k delete tfjob applied-job --wait=false >/dev/null
}

step_apply_server_side() {
  local file=$scratch/ssa.yaml
  printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ssa}\ndata: {x: "1", y: "1"}\n' >"$file"
  has "$(k apply --server-side -f "$file")" 'configmap/ssa serverside-applied'
  sed -i 's/, y: "1"//' "$file"
  has "$(k apply --server-side -f "$file")" 'configmap/ssa serverside-applied'
  is "$(k get configmap ssa -o 'jsonpath={.data}')" '{"x":"1"}'
  output=$(k get configmap ssa -o json --show-managed-fields=true 2>/dev/null || k get configmap ssa -o json)
  has "$output" '"manager": "kubectl"' '"operation": "Apply"' '"f:x"'
  has "$(tfjob ssa-job 1 'sleep 300' | k apply --server-side -f -)" 'tfjob.kubeflow.org/ssa-job serverside-applied'
  k delete tfjob ssa-job --wait=false >/dev/null
}

step_apply_server_side_conflict() {
  local file=$scratch/conflict.yaml
  printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: contested}\ndata: {x: "1"}\n' >"$file"
  k apply --server-side --field-manager=first -f "$file" >/dev/null
  sed -i 's/"1"/"2"/' "$file"
  exits 1 k apply --server-side --field-manager=second -f "$file"
  has "$output" 'Apply failed with 1 conflict' 'conflict with "first"' .data.x
  has "$(k apply --server-side --field-manager=second --force-conflicts -f "$file")" serverside-applied
  is "$(k get configmap contested -o 'jsonpath={.data.x}')" 2
}

step_diff() {
  local file=$scratch/diff.yaml
  printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: diffed}\ndata: {x: "1"}\n' >"$file"
  k apply -f "$file" >/dev/null
  exits 0 k diff -f "$file"
  is "$output" ''
  sed -i 's/"1"/"2"/' "$file"
  exits 1 k diff -f "$file"
  has "$output" '-  x: "1"' '+  x: "2"'
  is "$(k get configmap diffed -o 'jsonpath={.data.x}')" 1
  exits 1 k diff --server-side --force-conflicts -f "$file"
  sed -i 's/diffed/not-there-yet/' "$file"
  exits 1 k diff -f "$file"
  has "$output" not-there-yet
  exits 1 k get configmap not-there-yet
}

step_patch() {
  k create configmap patched --from-literal=a=1 --from-literal=b=2 >/dev/null
  has "$(k patch configmap patched -p '{"data":{"a":"3","b":null}}')" 'configmap/patched patched'
  is "$(k get configmap patched -o 'jsonpath={.data}')" '{"a":"3"}'
  k patch configmap patched --type=merge -p '{"data":{"c":"4"}}' >/dev/null
  k patch configmap patched --type=json -p '[{"op":"replace","path":"/data/a","value":"5"}]' >/dev/null
  is "$(k get configmap patched -o 'jsonpath={.data.a}{.data.c}')" 54
  has "$(k patch configmap patched --type=merge -p '{"data":{"c":"4"}}')" 'no change'
  exits 1 k patch configmap patched --type=json -p '[{"op":"test","path":"/data/a","value":"no"}]'
  exits 1 k patch configmap patched --type=merge -p '{"metadata":{"resourceVersion":"1"},"data":{"c":"9"}}'
  has "$output" Conflict 'the object has been modified'
  # Strategic: containers of a pod are told apart by name.
  k patch pod talker -p '{"spec":{"containers":[{"name":"main","image":"busybox:1"}]}}' >/dev/null
  is "$(k get pod talker -o 'jsonpath={.spec.containers[*].name} {.spec.containers[0].image}')" 'main busybox:1'
  tfjob patched-job 1 'sleep 300' | k create -f - >/dev/null
  k patch tfjob patched-job --type=merge -p '{"spec":{"runPolicy":{"suspend":true}}}' >/dev/null
  is "$(k get tfjob patched-job -o 'jsonpath={.spec.runPolicy.suspend}')" true
  k delete tfjob patched-job --wait=false >/dev/null
}

step_edit() {
  k create configmap edited --from-literal=colour=red >/dev/null
  output=$(KUBE_EDITOR='sed -i s/red/green/' k edit configmap edited 2>&1)
  has "$output" 'configmap/edited edited'
  is "$(k get configmap edited -o 'jsonpath={.data.colour}')" green
  has "$(KUBE_EDITOR=true k edit configmap edited 2>&1)" 'no changes'
  tfjob edited-job 1 'sleep 300' | k create -f - >/dev/null
  output=$(KUBE_EDITOR='sed -i s/cleanPodPolicy:.None/cleanPodPolicy:\ All/' k edit tfjob edited-job 2>&1)
  has "$output" 'tfjob.kubeflow.org/edited-job edited'
  is "$(k get tfjob edited-job -o 'jsonpath={.spec.runPolicy.cleanPodPolicy}')" All
  k delete tfjob edited-job --wait=false >/dev/null
}

step_label_and_annotate() {
  has "$(k label pod talker colour=blue)" 'pod/talker labeled'
  exits 1 k label pod talker colour=red
  has "$output" 'already has a value'
  k label pod talker colour=red --overwrite >/dev/null
  has "$(k get pods -l colour=red -o name)" pod/talker
  k label pod talker colour- >/dev/null
  is "$(k get pods -l colour -o name)" ''
  has "$(k annotate pod talker note='two words')" 'pod/talker annotated'
  is "$(k get pod talker -o 'jsonpath={.metadata.annotations.note}')" 'two words'
  exits 1 k label pod talker 'bad value=x y'
  exits 1 k label pod talker 'colour=not a label'
}

step_replace() {
  k create configmap replaced --from-literal=a=1 >/dev/null
  k get configmap replaced -o yaml | sed 's/a: "1"/b: "2"/' >"$scratch/replace.yaml"
  has "$(k replace -f "$scratch/replace.yaml")" 'configmap/replaced replaced'
  is "$(k get configmap replaced -o 'jsonpath={.data}')" '{"b":"2"}'
  exits 1 k replace -f "$scratch/replace.yaml"
  has "$output" 'the object has been modified'
  sed -i 's/name: replaced/name: not-there/; /resourceVersion/d; /uid/d' "$scratch/replace.yaml"
  exits 1 k replace -f "$scratch/replace.yaml"
  has "$output" NotFound
}

step_dry_run() {
  has "$(k create configmap dry --from-literal=a=1 --dry-run=server)" 'configmap/dry created (server dry run)'
  exits 1 k get configmap dry
  has "$(pod dry 'exit 0' | k apply --dry-run=server -f - -o yaml)" 'uid:'
  has "$(k delete pod talker --dry-run=server)" 'deleted (server dry run)'
  has "$(k get pod talker -o name)" pod/talker
  has "$(k label pod talker dry=yes --dry-run=server -o 'jsonpath={.metadata.labels.dry}')" yes
  is "$(k get pod talker -o 'jsonpath={.metadata.labels.dry}')" ''
}

step_validation() {
  exits 1 eval 'printf "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: Bad_Name}\n" | k create -f -'
  has "$output" Invalid metadata.name
  exits 1 eval 'pod invalid "exit 0" | sed "s/restartPolicy: Never/restartPolicy: Sometimes/" | k create -f -'
  has "$output" restartPolicy
  exits 1 eval 'pod invalid "exit 0" | sed "s/image: busybox/imagee: busybox/" | k create -f -'
  has "$output" imagee
  exits 1 eval 'printf "apiVersion: nowhere.dev/v1\nkind: Thing\nmetadata: {name: x}\n" | k create -f -'
  has "$output" Thing
}

step_secrets_and_configmaps() {
  k create secret generic password --from-literal=word=s3cret >/dev/null
  is "$(k get secret password -o 'jsonpath={.data.word}' | base64 -d)" s3cret
  has "$(k get secrets)" NAME TYPE DATA AGE password Opaque
  has "$(k describe secret password)" 'word:' '6 bytes'
  lacks "$(k describe secret password)" s3cret
  pod reader 'echo $WORD $(cat /etc/colours/sky)' | sed 's|      image: busybox|      image: busybox\n      env: [{name: WORD, valueFrom: {secretKeyRef: {name: password, key: word}}}]\n      volumeMounts: [{name: c, mountPath: /etc/colours}]|' >"$scratch/reader.yaml"
  printf '  volumes: [{name: c, configMap: {name: colours}}]\n' >>"$scratch/reader.yaml"
  k create -f "$scratch/reader.yaml" >/dev/null
  until_true 20 eval '[ "$(k get pod reader -o "jsonpath={.status.phase}")" = Succeeded ]'
  is "$(k logs reader)" 's3cret blue'
  k create serviceaccount robot >/dev/null
  has "$(k get serviceaccounts -o name)" serviceaccount/robot
}

step_namespace_scope() {
  has "$(k get namespaces)" NAME STATUS AGE default Active kube-system "$namespace"
  k create namespace "$namespace-b" >/dev/null
  "$KUBECTL" --cache-dir "$scratch/cache" -n "$namespace-b" create configmap colours --from-literal=sky=grey >/dev/null
  is "$(k get configmap colours -o 'jsonpath={.data.sky}')" blue
  has "$(k get configmaps -A --field-selector=metadata.name=colours -o 'jsonpath={.items[*].data.sky}')" blue grey
  k delete namespace "$namespace-b" --wait=false >/dev/null
  exits 1 "$KUBECTL" --cache-dir "$scratch/cache" -n "$namespace-none" create configmap x
  has "$output" 'not found'
}

step_custom_kind() {
  cat >"$scratch/crd.yaml" <<CRD
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: buckets.tests.trainyard.dev}
spec:
  group: tests.trainyard.dev
  scope: Namespaced
  names: {plural: buckets, singular: bucket, kind: Bucket, shortNames: [bk]}
  versions:
    - name: v1
      served: true
      storage: true
      subresources: {status: {}}
      additionalPrinterColumns: [{name: Size, type: integer, jsonPath: .spec.size}]
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec: {type: object, properties: {size: {type: integer}}}
            status: {type: object, x-kubernetes-preserve-unknown-fields: true}
CRD
  has "$(k apply -f "$scratch/crd.yaml")" 'customresourcedefinition.apiextensions.k8s.io/buckets.tests.trainyard.dev created'
  k wait --for=condition=Established crd/buckets.tests.trainyard.dev --timeout=20s
  printf 'apiVersion: tests.trainyard.dev/v1\nkind: Bucket\nmetadata: {name: b}\nspec: {size: 3}\n' >"$scratch/bucket.yaml"
  until_true 20 k apply -f "$scratch/bucket.yaml"
  has "$(k get bk)" NAME SIZE
  is "$(k get bucket b -o 'jsonpath={.spec.size} {.metadata.generation}')" '3 1'
  k patch bucket b --type=merge -p '{"spec":{"size":4}}' >/dev/null
  is "$(k get bucket b -o 'jsonpath={.spec.size} {.metadata.generation}')" '4 2'
  k delete -f "$scratch/crd.yaml" >/dev/null
  exits 1 k get buckets
}

# From here on there is the job `moons`, which succeeds.
step_tfjob_table() {
  tfjob moons 2 'echo trained by $HOSTNAME; sleep 1' | k create -f - >/dev/null
  output=$(k get tfjobs)
  has "$output" NAME STATE AGE moons
  until_true 30 eval 'k get tfjobs | grep -q "moons.*Succeeded"'
  has "$(k get tfjob moons -o yaml)" 'type: Succeeded' 'replicaStatuses:' 'completionTime:' 'startTime:'
  has "$(k get pods -l training.kubeflow.org/job-name=moons -o name)" pod/moons-worker-0 pod/moons-worker-1
  has "$(k logs -l training.kubeflow.org/job-name=moons)" 'trained by'
}

step_tfjob_describe() {
  output=$(k describe tfjob moons)
  has "$output" 'Name:' moons 'Kind:' TFJob 'Conditions:' Succeeded 'Events:' SuccessfulCreatePod
}

step_tfjob_watch() {
  deadline=30 k get tfjobs -w --no-headers >"$scratch/watch-jobs" 2>&1 &
  local watcher=$!
  until_true 10 file_has "$scratch/watch-jobs" moons
  tfjob watched 1 'sleep 1' | k create -f - >/dev/null
  until_true 25 grep -q 'watched.*Running' "$scratch/watch-jobs"
  until_true 25 grep -q 'watched.*Succeeded' "$scratch/watch-jobs"
  kill $watcher
  wait $watcher || true
}

step_tfjob_wait() {
  tfjob waited 1 'sleep 1' | k create -f - >/dev/null
  has "$(k wait --for=condition=Succeeded tfjob/waited --timeout=40s)" 'tfjob.kubeflow.org/waited condition met'
  tfjob failing 1 'exit 1' | k create -f - >/dev/null
  has "$(k wait --for=condition=Failed tfjob/failing --timeout=40s)" 'condition met'
}

step_tfjob_invalid() {
  exits 1 eval 'tfjob invalid -1 "exit 0" | k create -f -'
  has "$output" replicas
  exits 1 eval 'tfjob invalid 1 "exit 0" | sed "s/restartPolicy: Never/restartPolicy: Perhaps/" | k apply -f -'
  has "$output" restartPolicy
}

step_scale() {
  tfjob scaled 1 'sleep 300' | k create -f - >/dev/null
  k wait --for=condition=Running tfjob/scaled --timeout=40s
  has "$(k scale tfjob scaled --replicas=3)" 'tfjob.kubeflow.org/scaled scaled'
  is "$(k get tfjob scaled -o 'jsonpath={.spec.tfReplicaSpecs.Worker.replicas}')" 3
  has "$(k scale tfjob scaled --current-replicas=3 --replicas=2)" scaled
  exits 1 k scale tfjob scaled --current-replicas=7 --replicas=2
  has "$(k get --raw "/apis/kubeflow.org/v1/namespaces/$namespace/tfjobs/scaled/scale")" '"kind":"Scale"' autoscaling/v1
  k delete tfjob scaled >/dev/null
}

step_volcano_job() {
  cat <<JOB | k create -f - >/dev/null
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: volcanic}
spec:
  minAvailable: 2
  schedulerName: volcano
  plugins: {env: [], svc: []}
  tasks:
    - name: worker
      replicas: 2
      policies: [{event: TaskCompleted, action: CompleteJob}]
      template:
        spec:
          restartPolicy: Never
          containers: [{name: main, image: busybox, command: [sh, -c, 'echo \$VC_TASK_INDEX; sleep 1']}]
JOB
  has "$(k get vcjob)" NAME STATUS MINAVAILABLE AGE volcanic
  until_true 40 eval '[ "$(k get vcjob volcanic -o "jsonpath={.status.state.phase}")" = Completed ]'
  has "$(k get pods -l volcano.sh/job-name=volcanic -o name)" pod/volcanic-worker-0 pod/volcanic-worker-1
  k delete vcjob volcanic >/dev/null
}

step_t9k_job() {
  cat <<JOB | k create -f - >/dev/null
apiVersion: batch.tensorstack.dev/v1beta1
kind: TensorFlowTrainingJob
metadata: {name: stacked}
spec:
  replicaSpecs:
    - type: worker
      replicas: 1
      restartPolicy: Never
      template:
        spec:
          containers: [{name: tensorflow, image: busybox, command: [sh, -c, 'sleep 1']}]
JOB
  has "$(k get tensorflowtrainingjobs)" NAME AGE stacked
  until_true 40 eval '[ "$(k get tensorflowtrainingjob stacked -o "jsonpath={.status.phase}")" = Succeeded ]'
  k delete tensorflowtrainingjob stacked >/dev/null
}

step_wait_condition() {
  pod late 'sleep 300' | k create -f - >/dev/null
  has "$(k wait --for=condition=Ready pod/late --timeout=30s)" 'pod/late condition met'
  exits 1 k wait --for=condition=Nonsense pod/late --timeout=1s
  has "$output" 'timed out waiting'
  exits 1 k wait --for=condition=Ready pod/nobody --timeout=1s
  k delete pod late --wait=false >/dev/null
}

step_wait_jsonpath() {
  pod brief 'sleep 0.5' | k create -f - >/dev/null
  has "$(k wait --for=jsonpath='{.status.phase}'=Succeeded pod/brief --timeout=30s)" 'condition met'
  k delete pod brief --wait=false >/dev/null
}

step_wait_delete() {
  # It takes its time to go: kubectl before 1.23 fails when it is gone already.
  pod goner 'trap "" TERM; while true; do sleep 0.1; done' |
    sed 's/terminationGracePeriodSeconds: 1/terminationGracePeriodSeconds: 4/' | k create -f - >/dev/null
  k wait --for=condition=Ready pod/goner --timeout=30s
  k delete pod goner --wait=false >/dev/null
  k wait --for=delete pod/goner --timeout=30s
  exits 1 k get pod goner
}

step_events() {
  has "$(k events)" 'LAST SEEN' TYPE REASON OBJECT MESSAGE
  has "$(k events --for tfjob/moons)" TFJob/moons
  has "$(k events --types=Normal)" Normal
}

step_events_listed() {
  has "$(k get events)" 'LAST SEEN' TYPE REASON OBJECT MESSAGE pod/talker Started
  has "$(k get events --field-selector=involvedObject.kind=TFJob)" tfjob/moons
  is "$(k get events --field-selector=involvedObject.name=nobody -o name)" ''
  has "$(k get events.events.k8s.io)" talker
  has "$(k get events --sort-by=.lastTimestamp)" talker
}

step_top() {
  until_true 60 k top pod talker
  output=$(k top pods)
  has "$output" NAME 'CPU(cores)' 'MEMORY(bytes)' talker Mi
  has "$(k top pod talker --containers)" main
  until_true 60 k top nodes
  has "$(k top nodes)" 'CPU(cores)'
}

step_can_i() {
  is "$(k auth can-i create tfjobs)" yes
  is "$(k auth can-i '*' '*')" yes
  has "$(k auth can-i --list)" Resources Verbs
}

step_whoami() { has "$(k auth whoami)" ATTRIBUTE VALUE Username; }

step_nodes() {
  output=$(k get nodes)
  has "$output" NAME STATUS ROLES AGE VERSION Ready
  has "$(k get nodes -o wide)" INTERNAL-IP OS-IMAGE KERNEL-VERSION CONTAINER-RUNTIME
  local node
  node=$(k get nodes -o 'jsonpath={.items[0].metadata.name}')
  has "$(k describe node "$node")" Capacity: Allocatable: cpu memory Conditions: Ready talker
}

step_cordon() {
  local node
  node=$(k get nodes -o 'jsonpath={.items[0].metadata.name}')
  has "$(k cordon "$node")" cordoned
  has "$(k get nodes)" SchedulingDisabled
  has "$(k uncordon "$node")" uncordoned
  lacks "$(k get nodes)" SchedulingDisabled
}

step_raw() {
  has "$(k get --raw /version)" gitVersion
  has "$(k get --raw "/api/v1/namespaces/$namespace/pods/talker")" '"kind":"Pod"'
  has "$(k get --raw "/api/v1/namespaces/$namespace/configmaps?limit=1")" '"continue"'
  exits 1 k get --raw /apis/nowhere.dev/v1
  has "$output" 'could not find the requested resource'
}

step_run_pod() {
  has "$(k run runner --image=busybox --restart=Never --command -- sh -c 'echo ran')" 'pod/runner created'
  until_true 20 eval '[ "$(k get pod runner -o "jsonpath={.status.phase}")" = Succeeded ]'
  is "$(k logs runner)" ran
  has "$(k get pod runner)" Completed 0/1
}

step_delete() {
  has "$(k delete pod runner)" 'pod "runner" deleted'
  exits 1 k delete pod runner
  has "$output" NotFound
  exits 0 k delete pod runner --ignore-not-found
  has "$(k delete -f "$scratch/two.yaml")" 'configmap "one" deleted' 'configmap "two" deleted'
  pod stubborn 'trap "" TERM; while true; do sleep 0.1; done' | k create -f - >/dev/null
  k wait --for=condition=Ready pod/stubborn --timeout=30s
  has "$(k delete pod stubborn --grace-period=1)" deleted
  exits 1 k get pod stubborn
  pod forced 'sleep 300' | k create -f - >/dev/null
  k wait --for=condition=Ready pod/forced --timeout=30s
  has "$(k delete pod forced --force --grace-period=0 2>&1)" deleted
  exits 1 k get pod forced
}

# A job takes its pods and services with it.
step_delete_cascade() {
  tfjob parent 2 'sleep 300' | k create -f - >/dev/null
  until_true 30 eval 'k get pod parent-worker-1'
  has "$(k delete tfjob parent)" 'tfjob.kubeflow.org "parent" deleted'
  until_true 30 eval '[ -z "$(k get pods,services -l training.kubeflow.org/job-name=parent -o name)" ]'
  tfjob parent 1 'sleep 300' | k create -f - >/dev/null
  until_true 30 eval 'k get pod parent-worker-0'
  k delete tfjob parent --cascade=foreground >/dev/null
  is "$(k get pods -l training.kubeflow.org/job-name=parent -o name)" ''
}

step_delete_orphan() {
  k create configmap owner --from-literal=a=1 >/dev/null
  local uid
  uid=$(k get configmap owner -o 'jsonpath={.metadata.uid}')
  printf 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: child\n  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner, uid: %s}]\n' "$uid" | k create -f - >/dev/null
  k delete configmap owner --cascade=orphan >/dev/null
  until_true 20 eval '[ -z "$(k get configmap child -o "jsonpath={.metadata.ownerReferences}")" ]'
  # A child whose owner is gone goes too.
  printf 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: lost\n  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner, uid: %s}]\n' "$uid" | k create -f - >/dev/null
  until_true 20 eval '! k get configmap lost'
}

step_delete_collection() {
  k label configmap chunk-1 chunk-2 chunk-3 batch=yes >/dev/null
  k delete configmaps -l batch=yes >/dev/null
  is "$(k get configmaps -l batch=yes -o name)" ''
  k delete tfjobs --all >/dev/null
  is "$(k get tfjobs -o name)" ''
}

step_delete_namespace() {
  has "$(k delete namespace "$namespace" --timeout=50s)" "namespace \"$namespace\" deleted"
  exits 1 k get namespace "$namespace"
  is "$(k get pods -o name)" ''
}
