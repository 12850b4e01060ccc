"""One API server, asked step by step; what it answers is kept in a form that can be compared.

Of a refusal: status, reason, code, and the reason and field of each cause; the words are not compared.

Values that no two servers share (versions, identities, times, random names) are named by the order in
which they appear: rv1, uid1, time. A step is told as text: the status, and the answer.
"""

import json
import re
import sys
import pathlib
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cluster"))

from api import Api  # noqa: E402

TYPES = {
    "json": "application/json-patch+json",
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",
}
DROPPED = ("selfLink", "time")
UUID = re.compile(r"^[0-9a-f]{8}-[0-9a-f-]{27}$")


def shown_path(path):
    """Without what no two servers share."""
    path = re.sub(r"continue=[^&]*/[^&]*|continue=[A-Za-z0-9_-]{20,}", "continue=TOKEN", path)
    path = re.sub(r"m{20,}", "mmm", path)
    return re.sub(r"resourceVersion=[2-9]\d+|resourceVersion=1\d+", "resourceVersion=RV", path)


class Session:
    def __init__(self, api, ns):
        self.api, self.ns = api, ns
        self.names = {}
        self.steps = []
        self.last = None

    # ---- asking

    def ask(self, method, path, body=None, content_type="application/json", note="", keep=True):
        """Sends a request and keeps the answer. {ns} in the path and {uid}, {rv} in the body are of this server."""
        path = path.replace("{ns}", self.ns)
        data = None
        if body is not None:
            data = (body if isinstance(body, str) else json.dumps(body)).encode()
        connection = self.api.connect()
        headers = {"Authorization": "Bearer " + self.api.token, "Accept": "application/json"}
        if data is not None:
            headers["Content-Type"] = content_type
        connection.request(method, path, data, headers)
        response = connection.getresponse()
        text = response.read().decode(errors="replace")
        warnings = response.headers.get_all("Warning") or []
        connection.close()
        try:
            answer = json.loads(text)
        except ValueError:
            answer = text
        self.last = answer
        if keep:
            label = f"{method} {shown_path(path.replace(self.ns, 'NS'))}" + (f" ({note})" if note else "")
            self.steps.append((label, self.told(response.status, answer, warnings)))
        return response.status, answer

    def create(self, path, body, **more):
        return self.ask("POST", path, body, **more)

    def patch(self, path, kind, body, **more):
        return self.ask("PATCH", path, body, TYPES[kind], **more)

    def get(self, path, **more):
        return self.ask("GET", path, **more)

    def watch(self, path, act, count, seconds=5):
        """Opens a watch, does `act`, and keeps the first `count` events."""
        path = path.replace("{ns}", self.ns)
        events = []
        ready = threading.Event()

        def follow():
            connection = self.api.connect(timeout=seconds + 5)
            mark = "&" if "?" in path else "?"
            connection.request("GET", f"{path}{mark}watch=1&timeoutSeconds={seconds}", headers={"Authorization": "Bearer " + self.api.token})
            response = connection.getresponse()
            ready.set()
            if response.status != 200:
                events.append({"type": f"HTTP {response.status}", "object": json.loads(response.read() or b"{}")})
                return
            try:
                for line in response:
                    events.append(json.loads(line))
                    if len(events) >= count:
                        return
            except OSError:
                pass
            finally:
                connection.close()

        thread = threading.Thread(target=follow, daemon=True)
        thread.start()
        ready.wait(10)
        time.sleep(0.2)
        act()
        thread.join(seconds + 6)
        told = [f"{each['type']} {self.text(each['object'])}" for each in events]
        self.steps.append((f"WATCH {shown_path(path.replace(self.ns, 'NS'))}", "\n".join(told)))

    def until(self, question, note, seconds=20):
        """Waits for what is done behind the scenes, such as garbage collection; keeps whether it came."""
        end = time.monotonic() + seconds
        good = False
        while not good and time.monotonic() < end:
            good = bool(question())
            if not good:
                time.sleep(0.1)
        self.steps.append((note, "yes" if good else "no"))

    def exists(self, path):
        status, _ = self.ask("GET", path, keep=False)
        return status == 200

    # ---- telling

    def told(self, status, answer, warnings):
        lines = [str(status)]
        if isinstance(answer, dict) and answer.get("kind") == "Status":
            for key in ("status", "reason", "code"):
                if key in answer:
                    lines.append(f"{key}: {answer[key]}")
            details = answer.get("details") or {}
            causes = [(each.get("reason", ""), each.get("field", "")) for each in details.get("causes") or []]
            if causes:
                lines.append("causes: " + self.text(sorted(causes)))
        else:
            lines.append(self.text(answer))
        if warnings:
            lines.append(f"{len(warnings)} warnings")
        return "\n".join(lines)

    def text(self, value):
        return self.named_text(json.dumps(self.normal(value), sort_keys=True))

    def named_text(self, text):
        for found, name in self.names.items():
            if len(found) > 5:
                text = text.replace(found, name)
        text = text.replace(self.ns, "NS")
        return re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "TIME", text)

    def name_for(self, prefix, value):
        if value not in self.names:
            count = sum(1 for each in self.names.values() if each.startswith(prefix)) + 1
            self.names[value] = f"{prefix}{count}"
        return self.names[value]

    @staticmethod
    def leave_out(metadata):
        """What differs everywhere and is said once, at the top of DIFFERENCES.md."""
        metadata.pop("generation", None)
        for key in [key for key, value in metadata.items() if value in ({}, [])]:
            metadata.pop(key)
        applied = [each for each in metadata.get("managedFields", []) if each.get("operation") == "Apply"]
        metadata.pop("managedFields", None)
        if applied:
            metadata["managedFields"] = applied

    def normal(self, value, key=""):
        if isinstance(value, dict):
            out = {k: self.normal(value[k], k) for k in sorted(value) if k not in DROPPED}
            if key == "metadata":
                self.leave_out(out)
            if "generateName" in out and "name" in out:
                self.name_for("name", value["name"])
            return out
        if isinstance(value, list):
            items = [self.normal(each) for each in value]
            if key == "items":
                items = [{k: v for k, v in each.items() if k not in ("apiVersion", "kind")} for each in items]
            if key == "managedFields":
                items.sort(key=lambda each: json.dumps(each, sort_keys=True))
            return items
        if isinstance(value, str) and value:
            if key == "uid" and UUID.match(value):
                return self.name_for("uid", value)
            if key == "resourceVersion":
                return "RV"
            if key == "continue":
                return "CONTINUE"
        return value


def session_of(kubeconfig, ns):
    """From a kubeconfig with a token, or with client certificates."""
    import base64
    import os
    import ssl
    import tempfile

    text = pathlib.Path(kubeconfig).read_text()

    def value(key):
        found = re.search(rf"(?m){key}: *\"?([^\s\"}},]+)", text)
        return found.group(1) if found else None

    host, port = re.search(r"https://([^:/\"]+):(\d+)", text).groups()
    ca = value("certificate-authority")
    if not ca:
        handle, ca = tempfile.mkstemp()
        os.write(handle, base64.b64decode(value("certificate-authority-data")))
        os.close(handle)
    api = Api(host, int(port), ca, value("token") or "")
    certificate = value("client-certificate-data")
    if certificate and not value("token"):
        handle, path = tempfile.mkstemp()
        os.write(handle, base64.b64decode(certificate) + b"\n" + base64.b64decode(value("client-key-data")))
        os.close(handle)
        api.context.load_cert_chain(path)
        os.unlink(path)
    api.context.check_hostname = False
    assert api.context.verify_mode == ssl.CERT_REQUIRED
    return Session(api, ns)
