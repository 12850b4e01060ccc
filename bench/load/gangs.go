// Gangs, for bench/versus-volcano. All of it is in the namespace "gangs", pods ask for 1 cpu.
//
//	load ... nodes N CPU             there are N nodes, ready, without a kubelet
//	load ... pods G S SCHEDULER      G gangs of S pods for that scheduler; "default-scheduler": pods without groups
//	load ... volcano-jobs G S        G Volcano Jobs of S replicas, and waits until all of them are bound
//	load ... bound N                 prints "watching", then waits until N pods are bound
//	load ... bind N NODES AT_ONCE    the API server's own limit: a scheduler that decides nothing. It lists the pods, watches
//	                                 all of them as any scheduler must, binds N of them to the nodes in turn, and stays
//	load ... clear                   no jobs, groups and pods any more
//
// volcano-jobs and bound print the seconds of the clock at which the first and the last pod was bound; volcano-jobs also when it began.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

const (
	allPods    = "/api/v1/pods"
	gangPods   = "/api/v1/namespaces/gangs/pods"
	gangGroups = "/apis/scheduling.volcano.sh/v1beta1/namespaces/gangs/podgroups"
	gangJobs   = "/apis/batch.volcano.sh/v1alpha1/namespaces/gangs/jobs"
	asJSON     = "application/json"
	together   = 16
)

func seconds(at time.Time) float64 { return float64(at.UnixMicro()) / 1e6 }

func (a *api) nodes(n, cpu int) {
	room := object{"cpu": fmt.Sprint(cpu), "memory": "256Gi", "pods": "500"}
	ready := object{"type": "Ready", "status": "True", "reason": "Bench", "lastHeartbeatTime": "2030-01-01T00:00:00Z",
		"lastTransitionTime": "2030-01-01T00:00:00Z"}
	spread(n, together, func(i int) {
		name := fmt.Sprintf("node-%d", i)
		code, _ := a.call("POST", "/api/v1/nodes", asJSON, object{"metadata": object{"name": name,
			"labels": object{"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "zone": fmt.Sprint(i % 3)}},
			"status": object{"capacity": room, "allocatable": room, "conditions": []object{ready}}})
		if code == 201 { // the API server marks it as not ready, until a controller that does not run here looks
			a.do("PATCH", "/api/v1/nodes/"+name, "application/merge-patch+json", object{"spec": object{"taints": nil}})
		}
	})
}

func hasGroups(scheduler string) bool { return scheduler != "default-scheduler" }

func gangPod(name, group, scheduler string) object {
	meta := object{"name": name, "labels": object{"app": "bench", "gang": group}}
	if hasGroups(scheduler) {
		meta["annotations"] = object{"scheduling.k8s.io/group-name": group}
	}
	return object{"metadata": meta, "spec": object{"schedulerName": scheduler, "restartPolicy": "Never",
		"terminationGracePeriodSeconds": 0, "containers": []object{container()}}}
}

func (a *api) pods(gangs, size int, scheduler string) {
	a.do("POST", "/api/v1/namespaces", asJSON, object{"metadata": object{"name": "gangs"}})
	if hasGroups(scheduler) {
		spread(gangs, together, func(g int) {
			a.do("POST", gangGroups, asJSON, object{"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup",
				"metadata": object{"name": fmt.Sprintf("gang-%d", g)},
				"spec":     object{"minMember": size, "queue": "default", "minResources": object{"cpu": fmt.Sprint(size)}}})
		})
	}
	spread(gangs*size, together, func(i int) {
		group := fmt.Sprintf("gang-%d", i/size)
		a.do("POST", gangPods, asJSON, gangPod(fmt.Sprintf("%s-%d", group, i%size), group, scheduler))
	})
}

type podList struct {
	Metadata struct{ ResourceVersion string }
	Items    []struct{ Metadata struct{ Name string } }
}

func (a *api) list(query string) (list podList) {
	must(json.Unmarshal(a.do("GET", query, "", nil), &list))
	return list
}

func (a *api) watch(query, version string) io.ReadCloser {
	request, _ := http.NewRequest("GET", a.server+query+"&watch=1&timeoutSeconds=3600&resourceVersion="+version, nil)
	request.Header.Set("Authorization", "Bearer "+a.token)
	answer, err := a.client.Do(request)
	must(err)
	if answer.StatusCode != 200 {
		must(fmt.Errorf("watch: %s", answer.Status))
	}
	return answer.Body
}

// Opens a watch on the pods that get a node from now on.
func (a *api) watchBound() io.ReadCloser {
	return a.watch(gangPods+"?fieldSelector=spec.nodeName!%3D", a.list(gangPods+"?limit=1").Metadata.ResourceVersion)
}

func follow(stream io.ReadCloser, n int) (first, last time.Time) {
	defer stream.Close()
	seen := map[string]bool{}
	lines := json.NewDecoder(stream)
	for len(seen) < n {
		var event struct {
			Type   string
			Object struct{ Metadata struct{ Name string } }
		}
		must(lines.Decode(&event))
		if event.Type == "DELETED" {
			must(fmt.Errorf("%s was deleted", event.Object.Metadata.Name))
		}
		seen[event.Object.Metadata.Name] = true
		last = time.Now()
		if first.IsZero() {
			first = last
		}
	}
	return first, last
}

func (a *api) bound(n int) {
	a.do("POST", "/api/v1/namespaces", asJSON, object{"metadata": object{"name": "gangs"}})
	stream := a.watchBound()
	fmt.Println("watching")
	first, last := follow(stream, n)
	fmt.Printf("%.6f %.6f\n", seconds(first), seconds(last))
}

func (a *api) volcanoJobs(gangs, size int) {
	a.do("POST", "/api/v1/namespaces", asJSON, object{"metadata": object{"name": "gangs"}})
	stream := a.watchBound()
	begun := time.Now()
	go spread(gangs, 4, func(g int) {
		a.do("POST", gangJobs, asJSON, object{"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job",
			"metadata": object{"name": fmt.Sprintf("job-%d", g)},
			"spec": object{"minAvailable": size, "schedulerName": "volcano", "queue": "default", "maxRetry": 3,
				"tasks": []object{{"name": "worker", "replicas": size, "minAvailable": size, "maxRetry": 3, "template": object{
					"spec": object{"containers": []object{container()}, "restartPolicy": "Never", "terminationGracePeriodSeconds": 0}}}}}})
	})
	first, last := follow(stream, gangs*size)
	fmt.Printf("%.6f %.6f %.6f\n", seconds(begun), seconds(first), seconds(last))
}

func (a *api) bind(n, nodes, atOnce int) {
	list := a.list(allPods)
	go io.Copy(io.Discard, a.watch(allPods+"?allowWatchBookmarks=true", list.Metadata.ResourceVersion))
	spread(n, atOnce, func(i int) {
		name := list.Items[i].Metadata.Name
		code, text := a.call("POST", gangPods+"/"+name+"/binding", asJSON, object{"apiVersion": "v1", "kind": "Binding",
			"metadata": object{"name": name}, "target": object{"kind": "Node", "name": fmt.Sprintf("node-%d", i%nodes)}})
		if code != 201 {
			must(fmt.Errorf("binding %s: %d %s", name, code, text))
		}
	})
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM, os.Interrupt)
	<-end
}

func (a *api) clear() {
	now := object{"gracePeriodSeconds": 0, "propagationPolicy": "Background"}
	for _, path := range []string{gangJobs, gangGroups, gangPods} {
		for {
			list := a.list(path + "?limit=2000")
			if len(list.Items) == 0 {
				break
			}
			spread(len(list.Items), together, func(i int) { a.do("DELETE", path+"/"+list.Items[i].Metadata.Name, asJSON, now) })
		}
	}
}

// Whether the word is one of these commands; it is carried out.
func (a *api) gangs(word string, argument func(int) string, number func(int) int) bool {
	switch word {
	case "nodes":
		a.nodes(number(1), number(2))
	case "pods":
		a.pods(number(1), number(2), argument(3))
	case "bound":
		a.bound(number(1))
	case "bind":
		a.bind(number(1), number(2), number(3))
	case "clear":
		a.clear()
	case "volcano-jobs":
		a.volcanoJobs(number(1), number(2))
	default:
		return false
	}
	return true
}
