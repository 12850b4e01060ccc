"""What people do with the official Python client and with Kubeflow's training SDK.

Needs KUBECONFIG of a running plane and the packages that `run` in this folder installs.
Everything happens in a namespace of its own, which is removed.
"""

import base64
import os
import time
import unittest
import warnings

from kubernetes import client, config, watch
from kubernetes.client.rest import ApiException
from kubernetes.stream import portforward, stream

NAMESPACE = "python-%d-%d" % (time.time(), os.getpid())
PATIENCE = 40


def setUpModule():
    warnings.simplefilter("ignore", ResourceWarning)
    config.load_kube_config(os.environ["KUBECONFIG"])
    body = client.V1Namespace(metadata=client.V1ObjectMeta(name=NAMESPACE))
    client.CoreV1Api().create_namespace(body)


def tearDownModule():
    client.CoreV1Api().delete_namespace(NAMESPACE)


def pod(name, command, **labels):
    return client.V1Pod(
        metadata=client.V1ObjectMeta(name=name, labels=labels or {"app": name}),
        spec=client.V1PodSpec(
            restart_policy="Never",
            termination_grace_period_seconds=1,
            containers=[client.V1Container(name="main", image="busybox", command=["sh", "-c", command])],
        ),
    )


def tfjob(name, command, workers=1):
    template = {"spec": {"containers": [{"name": "tensorflow", "image": "busybox", "command": ["sh", "-c", command]}]}}
    worker = {"replicas": workers, "restartPolicy": "Never", "template": template}
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "TFJob",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"runPolicy": {"cleanPodPolicy": "None"}, "tfReplicaSpecs": {"Worker": worker}},
    }


class PlaneTest(unittest.TestCase):
    def setUp(self):
        self.core = client.CoreV1Api()
        self.custom = client.CustomObjectsApi()
        self.jobs = dict(group="kubeflow.org", version="v1", namespace=NAMESPACE, plural="tfjobs")

    def eventually(self, what, said):
        end = time.monotonic() + PATIENCE
        while True:
            found = what()
            if found:
                return found
            if time.monotonic() > end:
                self.fail("never came true: " + said)
            time.sleep(0.1)

    def start(self, name, command, **labels):
        self.core.create_namespaced_pod(NAMESPACE, pod(name, command, **labels))
        self.addCleanup(self.remove, name)
        self.eventually(
            lambda: self.core.read_namespaced_pod(name, NAMESPACE).status.phase != "Pending", name + " starts"
        )

    def remove(self, name):
        try:
            self.core.delete_namespaced_pod(name, NAMESPACE, grace_period_seconds=0)
        except ApiException as error:
            if error.status != 404:
                raise

    def refused(self, status, reason, call, *arguments, **named):
        with self.assertRaises(ApiException) as caught:
            call(*arguments, **named)
        self.assertEqual(caught.exception.status, status)
        self.assertIn('"reason":"%s"' % reason, caught.exception.body.replace('": "', '":"'))


class CoreTest(PlaneTest):
    def test_version_and_discovery(self):
        self.assertEqual(client.VersionApi().get_code().major, "1")
        groups = [group.name for group in client.ApisApi().get_api_versions().groups]
        self.assertIn("kubeflow.org", groups)
        self.assertIn("pods", [resource.name for resource in self.core.get_api_resources().resources])

    def test_create_read_replace_delete(self):
        body = client.V1ConfigMap(metadata=client.V1ObjectMeta(name="plain"), data={"a": "1"})
        made = self.core.create_namespaced_config_map(NAMESPACE, body)
        self.assertTrue(made.metadata.uid)
        self.assertIsNotNone(made.metadata.creation_timestamp)
        self.refused(409, "AlreadyExists", self.core.create_namespaced_config_map, NAMESPACE, body)
        made.data["a"] = "2"
        newer = self.core.replace_namespaced_config_map("plain", NAMESPACE, made)
        self.assertNotEqual(newer.metadata.resource_version, made.metadata.resource_version)
        self.refused(409, "Conflict", self.core.replace_namespaced_config_map, "plain", NAMESPACE, made)
        self.core.delete_namespaced_config_map("plain", NAMESPACE)
        self.refused(404, "NotFound", self.core.read_namespaced_config_map, "plain", NAMESPACE)

    def test_list_in_pages_and_by_selector(self):
        for i in range(5):
            meta = client.V1ObjectMeta(name="page-%d" % i, labels={"page": "yes", "odd": str(i % 2)})
            self.core.create_namespaced_config_map(NAMESPACE, client.V1ConfigMap(metadata=meta))
        names, token = [], None
        while True:
            page = self.core.list_namespaced_config_map(NAMESPACE, label_selector="page=yes", limit=2, _continue=token)
            names += [item.metadata.name for item in page.items]
            token = page.metadata._continue
            if not token:
                break
        self.assertEqual(names, ["page-%d" % i for i in range(5)])
        odd = self.core.list_namespaced_config_map(NAMESPACE, label_selector="odd in (1)")
        self.assertEqual(len(odd.items), 2)
        one = self.core.list_config_map_for_all_namespaces(field_selector="metadata.name=page-3")
        self.assertIn(NAMESPACE, [item.metadata.namespace for item in one.items])
        self.core.delete_collection_namespaced_config_map(NAMESPACE, label_selector="page=yes")
        self.assertEqual(self.core.list_namespaced_config_map(NAMESPACE, label_selector="page=yes").items, [])

    def test_patch_in_every_way(self):
        meta = client.V1ObjectMeta(name="patched")
        self.core.create_namespaced_config_map(NAMESPACE, client.V1ConfigMap(metadata=meta, data={"a": "1", "b": "2"}))
        found = self.core.patch_namespaced_config_map("patched", NAMESPACE, {"data": {"b": None, "c": "3"}})
        self.assertEqual(found.data, {"a": "1", "c": "3"})
        steps = [{"op": "replace", "path": "/data/a", "value": "9"}]
        found = self.core.patch_namespaced_config_map("patched", NAMESPACE, steps)
        self.assertEqual(found.data["a"], "9")
        found = self.core.patch_namespaced_config_map(
            "patched", NAMESPACE, {"metadata": {"labels": {"x": "y"}}}, dry_run="All"
        )
        self.assertEqual(found.metadata.labels, {"x": "y"})
        self.assertIsNone(self.core.read_namespaced_config_map("patched", NAMESPACE).metadata.labels)

    def test_secret(self):
        body = client.V1Secret(metadata=client.V1ObjectMeta(name="secret"), string_data={"word": "s3cret"})
        self.core.create_namespaced_secret(NAMESPACE, body)
        found = self.core.read_namespaced_secret("secret", NAMESPACE)
        self.assertEqual(base64.b64decode(found.data["word"]), b"s3cret")
        self.assertIsNone(found.string_data)

    def test_watch(self):
        since = self.core.list_namespaced_config_map(NAMESPACE).metadata.resource_version
        name = "watched"
        self.core.create_namespaced_config_map(
            NAMESPACE, client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name), data={})
        )
        self.core.patch_namespaced_config_map(name, NAMESPACE, {"data": {"a": "1"}})
        self.core.delete_namespaced_config_map(name, NAMESPACE)
        seen = []
        watcher = watch.Watch()
        for event in watcher.stream(
            self.core.list_namespaced_config_map, NAMESPACE, resource_version=since, timeout_seconds=PATIENCE,
            field_selector="metadata.name=" + name,
        ):
            seen.append(event["type"])
            if event["type"] == "DELETED":
                watcher.stop()
        self.assertEqual(seen, ["ADDED", "MODIFIED", "DELETED"])

    def test_watch_ends_at_its_timeout(self):
        events = watch.Watch().stream(
            self.core.list_namespaced_config_map, NAMESPACE, timeout_seconds=1, field_selector="metadata.name=nobody"
        )
        self.assertEqual(list(events), [])

    def test_unauthorized(self):
        known = client.Configuration.get_default_copy()
        settings = client.Configuration()
        settings.host, settings.ssl_ca_cert = known.host, known.ssl_ca_cert
        settings.api_key = {"authorization": "Bearer wrong"}
        stranger = client.CoreV1Api(client.ApiClient(settings))
        self.refused(401, "Unauthorized", stranger.list_namespaced_pod, NAMESPACE)

    def test_access_review(self):
        review = client.V1SelfSubjectAccessReview(
            spec=client.V1SelfSubjectAccessReviewSpec(
                resource_attributes=client.V1ResourceAttributes(verb="create", resource="pods", namespace=NAMESPACE)
            )
        )
        answer = client.AuthorizationV1Api().create_self_subject_access_review(review)
        self.assertTrue(answer.status.allowed)


class PodTest(PlaneTest):
    def test_logs(self):
        self.start("speaker", "echo one; echo two; sleep 0.5; echo three")
        lines = []
        for line in watch.Watch().stream(self.core.read_namespaced_pod_log, "speaker", NAMESPACE):
            lines.append(line)
        self.assertEqual(lines, ["one", "two", "three"])
        self.assertEqual(self.core.read_namespaced_pod_log("speaker", NAMESPACE, tail_lines=1), "three\n")
        stamped = self.core.read_namespaced_pod_log("speaker", NAMESPACE, timestamps=True)
        self.assertRegex(stamped, r"^20\d\d-\d\d-\d\dT\S+Z one")

    def test_exit_code_is_kept(self):
        self.start("failing", "exit 5")
        state = self.eventually(
            lambda: self.core.read_namespaced_pod("failing", NAMESPACE).status.container_statuses[0].state.terminated,
            "the pod ends",
        )
        self.assertEqual((state.exit_code, state.reason), (5, "Error"))
        self.assertEqual(self.core.read_namespaced_pod("failing", NAMESPACE).status.phase, "Failed")

    def test_exec(self):
        self.start("host", "sleep 300")
        out = stream(
            self.core.connect_get_namespaced_pod_exec, "host", NAMESPACE, command=["sh", "-c", "echo hi; echo no >&2"],
            stdout=True, stderr=True, stdin=False, tty=False,
        )
        self.assertEqual(sorted(out.split()), ["hi", "no"])
        session = stream(
            self.core.connect_get_namespaced_pod_exec, "host", NAMESPACE, command=["sh"],
            stdout=True, stderr=True, stdin=True, tty=False, _preload_content=False,
        )
        session.write_stdin("echo $((40+2)); exit 7\n")
        text = ""
        end = time.monotonic() + PATIENCE
        while session.is_open() and time.monotonic() < end:
            session.update(timeout=1)
            if session.peek_stdout():
                text += session.read_stdout()
        text += session.read_stdout(timeout=0) if session.peek_stdout() else ""
        self.assertEqual(text, "42\n")
        self.assertEqual(session.returncode, 7)

    def test_port_forward(self):
        port = 20000 + os.getpid() % 10000
        self.start("web", "exec python3 -m http.server %d --directory /etc" % port)

        def answered():
            forward = portforward(
                self.core.connect_get_namespaced_pod_portforward, "web", NAMESPACE, ports=str(port)
            )
            link = forward.socket(port)
            link.setblocking(True)
            link.settimeout(10)
            try:
                link.sendall(b"GET /hostname HTTP/1.0\r\n\r\n")
                return b"200 OK" in link.recv(4096)
            except OSError:
                return False
            finally:
                link.close()

        self.eventually(answered, "the server in the pod answers")

    def test_events_of_a_pod(self):
        self.start("noted", "sleep 300")
        chosen = "involvedObject.name=noted"
        reasons = self.eventually(
            lambda: {e.reason for e in self.core.list_namespaced_event(NAMESPACE, field_selector=chosen).items},
            "there are events",
        )
        self.assertIn("Scheduled", reasons)


class CustomObjectTest(PlaneTest):
    def phase(self, name):
        job = self.custom.get_namespaced_custom_object(name=name, **self.jobs)
        return [c["type"] for c in job.get("status", {}).get("conditions", []) if c["status"] == "True"]

    def test_create_watch_delete(self):
        self.custom.create_namespaced_custom_object(body=tfjob("by-client", "sleep 0.5"), **self.jobs)
        end = time.monotonic() + PATIENCE
        seen = []
        for event in watch.Watch().stream(
            self.custom.list_namespaced_custom_object, timeout_seconds=PATIENCE, **self.jobs
        ):
            if event["object"]["metadata"]["name"] != "by-client":
                continue
            conditions = event["object"].get("status", {}).get("conditions", [])
            seen += [c["type"] for c in conditions if c["status"] == "True" and c["type"] not in seen]
            if "Succeeded" in seen or time.monotonic() > end:
                break
        self.assertEqual(seen[0], "Created")
        self.assertIn("Running", seen)
        self.assertIn("Succeeded", seen)
        self.custom.delete_namespaced_custom_object(name="by-client", **self.jobs)
        selector = "training.kubeflow.org/job-name=by-client"
        self.eventually(
            lambda: not self.core.list_namespaced_pod(NAMESPACE, label_selector=selector).items, "its pods go"
        )

    def test_patch_and_status(self):
        self.custom.create_namespaced_custom_object(body=tfjob("suspended", "sleep 300"), **self.jobs)
        self.custom.patch_namespaced_custom_object(
            name="suspended", body={"spec": {"runPolicy": {"suspend": True}}}, **self.jobs
        )
        self.eventually(lambda: "Suspended" in self.phase("suspended"), "the job is suspended")
        status = self.custom.get_namespaced_custom_object_status(name="suspended", **self.jobs)
        self.assertEqual(status["kind"], "TFJob")
        scale = self.custom.get_namespaced_custom_object_scale(name="suspended", **self.jobs)
        self.assertEqual((scale["kind"], scale["spec"]["replicas"]), ("Scale", 1))
        self.custom.delete_namespaced_custom_object(name="suspended", **self.jobs)

    def test_invalid(self):
        body = tfjob("invalid", "exit 0", workers=-1)
        self.refused(422, "Invalid", self.custom.create_namespaced_custom_object, body=body, **self.jobs)


class TrainingSdkTest(PlaneTest):
    def setUp(self):
        super().setUp()
        from kubeflow.training import TrainingClient

        self.training = TrainingClient(config_file=os.environ["KUBECONFIG"], namespace=NAMESPACE)

    def job(self, name, command):
        from kubeflow.training import (
            KubeflowOrgV1ReplicaSpec,
            KubeflowOrgV1RunPolicy,
            KubeflowOrgV1TFJob,
            KubeflowOrgV1TFJobSpec,
        )

        container = client.V1Container(name="tensorflow", image="busybox", command=["sh", "-c", command])
        template = client.V1PodTemplateSpec(spec=client.V1PodSpec(containers=[container]))
        worker = KubeflowOrgV1ReplicaSpec(replicas=2, restart_policy="Never", template=template)
        return KubeflowOrgV1TFJob(
            api_version="kubeflow.org/v1",
            kind="TFJob",
            metadata=client.V1ObjectMeta(name=name, namespace=NAMESPACE),
            spec=KubeflowOrgV1TFJobSpec(
                run_policy=KubeflowOrgV1RunPolicy(clean_pod_policy="None"), tf_replica_specs={"Worker": worker}
            ),
        )

    def test_create_wait_logs_delete(self):
        self.training.create_job(self.job("by-sdk", "echo trained; sleep 0.5"))
        self.assertIn("by-sdk", [job.metadata.name for job in self.training.list_jobs(job_kind="TFJob")])
        done = self.training.wait_for_job_conditions(
            "by-sdk", job_kind="TFJob", wait_timeout=PATIENCE, polling_interval=1
        )
        self.assertEqual(done.metadata.name, "by-sdk")
        self.assertTrue(self.training.is_job_succeeded("by-sdk", job_kind="TFJob"))
        self.assertTrue(self.training.is_job_created("by-sdk", job_kind="TFJob"))
        names = self.training.get_job_pod_names("by-sdk")
        self.assertEqual(sorted(names), ["by-sdk-worker-0", "by-sdk-worker-1"])
        logs, _ = self.training.get_job_logs("by-sdk", job_kind="TFJob", is_master=False)
        self.assertEqual(len(logs), 2)
        self.assertTrue(all("trained" in text for text in logs.values()), logs)
        self.training.delete_job("by-sdk", job_kind="TFJob")
        with self.assertRaises(Exception):
            self.training.get_job("by-sdk", job_kind="TFJob")

    def test_failed_job_and_update(self):
        self.training.create_job(self.job("bad-by-sdk", "exit 1"))
        done = self.training.wait_for_job_conditions(
            "bad-by-sdk", job_kind="TFJob", expected_conditions={"Failed"}, wait_timeout=PATIENCE, polling_interval=1
        )
        self.assertEqual(done.metadata.name, "bad-by-sdk")
        self.training.update_job({"metadata": {"labels": {"seen": "yes"}}}, "bad-by-sdk", job_kind="TFJob")
        self.assertEqual(self.training.get_job("bad-by-sdk", job_kind="TFJob").metadata.labels["seen"], "yes")
        self.training.delete_job("bad-by-sdk", job_kind="TFJob")


if __name__ == "__main__":
    unittest.main(verbosity=2)
