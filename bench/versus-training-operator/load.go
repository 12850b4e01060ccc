// The load and the fake kubelet of bench/versus-training-operator: a plain client of the standard
// library that makes jobs, lets their pods run and end, and tells how long each took.
//
//	load -kubeconfig-dir DIR alone N        N pods and N services, the API server's own limit
//	load -kubeconfig-dir DIR jobs N R       N TFJobs of R replicas until all pods and services are there
//	load -kubeconfig-dir DIR phase Running  every pod of the jobs runs, until every job does
//	load -kubeconfig-dir DIR phase Succeeded  ... ends well, until every job has and its pods are gone
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
	server, token string
	client        *http.Client
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func connect(dir string) *api {
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
		strings.TrimSpace(string(token)), &http.Client{Transport: transport}}
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
	must(json.Unmarshal(a.do("GET", "/api/v1/namespaces/bench/"+collection+"?limit=1", "", nil), &list))
	return len(list.Items) + list.Metadata.RemainingItemCount
}

func until(what string, ready func() bool) {
	for begun := time.Now(); !ready(); time.Sleep(200 * time.Millisecond) {
		if time.Since(begun) > 20*time.Minute {
			must(fmt.Errorf("waited 20 minutes until %s", what))
		}
	}
}

func (a *api) alone(n int) {
	a.do("POST", "/api/v1/namespaces", "application/json", object{"metadata": object{"name": "alone"}})
	labels := object{"a": "b"}
	begun := time.Now()
	spread(n, 16, func(i int) {
		name := fmt.Sprintf("alone-%d", i)
		a.do("POST", "/api/v1/namespaces/alone/services", "application/json", object{"metadata": object{"name": name, "labels": labels},
			"spec": object{"clusterIP": "None", "selector": labels, "ports": []object{{"port": 2222, "name": "p"}}}})
		a.do("POST", "/api/v1/namespaces/alone/pods", "application/json", object{"metadata": object{"name": name, "labels": labels},
			"spec": object{"containers": []object{container()}, "restartPolicy": "Never"}})
	})
	fmt.Printf("alone %.1f s for %d objects at 16 connections\n", time.Since(begun).Seconds(), 2*n)
	for _, kind := range []string{"pods", "services"} {
		a.do("DELETE", "/api/v1/namespaces/alone/"+kind, "application/json", object{"gracePeriodSeconds": 0})
	}
}

func (a *api) jobs(n, replicas int) {
	a.do("POST", "/api/v1/namespaces", "application/json", object{"metadata": object{"name": "bench"}})
	begun := time.Now()
	role := func(count int) object {
		return object{"replicas": count, "restartPolicy": "Never",
			"template": object{"spec": object{"containers": []object{container()}}}}
	}
	go spread(n, 4, func(i int) {
		a.do("POST", "/apis/kubeflow.org/v1/namespaces/bench/tfjobs", "application/json", object{"apiVersion": "kubeflow.org/v1", "kind": "TFJob",
			"metadata": object{"name": fmt.Sprintf("job-%d", i)},
			"spec": object{"runPolicy": object{"cleanPodPolicy": "All"},
				"tfReplicaSpecs": object{"Chief": role(1), "Worker": role(replicas - 1)}}})
	})
	until("all pods and services are there", func() bool {
		return a.count("pods") >= n*replicas && a.count("services") >= n*replicas
	})
	fmt.Printf("created %.1f s for %d jobs of %d\n", time.Since(begun).Seconds(), n, replicas)
}

// How many jobs have a condition that is true.
func (a *api) jobsThatAre(condition string) (int, int) {
	var list struct {
		Items []struct {
			Status struct {
				Conditions []struct{ Type, Status string }
			}
		}
	}
	must(json.Unmarshal(a.do("GET", "/apis/kubeflow.org/v1/namespaces/bench/tfjobs?resourceVersion=0", "", nil), &list))
	found := 0
	for _, job := range list.Items {
		for _, one := range job.Status.Conditions {
			if one.Type == condition && one.Status == "True" {
				found++
			}
		}
	}
	return found, len(list.Items)
}

func (a *api) phase(phase string) {
	var list struct {
		Items []struct{ Metadata struct{ Name string } }
	}
	must(json.Unmarshal(a.do("GET", "/api/v1/namespaces/bench/pods?resourceVersion=0", "", nil), &list))
	state := object{"running": object{"startedAt": time.Now().UTC().Format(time.RFC3339)}}
	if phase == "Succeeded" {
		state = object{"terminated": object{"exitCode": 0, "reason": "Completed", "finishedAt": time.Now().UTC().Format(time.RFC3339)}}
	}
	begun := time.Now()
	spread(len(list.Items), 8, func(i int) {
		a.do("PATCH", "/api/v1/namespaces/bench/pods/"+list.Items[i].Metadata.Name+"/status", "application/merge-patch+json",
			object{"status": object{"phase": phase, "containerStatuses": []object{{"name": "tensorflow", "image": "i", "imageID": "i",
				"ready": phase == "Running", "restartCount": 0, "state": state}}}})
	})
	told := time.Since(begun)
	until("every job is "+phase, func() bool {
		found, all := a.jobsThatAre(phase)
		return found == all
	})
	if phase == "Succeeded" {
		until("pods and services are gone", func() bool { return a.count("pods") == 0 && a.count("services") == 0 })
	}
	fmt.Printf("%s %.1f s (the kubelet took %.1f s to tell)\n", strings.ToLower(phase), time.Since(begun).Seconds(), told.Seconds())
}

func main() {
	dir := flag.String("kubeconfig-dir", "", "the folder of tools/real-components-up")
	flag.Parse()
	a := connect(*dir)
	number := func(at int) int {
		n, err := strconv.Atoi(flag.Arg(at))
		must(err)
		return n
	}
	switch flag.Arg(0) {
	case "alone":
		a.alone(number(1))
	case "jobs":
		a.jobs(number(1), number(2))
	case "phase":
		a.phase(flag.Arg(1))
	default:
		must(fmt.Errorf("unknown command %q", flag.Arg(0)))
	}
}
