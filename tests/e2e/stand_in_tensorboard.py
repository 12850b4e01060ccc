"""Stands in for the tensorboard program where it is not installed: takes its options, serves the
names of the files below its log folders."""

import argparse
import http.server
import json
import pathlib


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--logdir", default="")
    parser.add_argument("--logdir_spec", default="")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--bind_all", action="store_true")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--path_prefix", default="")
    options = parser.parse_args()
    folders = [options.logdir] if options.logdir else [one.split(":", 1)[1] for one in options.logdir_spec.split(",")]

    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            files = sorted(str(path.relative_to(folder)) for folder in folders
                           for path in pathlib.Path(folder).rglob("*") if path.is_file())
            told = {"path": self.path, "files": files, "authorization": self.headers.get("Authorization")}
            body = json.dumps(told).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    host = "0.0.0.0" if options.bind_all else options.host
    print(f"serving {folders} at {host}:{options.port}", flush=True)
    http.server.ThreadingHTTPServer((host, options.port), Answer).serve_forever()


main()
