"""A small Kubernetes client of the standard library: JSON requests and watches over TLS."""

import http.client
import json
import ssl
import threading
import urllib.parse


class ApiError(Exception):
    def __init__(self, code, body):
        self.code = code
        self.body = body if isinstance(body, dict) else {}
        self.reason = self.body.get("reason", "")
        self.message = self.body.get("message", str(body))
        super().__init__(f"{code} {self.reason}: {self.message}")


PLURALS = {
    "tfjob": "/apis/kubeflow.org/v1/{ns}tfjobs",
    "t9k": "/apis/batch.tensorstack.dev/v1beta1/{ns}tensorflowtrainingjobs",
    "vcjob": "/apis/batch.volcano.sh/v1alpha1/{ns}jobs",
    "tensorboard": "/apis/tensorstack.dev/v1beta1/{ns}tensorboards",
    "t9k-podgroup": "/apis/scheduler.tensorstack.dev/v1beta1/{ns}podgroups",
    "t9k-queue": "/apis/scheduler.tensorstack.dev/v1beta1/{ns}queues",
    "vc-podgroup": "/apis/scheduling.volcano.sh/v1beta1/{ns}podgroups",
    "pod": "/api/v1/{ns}pods",
    "service": "/api/v1/{ns}services",
    "event": "/api/v1/{ns}events",
    "configmap": "/api/v1/{ns}configmaps",
    "secret": "/api/v1/{ns}secrets",
    "quota": "/api/v1/{ns}resourcequotas",
    "namespace": "/api/v1/namespaces",
    "node": "/api/v1/nodes",
    "lease": "/apis/coordination.k8s.io/v1/{ns}leases",
    "crd": "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    "clusterrole": "/apis/rbac.authorization.k8s.io/v1/clusterroles",
}


def path_of(kind, ns=None, name=None, sub=None):
    path = PLURALS[kind].format(ns=f"namespaces/{ns}/" if ns else "")
    for part in (name, sub):
        if part:
            path += "/" + urllib.parse.quote(part)
    return path


class Api:
    """Thread-safe: every thread has a connection of its own."""

    def __init__(self, host, port, ca_file, token):
        self.host, self.port, self.token = host, port, token
        self.context = ssl.create_default_context(cafile=ca_file)
        self.local = threading.local()

    def connect(self, timeout=30):
        return http.client.HTTPSConnection(self.host, self.port, context=self.context, timeout=timeout)

    def request(self, method, path, body=None, content_type="application/json"):
        headers = {"Authorization": "Bearer " + self.token, "Accept": "application/json"}
        data = None
        if body is not None:
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            headers["Content-Type"] = content_type
        for attempt in (1, 2):
            connection = getattr(self.local, "connection", None)
            if connection is None:
                connection = self.local.connection = self.connect()
            try:
                connection.request(method, path, data, headers)
                response = connection.getresponse()
                text = response.read()
                break
            except (OSError, http.client.HTTPException):
                self.local.connection = None
                connection.close()
                # A kept-alive connection may have been closed by the other side meanwhile.
                if attempt == 2 or method != "GET":
                    if attempt == 2:
                        raise
        try:
            answer = json.loads(text)
        except ValueError:
            answer = text.decode(errors="replace")
        if response.status >= 300:
            raise ApiError(response.status, answer)
        return answer

    # By kind; `ns` is None for those of the cluster, or for all namespaces in a list.
    def get(self, kind, ns, name):
        return self.request("GET", path_of(kind, ns, name))

    def find(self, kind, ns, name):
        try:
            return self.get(kind, ns, name)
        except ApiError as error:
            if error.code == 404:
                return None
            raise

    def list(self, kind, ns=None, selector=""):
        query = "?labelSelector=" + urllib.parse.quote(selector) if selector else ""
        return self.request("GET", path_of(kind, ns) + query)["items"]

    def create(self, kind, ns, body, query=""):
        return self.request("POST", path_of(kind, ns) + query, body)

    def update(self, kind, ns, body, sub=None):
        return self.request("PUT", path_of(kind, ns, body["metadata"]["name"], sub), body)

    def patch(self, kind, ns, name, body, sub=None):
        return self.request("PATCH", path_of(kind, ns, name, sub), body, "application/merge-patch+json")

    def delete(self, kind, ns, name, options=None):
        return self.request("DELETE", path_of(kind, ns, name), options)

    def watch(self, path, version, timeout=30):
        """Yields (type, object) until the server ends the watch; raises OSError when it is cut."""
        connection = self.connect(timeout=timeout + 15)
        try:
            mark = "&" if "?" in path else "?"
            connection.request(
                "GET",
                f"{path}{mark}watch=1&allowWatchBookmarks=true&timeoutSeconds={timeout}&resourceVersion={version}",
                headers={"Authorization": "Bearer " + self.token},
            )
            response = connection.getresponse()
            if response.status != 200:
                raise ApiError(response.status, response.read().decode(errors="replace"))
            for line in response:
                event = json.loads(line)
                yield event["type"], event["object"]
        finally:
            connection.close()
