// The load and the fake kubelet of bench/versus-training-operator and bench/versus-volcano: a plain client of
// the standard library that makes jobs, lets their pods run and end, and prints as JSON how long each took.
//
//	load -folder DIR -ns NAME alone N          N pods and N services at 16 connections: the API server's own limit
//	load -folder DIR -ns NAME manifest R       a TFJob of R replicas, with names that stand for any
//	load -folder DIR -ns NAME same N R FILE    what an operator asks of the server for N such jobs, by a bare client at 16
//	                                           connections beside an operator's watches; FILE: the objects of that manifest
//	load -folder DIR -ns NAME jobs N R         N TFJobs of R replicas until all pods and services are there
//	load -folder DIR -ns NAME finished N       N TFJobs that have succeeded already
//	load -folder DIR -ns NAME phase Running    every pod runs, until every job does
//	load -folder DIR -ns NAME phase Succeeded  every pod ends well, until every job has and its pods and services are gone
//
// and what gangs.go does.
package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

type api struct {
	server, token, ns string
	client            *http.Client
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func connect(dir, ns string) *api {
	config, err := os.ReadFile(dir + "/kubeconfig")
	must(err)
	ca, err := os.ReadFile(dir + "/ca.crt")
	must(err)
	token, err := os.ReadFile(dir + "/token")
	must(err)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	// One connection per worker: HTTP/1.1, as the operator speaks it.
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, MaxIdleConnsPerHost: 64,
		TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{}}
	return &api{regexp.MustCompile(`server: (\S+)`).FindStringSubmatch(string(config))[1],
		strings.TrimSpace(string(token)), ns, &http.Client{Transport: transport}}
}

func (a *api) core(collection string) string { return "/api/v1/namespaces/" + a.ns + "/" + collection }
func (a *api) tfjobs() string                { return "/apis/kubeflow.org/v1/namespaces/" + a.ns + "/tfjobs" }

func (a *api) makeNamespace() {
	a.do("POST", "/api/v1/namespaces", "application/json", object{"metadata": object{"name": a.ns}})
}

func (a *api) call(method, path, kind string, body any) (int, []byte) {
	var text []byte
	if body != nil {
		text, _ = json.Marshal(body)
	}
	request, _ := http.NewRequest(method, a.server+path, bytes.NewReader(text))
	request.Header.Set("Authorization", "Bearer "+a.token)
	if kind != "" {
		request.Header.Set("Content-Type", kind)
	}
	answer, err := a.client.Do(request)
	must(err)
	defer answer.Body.Close()
	all, err := io.ReadAll(answer.Body)
	must(err)
	return answer.StatusCode, all
}

func (a *api) do(method, path, kind string, body any) []byte {
	code, all := a.call(method, path, kind, body)
	if code >= 300 && code != 404 && code != 409 {
		must(fmt.Errorf("%s %s: %d %s", method, path, code, all))
	}
	return all
}

// Does the work of each number below `count`, `at` of them at once.
func spread(count, at int, work func(int)) {
	var group sync.WaitGroup
	next := make(chan int)
	for range at {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := range next {
				work(i)
			}
		}()
	}
	for i := range count {
		next <- i
	}
	close(next)
	group.Wait()
}

type object = map[string]any

func container() object {
	return object{"name": "tensorflow", "image": "example/trainer:1",
		"command": []string{"python", "/train.py"}, "resources": object{"requests": object{"cpu": "1", "memory": "1Gi"}}}
}

func (a *api) count(collection string) int {
	var list struct {
		Metadata struct{ RemainingItemCount int }
		Items    []struct{ Metadata struct{ Name string } }
	}
	must(json.Unmarshal(a.do("GET", a.core(collection)+"?limit=1", "", nil), &list))
	return len(list.Items) + list.Metadata.RemainingItemCount
}

// Operators that hold themselves to 20 requests a second take most of it for a thousand jobs.
const patience = time.Hour

func until(what string, ready func() bool) {
	for begun := time.Now(); !ready(); time.Sleep(200 * time.Millisecond) {
		if time.Since(begun) > patience {
			must(fmt.Errorf("waited %v until %s", patience, what))
		}
	}
}

func (a *api) alone(n int) object {
	a.makeNamespace()
	labels := object{"a": "b"}
	begun := time.Now()
	spread(n, 16, func(i int) {
		name := fmt.Sprintf("alone-%d", i)
		a.do("POST", a.core("services"), "application/json", object{"metadata": object{"name": name, "labels": labels},
			"spec": object{"clusterIP": "None", "selector": labels, "ports": []object{{"port": 2222, "name": "p"}}}})
		a.do("POST", a.core("pods"), "application/json", object{"metadata": object{"name": name, "labels": labels},
			"spec": object{"containers": []object{container()}, "restartPolicy": "Never"}})
	})
	took := time.Since(begun).Seconds()
	for _, kind := range []string{"pods", "services"} {
		a.do("DELETE", a.core(kind), "application/json", object{"gracePeriodSeconds": 0})
	}
	return object{"seconds": took}
}

func job(name string, replicas int) object {
	roles := object{"Chief": role(1)}
	if replicas > 1 {
		roles["Worker"] = role(replicas - 1)
	}
	return object{"apiVersion": "kubeflow.org/v1", "kind": "TFJob", "metadata": object{"name": name},
		"spec": object{"runPolicy": object{"cleanPodPolicy": "All"}, "tfReplicaSpecs": roles}}
}

func role(count int) object {
	return object{"replicas": count, "restartPolicy": "Never",
		"template": object{"spec": object{"containers": []object{container()}}}}
}

func (a *api) jobs(n, replicas int) object {
	a.makeNamespace()
	begun := time.Now()
	go spread(n, 4, func(i int) {
		a.do("POST", a.tfjobs(), "application/json", job(fmt.Sprintf("job-%d", i), replicas))
	})
	until("all pods and services are there", func() bool {
		return a.count("pods") >= n*replicas && a.count("services") >= n*replicas
	})
	return object{"seconds": time.Since(begun).Seconds()}
}

func (a *api) finished(n int) object {
	a.makeNamespace()
	begun := time.Now()
	moment := begun.UTC().Format(time.RFC3339)
	condition := func(kind string) object {
		return object{"type": kind, "status": "True", "reason": "TFJob" + kind, "message": kind,
			"lastUpdateTime": moment, "lastTransitionTime": moment}
	}
	status := object{"status": object{"startTime": moment, "completionTime": moment,
		"conditions":      []object{condition("Created"), condition("Succeeded")},
		"replicaStatuses": object{"Chief": object{"succeeded": 1}, "Worker": object{}}}}
	spread(n, 16, func(i int) {
		name := fmt.Sprintf("old-%d", i)
		a.do("POST", a.tfjobs(), "application/json", job(name, 4))
		a.do("PATCH", a.tfjobs()+"/"+name+"/status", "application/merge-patch+json", status)
	})
	return object{"seconds": time.Since(begun).Seconds()}
}

type tfjob struct {
	Metadata struct{ Name, ResourceVersion string }
	Status   struct {
		Conditions []struct{ Type, Status string }
	}
}

func (j *tfjob) is(condition string) bool {
	for _, one := range j.Status.Conditions {
		if one.Type == condition && one.Status == "True" {
			return true
		}
	}
	return false
}

// Waits until every job has a condition that is true. Lists once and watches from there.
func (a *api) untilJobsAre(condition string) {
	var list struct {
		Metadata struct{ ResourceVersion string }
		Items    []tfjob
	}
	must(json.Unmarshal(a.do("GET", a.tfjobs(), "", nil), &list))
	missing := map[string]bool{}
	for _, one := range list.Items {
		if !one.is(condition) {
			missing[one.Metadata.Name] = true
		}
	}
	if len(missing) == 0 {
		return
	}
	request, _ := http.NewRequest("GET", a.server+a.tfjobs()+"?watch=1&resourceVersion="+list.Metadata.ResourceVersion, nil)
	request.Header.Set("Authorization", "Bearer "+a.token)
	answer, err := a.client.Do(request)
	must(err)
	defer answer.Body.Close()
	for events := json.NewDecoder(answer.Body); len(missing) > 0; {
		var event struct{ Object tfjob }
		must(events.Decode(&event))
		if event.Object.is(condition) {
			delete(missing, event.Object.Metadata.Name)
		}
	}
}

func (a *api) phase(phase string) object {
	var list struct {
		Items []struct{ Metadata struct{ Name string } }
	}
	must(json.Unmarshal(a.do("GET", a.core("pods"), "", nil), &list))
	state := object{"running": object{"startedAt": time.Now().UTC().Format(time.RFC3339)}}
	if phase == "Succeeded" {
		state = object{"terminated": object{"exitCode": 0, "reason": "Completed", "finishedAt": time.Now().UTC().Format(time.RFC3339)}}
	}
	begun := time.Now()
	spread(len(list.Items), 8, func(i int) {
		a.do("PATCH", a.core("pods")+"/"+list.Items[i].Metadata.Name+"/status", "application/merge-patch+json",
			object{"status": object{"phase": phase, "containerStatuses": []object{{"name": "tensorflow", "image": "i", "imageID": "i",
				"ready": phase == "Running", "restartCount": 0, "state": state}}}})
	})
	told := time.Since(begun).Seconds()
	a.untilJobsAre(phase)
	if phase == "Succeeded" {
		until("pods and services are gone", func() bool { return a.count("pods") == 0 && a.count("services") == 0 })
	}
	return object{"seconds": time.Since(begun).Seconds(), "kubelet": told}
}

func main() {
	folder := flag.String("folder", "", "the folder of tools/real-components-up")
	ns := flag.String("ns", "bench", "the namespace")
	flag.Parse()
	a := connect(*folder, *ns)
	number := func(at int) int {
		n, err := strconv.Atoi(flag.Arg(at))
		must(err)
		return n
	}
	if a.gangs(flag.Arg(0), flag.Arg, number) {
		return
	}
	var told object
	switch flag.Arg(0) {
	case "alone":
		told = a.alone(number(1))
	case "manifest":
		told = a.manifest(number(1))
	case "same":
		told = a.same(number(1), number(2), flag.Arg(3))
	case "jobs":
		told = a.jobs(number(1), number(2))
	case "finished":
		told = a.finished(number(1))
	case "phase":
		told = a.phase(flag.Arg(1))
	default:
		must(fmt.Errorf("unknown command %q", flag.Arg(0)))
	}
	must(json.NewEncoder(os.Stdout).Encode(told))
}
