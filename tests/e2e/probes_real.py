"""A gRPC probe against a real gRPC server. GRPC_PYTHON is a python that has grpcio, as the one of
TensorFlow has."""

import os
import unittest

from plane import PlaneCase, plain_pod

# Answers grpc.health.v1.Health/Check by hand: SERVING for "model" until /tmp/stop is there,
# NOT_FOUND for any other service.
SERVER = """
import os, time
from concurrent import futures
import grpc

def check(request, context):
    if request != b"\\x0a\\x05model":
        context.abort(grpc.StatusCode.NOT_FOUND, "unknown service")
    return b"\\x08\\x02" if os.path.exists("/tmp/stop") else b"\\x08\\x01"

same = lambda data: data
handler = grpc.method_handlers_generic_handler("grpc.health.v1.Health", {
    "Check": grpc.unary_unary_rpc_method_handler(check, request_deserializer=same, response_serializer=same)})
server = grpc.server(futures.ThreadPoolExecutor(2))
server.add_generic_rpc_handlers((handler,))
server.add_insecure_port("0.0.0.0:9000")
server.start()
print("serving", flush=True)
time.sleep(600)
"""


class GrpcProbes(PlaneCase):
    options = ("--runtime", "sandbox")
    patience = 180

    def ready(self, pod):
        statuses = self.api.get("Pod", pod)["status"].get("containerStatuses", [])
        return bool(statuses) and statuses[0]["ready"]

    def serve(self, name, service):
        pod = plain_pod(name, "", container={
            "command": [os.environ["GRPC_PYTHON"], "-c", SERVER],
            "readinessProbe": {"grpc": {"port": 9000, "service": service}, "periodSeconds": 1}})
        self.api.create(pod)
        self.wait_until(f"{name} to serve", lambda: "serving" in self.api.log(name))

    def test_it_is_ready_while_it_says_so(self):
        self.serve("model", "model")
        self.wait_until("the pod to be ready", lambda: self.ready("model"))
        self.verb("exec", "pod/model", "--", "touch", "/tmp/stop")
        self.wait_until("the pod not to be ready", lambda: not self.ready("model"))
        told = [e["message"] for e in self.api.list("Event") if e["involvedObject"]["name"] == "model"]
        self.assertTrue(any("NOT_SERVING" in words for words in told), told)

    def test_a_service_that_it_does_not_know_is_not_ready(self):
        self.serve("other", "nobody")

        def told():
            events = [e for e in self.api.list("Event") if e["involvedObject"]["name"] == "other"]
            return any("no answer of grpc.health.v1.Health" in e["message"] for e in events)
        self.wait_until("a failed probe", told)
        self.assertFalse(self.ready("other"))


if __name__ == "__main__":
    unittest.main()
