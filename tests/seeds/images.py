"""The images that the documents name, made on the spot: a few megabytes with a shell, python
and the example trainer under each of the paths that their commands call.

An OCI layout with one layer and one configuration per way to be started; `trainyard import`
takes it from there, so that the manifests of the documents run as they are printed.
"""

import gzip
import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = "/usr/bin/python3"  # the system's: what it loads lies below /usr/lib
TOOLS = ["sh", "cat", "sed", "tr", "sleep", "ls", "mkdir", "touch", "env", "seq", "grep", "df", "hostname", "echo", "rm"]

# Which image is started how: (entrypoint, working folder).
IMAGES = {
    "tensorflow/tensorflow:2.11.0": ([], "/app"),
    "gcr.io/your-project/your-image": ([], "/app"),
    "gcr.io/kubeflow/tf-benchmarks-cpu:v20171202-bdab599-dirty-284af3": ([], "/"),
    "gcr.io/kubeflow/tf-benchmarks-gpu:v20171202-bdab599-dirty-284af3": ([], "/"),
    "gcr.io/kubeflow-ci/tf-mnist-with-summaries:1.0": ([], "/"),
    "volcanosh/dist-mnist-tf-example:0.0.1": ([], "/"),
    "t9kpublic/tensorboard:2.11.0": ([], "/"),
    "t9kpublic/tensorflow-2.11.0:cpu-sdk-0.5.2": ([], "/"),
    "someone/tf-mnist:gpu": (["python", "/var/tf_mnist/mnist_with_summaries.py", "--log_dir=/tmp/tensorflow"], "/"),
    "ccr.ccs.tencentyun.com/chenyong/tf-dist-mnist-test:1.0": (["python", "/var/tf_dist_mnist/dist_mnist.py"], "/"),
}

# Every program of the documents is this one: it takes the options they print and trains with the example.
PROGRAM = """import sys
sys.path.insert(0, "/opt/example")
import example_trainer
options = ["--pause=0.005", "--steps=60"]
for word in sys.argv[1:]:
    if word.startswith("--log_dir="):
        options.append("--dir=" + word.split("=", 1)[1])
sys.argv[1:] = options
sys.exit(example_trainer.main())
"""
PROGRAMS = [
    "app/dist_mnist.py",
    "app/trainer/task.py",
    "opt/tf-benchmarks/scripts/tf_cnn_benchmarks/tf_cnn_benchmarks.py",
    "var/tf_mnist/mnist_with_summaries.py",
    "var/tf_dist_mnist/dist_mnist.py",
]
# Shows what lies in its folder.
TENSORBOARD = "#!/bin/sh\nexec python /opt/example/tensorboard.py \"$@\"\n"
SSHD = "#!/bin/sh\necho 'Server listening on 0.0.0.0 port 22.'\nexec sleep inf\n"


def libraries_of(binary):
    """Shared libraries of a binary, with the loader, by their paths."""
    told = subprocess.run(["ldd", binary], capture_output=True, text=True).stdout
    return re.findall(r"(/\S+) \(0x", told)


def python_files():
    """The modules that the trainer and `-m` load: those of a short training, and what names need."""
    loaded = (
        "import runpy, sys, site, sysconfig, locale, http.server, pathlib, encodings.idna, encodings.latin_1; "
        "sys.path.insert(0, %r); import trainer; trainer.main(['--steps=1', '--pause=0']); "
        "print(chr(10).join(f for m in list(sys.modules.values()) if (f := getattr(m, '__file__', None))))"
        % str(ROOT / "examples/trainer")
    )
    told = subprocess.run([PYTHON, "-I", "-B", "-c", loaded], capture_output=True, text=True, check=True).stdout
    return [path for path in told.split() if path.startswith("/usr/lib/python3")]


def fill(tree):
    """Writes the root file system into the folder."""

    def put(source, target=None):
        target = tree / str(target or source).lstrip("/")
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(os.path.realpath(source), target)

    binaries = [PYTHON] + [shutil.which(tool) for tool in TOOLS]
    put(PYTHON)
    (tree / "usr/bin/python").symlink_to("python3")
    for tool in TOOLS:
        put(shutil.which(tool), f"/usr/bin/{tool}")
    for path in python_files():
        put(path)
        binaries += [path] if path.endswith(".so") else []
    for binary in binaries:
        for library in libraries_of(binary):
            # Debian's /lib and /lib64 are links into /usr.
            put(library, library if library.startswith("/usr") else "/usr" + library)
    for name in ("bin", "lib", "lib64"):
        (tree / name).symlink_to(f"usr/{name}")
    put(ROOT / "examples/trainer/trainer.py", "/opt/example/example_trainer.py")
    for path in PROGRAMS:
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(PROGRAM)
    put(ROOT / "tests/e2e/stand_in_tensorboard.py", "/opt/example/tensorboard.py")
    for name, text in (("sshd", SSHD), ("tensorboard", TENSORBOARD)):
        (tree / "usr/bin" / name).write_text(text)
        (tree / "usr/bin" / name).chmod(0o755)
    (tree / "tmp").mkdir()
    (tree / "etc").mkdir()
    (tree / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/sh\n")


def layer_of(tree):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for path in sorted(tree.rglob("*")):
            info = tar.gettarinfo(path, str(path.relative_to(tree)))
            info.uid = info.gid = 0
            info.uname = info.gname = ""
            info.mtime = 0
            if info.isreg():
                with open(path, "rb") as data:
                    tar.addfile(info, data)
            else:
                tar.addfile(info)
    return out.getvalue()


class Layout:
    """An OCI image layout on disk."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        (self.folder / "blobs/sha256").mkdir(parents=True)
        (self.folder / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
        self.manifests = []

    def blob(self, data, media_type):
        digest = hashlib.sha256(data).hexdigest()
        (self.folder / "blobs/sha256" / digest).write_bytes(data)
        return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(data)}

    def add(self, tag, layer, layer_id, entrypoint, folder):
        config = {
            "architecture": {"x86_64": "amd64", "aarch64": "arm64"}.get(os.uname().machine, os.uname().machine),
            "os": "linux",
            "config": {"Entrypoint": entrypoint, "WorkingDir": folder, "Env": ["PATH=/usr/bin:/bin", "HOME=/root"]},
            "rootfs": {"type": "layers", "diff_ids": [layer_id]},
        }
        kind = "application/vnd.oci.image"
        manifest = {
            "schemaVersion": 2,
            "mediaType": f"{kind}.manifest.v1+json",
            "config": self.blob(json.dumps(config).encode(), f"{kind}.config.v1+json"),
            "layers": [layer],
        }
        entry = self.blob(json.dumps(manifest).encode(), f"{kind}.manifest.v1+json")
        entry["annotations"] = {"org.opencontainers.image.ref.name": tag}
        self.manifests.append(entry)
        index = {"schemaVersion": 2, "manifests": self.manifests}
        (self.folder / "index.json").write_text(json.dumps(index))


def make(folder):
    """Makes all images below the folder. Gives {name: "layout:tag"}."""
    folder = pathlib.Path(folder)
    tree = folder / "root"
    tree.mkdir(parents=True)
    fill(tree)
    data = layer_of(tree)
    layout = Layout(folder / "layout")
    layer = layout.blob(gzip.compress(data, 1, mtime=0), "application/vnd.oci.image.layer.v1.tar+gzip")
    layer_id = "sha256:" + hashlib.sha256(data).hexdigest()
    ways = {}
    for name, (entrypoint, workdir) in IMAGES.items():
        way = (tuple(entrypoint), workdir)
        if way not in ways:
            ways[way] = f"way{len(ways)}"
            layout.add(ways[way], layer, layer_id, entrypoint, workdir)
    return {name: f"{layout.folder}:{ways[(tuple(e), w)]}" for name, (e, w) in IMAGES.items()}


if __name__ == "__main__":
    for image, place in make(sys.argv[1]).items():
        print(place, image)
