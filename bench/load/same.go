package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// What stands for a job's name and uid in its manifest and in the objects that were made from it.
const nameInTemplate, uidInTemplate = "template-job", "00000000-0000-4000-8000-000000000000"

func (a *api) manifest(replicas int) object {
	made := job(nameInTemplate, replicas)
	made["metadata"] = object{"name": nameInTemplate, "namespace": a.ns, "uid": uidInTemplate}
	return made
}

// Opens the watches that any operator has and reads what they tell, without looking at it.
func (a *api) watchAsOperator() {
	labelled := "?labelSelector=training.kubeflow.org%2Fjob-name&limit=1"
	for _, path := range []string{a.tfjobs() + "?limit=1", a.core("pods") + labelled, a.core("services") + labelled} {
		var list struct {
			Metadata struct{ ResourceVersion string }
		}
		must(json.Unmarshal(a.do("GET", path, "", nil), &list))
		request, _ := http.NewRequest("GET", a.server+path+"&watch=1&resourceVersion="+list.Metadata.ResourceVersion, nil)
		request.Header.Set("Authorization", "Bearer "+a.token)
		answer, err := a.client.Do(request)
		must(err)
		if answer.StatusCode != 200 {
			must(fmt.Errorf("watch %s: %s", path, answer.Status))
		}
		go io.Copy(io.Discard, answer.Body)
	}
}

func (a *api) tell(name, uid, turn, reason, message string) {
	now := time.Now().UTC().Format(time.RFC3339)
	a.do("POST", a.core("events"), "application/json", object{"apiVersion": "v1", "kind": "Event",
		"metadata":       object{"name": name + "." + turn, "namespace": a.ns},
		"involvedObject": object{"kind": "TFJob", "namespace": a.ns, "name": name, "uid": uid, "apiVersion": "kubeflow.org/v1"},
		"reason":         reason, "message": message, "type": "Normal", "source": object{"component": "tfjob-controller"},
		"firstTimestamp": now, "lastTimestamp": now, "count": 1})
}

// What becomes of one job: the job, its status, what an operator makes of it, and two Events.
func (a *api) sameForOne(name string, replicas int, objects []string) {
	var made struct {
		Metadata struct{ Uid, ResourceVersion string }
	}
	must(json.Unmarshal(a.do("POST", a.tfjobs(), "application/json", job(name, replicas)), &made))
	now := time.Now().UTC().Format(time.RFC3339)
	a.do("PUT", a.tfjobs()+"/"+name+"/status", "application/json", object{"apiVersion": "kubeflow.org/v1", "kind": "TFJob",
		"metadata": object{"name": name, "namespace": a.ns, "uid": made.Metadata.Uid, "resourceVersion": made.Metadata.ResourceVersion},
		"status": object{"startTime": now, "replicaStatuses": object{"Chief": object{}, "Worker": object{}},
			"conditions": []object{{"type": "Created", "status": "True", "reason": "TFJobCreated",
				"message": "TFJob " + name + " is created.", "lastUpdateTime": now, "lastTransitionTime": now}}}})
	named := strings.NewReplacer(nameInTemplate, name, uidInTemplate, made.Metadata.Uid)
	names := map[string][]string{}
	for _, text := range objects {
		var one struct {
			Kind     string
			Metadata struct{ Name string }
		}
		whole := named.Replace(text)
		must(json.Unmarshal([]byte(whole), &one))
		kind := strings.ToLower(one.Kind)
		a.do("POST", a.core(kind+"s"), "application/json", json.RawMessage(whole))
		names[kind] = append(names[kind], one.Metadata.Name)
	}
	a.tell(name, made.Metadata.Uid, "1", "SuccessfulCreateService", "Created service: "+strings.Join(names["service"], ", "))
	a.tell(name, made.Metadata.Uid, "2", "SuccessfulCreatePod", "Created pod: "+strings.Join(names["pod"], ", "))
}

func (a *api) same(n, replicas int, template string) object {
	text, err := os.ReadFile(template)
	must(err)
	var list struct{ Items []json.RawMessage }
	must(json.Unmarshal(text, &list))
	// Services first, as operators do.
	var objects []string
	for _, kind := range []string{"Service", "Pod"} {
		for _, item := range list.Items {
			var one struct{ Kind string }
			must(json.Unmarshal(item, &one))
			if one.Kind == kind {
				objects = append(objects, string(item))
			}
		}
	}
	if len(objects) != 2*replicas {
		must(fmt.Errorf("%d objects in %s, not %d", len(objects), template, 2*replicas))
	}
	a.makeNamespace()
	a.watchAsOperator()
	begun := time.Now()
	spread(n, 16, func(i int) { a.sameForOne(fmt.Sprintf("job-%d", i), replicas, objects) })
	return object{"seconds": time.Since(begun).Seconds()}
}
