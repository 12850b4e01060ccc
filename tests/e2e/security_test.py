"""What must be refused, and what must not be seen, by the real binary."""

import json
import secrets
import socket
import ssl
import unittest

from plane import PlaneCase, Refused, plain_pod
from yard import shell_role, tfjob

PODS = "/api/v1/namespaces/default/pods"


class Security(PlaneCase):
    def status_of(self, method, path, **options):
        status, body = self.api.raw(method, path, **options)
        self.assertEqual(json.loads(body)["kind"], "Status", body[:200])
        return status

    def bytes_on_the_wire(self, request):
        """Sends it as it is; the first line of the answer."""
        with socket.create_connection(("127.0.0.1", self.api.port), timeout=30) as plain:
            with self.api.tls.wrap_socket(plain, server_hostname="127.0.0.1") as tls:
                try:
                    tls.sendall(request)
                except (BrokenPipeError, ConnectionResetError, ssl.SSLError):
                    pass  # it has heard enough
                return tls.recv(4096).split(b"\r\n")[0].decode()

    def test_nobody_comes_in_without_a_token(self):
        self.assertEqual(self.status_of("GET", PODS, token=False), 401)
        for wrong in ("Bearer wrong", "Bearer ", f"Basic {self.api.token}", "Bearer " + "x" * 10_000):
            self.assertEqual(self.status_of("GET", PODS, token=False, headers={"Authorization": wrong}), 401)
        self.assertEqual(self.status_of("GET", "/", token=False), 401)
        self.assertEqual(self.status_of("GET", "/openapi/v2", token=False), 401)

    def test_a_name_that_is_not_ours_is_refused(self):
        for host in ("evil.example", "evil.example:443", "169.254.169.254", "localhost.evil.example"):
            self.assertEqual(self.status_of("GET", PODS, headers={"Host": host}), 403, host)
        self.assertEqual(self.status_of("GET", PODS, headers={"Origin": "https://evil.example"}), 403)

    def test_dots_in_any_path_are_refused(self):
        for path in ("/api/v1/namespaces/default/pods/../secrets", "/api/v1/namespaces/%2e%2e/pods",
                     PODS + "/..%2f..%2fetc", PODS + "/x/log/../../y", "/../../etc/passwd",
                     PODS + "/x/proxy/../../secrets", PODS + "/a%00b", PODS + "/a%0d%0ab"):
            line = self.bytes_on_the_wire(
                f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {self.api.token}\r\n\r\n".encode())
            self.assertIn(" 400 ", line + " ", path)

    def test_names_with_control_characters_are_refused(self):
        for name in ("a\nb", "a\x00b", "a\x1b[31m", "../a", "a/b", "."):
            with self.assertRaises(Refused, msg=repr(name)) as refused:
                self.api.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}})
            self.assertIn(refused.exception.status, (400, 422), repr(name))
            with self.assertRaises(Refused, msg=repr(name)):
                self.api.create(tfjob(name, {"Worker": shell_role(1, "true")}))
        with self.assertRaises(Refused):
            pod = plain_pod("fine", "true")
            pod["spec"]["containers"][0]["name"] = "../../x"
            self.api.create(pod)

    def test_a_body_of_a_hundred_megabytes_is_refused(self):
        size = 100 << 20
        head = (f"POST {PODS} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {self.api.token}\r\n"
                f"Content-Type: application/json\r\nContent-Length: {size}\r\n\r\n")
        self.assertIn(" 413 ", self.bytes_on_the_wire(head.encode() + b" " * (4 << 20)))
        chunked = head.replace(f"Content-Length: {size}", "Transfer-Encoding: chunked")
        chunk = b"100000\r\n" + b" " * 0x100000 + b"\r\n"
        self.assertIn(" 413 ", self.bytes_on_the_wire(chunked.encode() + chunk * 8))
        self.assertEqual(self.api.list("Pod", "x=y"), [])

    def refused_mount(self, pod, words):
        """A pod that is refused, or made and never started, with these words."""
        name = pod["metadata"]["name"]
        try:
            self.api.create(pod)
        except Refused as refused:
            self.assertIn(refused.status, (400, 422))
            self.assertRegex(refused.body, words)
            return

        def told():
            about = [e for e in self.api.list("Event") if e["involvedObject"]["name"] == name]
            return any(word in e["message"] for e in about for word in words.split("|"))
        self.wait_until(f"words about {name}", told)
        self.assertNotEqual(self.phase_of("Pod", name), "Succeeded")
        self.api.delete("Pod", name)

    def test_links_and_sub_paths_never_leave_a_volume(self):
        self.api.create({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "links"},
                         "spec": {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Mi"}}}})
        volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "links"}}]

        def pod(name, script, sub_path=None):
            mount = {"name": "v", "mountPath": "/v"}
            if sub_path:
                mount["subPath"] = sub_path
            return plain_pod(name, script, container={"volumeMounts": [mount]}, pod={"volumes": volumes})
        self.api.create(pod("maker", f"ln -s /etc /v/out; ln -s ../../.. /v/up; ln -s {self.data} /v/data"))
        self.wait_for_phase("Pod", "maker", "Succeeded")
        for link in ("out", "up", "data", "out/ssl"):
            self.refused_mount(pod("link-" + link.replace("/", "-"), "ls /v", link), "leaves its volume")
        for path in ("../x", "a/../../x", "/etc"):
            name = "sub-" + path.strip("/.").replace("/", "-").replace(".", "d")
            self.refused_mount(pod(name, "ls /v", path), "subPath|must not contain|relative")

    def test_what_is_private_is_the_users_alone(self):
        for path in [self.data / "kubeconfig", *(self.data / "pki").iterdir()]:
            self.assertEqual(path.stat().st_mode & 0o077, 0, path)
            self.assertEqual(path.stat().st_mode & 0o777, 0o600, path)
        for folder in (self.data, self.data / "pki"):
            self.assertEqual(folder.stat().st_mode & 0o777, 0o700, folder)
        self.assertEqual((self.data / "store.db").stat().st_mode & 0o077, 0)

    def test_secrets_are_never_logged(self):
        hidden = "hidden-" + secrets.token_hex(16)
        self.api.create({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"k": hidden}})
        env = [{"name": "K", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
               {"name": "BAD", "valueFrom": {"secretKeyRef": {"name": "s", "key": "none", "optional": True}}}]
        job = tfjob("knows", {"Worker": shell_role(1, "test -n \"$K\" && exit 3", restartPolicy="Never", container={
            "env": env, "volumeMounts": [{"name": "v", "mountPath": "/v"}],
            "readinessProbe": {"exec": {"command": ["/bin/sh", "-c", "echo $K >&2; false"]}, "periodSeconds": 1}},
            pod={"volumes": [{"name": "v", "secret": {"secretName": "s"}}]})}, cleanPodPolicy="None")
        self.api.create(job)
        self.wait_for_condition("knows", "Failed")
        self.api.raw("GET", f"/api/v1/namespaces/default/secrets/{hidden}")
        spoken = [self.verb("describe", "knows"), self.verb("events", "knows"), self.verb("get", "knows", "-o", "yaml")]
        events = [e for e in self.api.list("Event") if e["reason"] != "Unhealthy"]
        for text in [*spoken, json.dumps(events)]:
            self.assertNotIn(hidden, text)
            self.assertNotIn(self.api.token, text)
        # A sandbox is made with them, and goes when its pod is over.
        self.wait_until("sandboxes to be gone", lambda: not list(self.data.glob("sandbox/pods/*")))
        # On disk they are in the store and in the files of the pod, nowhere else.
        for path in self.data.rglob("*"):
            inside = path.relative_to(self.data).parts[0]
            if not path.is_file() or path.is_symlink() or inside in ("pods", "pki") or inside.startswith("store.db"):
                continue
            content = path.read_bytes()
            self.assertNotIn(hidden.encode(), content, path)
            if path.name != "kubeconfig":
                self.assertNotIn(self.api.token.encode(), content, path)


if __name__ == "__main__":
    unittest.main()
