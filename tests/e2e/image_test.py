"""The image that deploy/image/build makes: the same each time, and the binary runs with nothing else around it."""

import gzip
import hashlib
import io
import json
import os
import pathlib
import subprocess
import tarfile
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TRAINYARD = os.environ.get("TRAINYARD", str(ROOT / "build/release/trainyard"))
CONFIG = """{"current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "k"}}],
 "clusters": [{"name": "k", "cluster": {"server": "http://api.here:1"}}]}"""


class Image(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="trainyard-image-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.index = cls.build("image")

    @classmethod
    def build(cls, name):
        subprocess.run([ROOT / "deploy/image/build", "--binary", TRAINYARD, "--out", cls.folder / name, "--tag", "7"],
                       check=True, capture_output=True, timeout=300)
        return json.loads((cls.folder / name / "index.json").read_text())

    def blob(self, described):
        """What a descriptor stands for, which must be what it says."""
        algorithm, digest = described["digest"].split(":")
        data = (self.folder / "image/blobs" / algorithm / digest).read_bytes()
        self.assertEqual((len(data), hashlib.sha256(data).hexdigest()), (described["size"], digest))
        return data

    def test_the_same_binary_gives_the_same_image(self):
        self.assertEqual(self.build("again"), self.index)

    def test_its_name_is_the_one_that_the_manifests_have(self):
        (entry,) = self.index["manifests"]
        self.assertEqual(entry["annotations"]["io.containerd.image.name"], "docker.io/library/trainyard:7")
        self.assertEqual(entry["annotations"]["org.opencontainers.image.ref.name"], "7")

    def test_the_binary_runs_with_nothing_but_the_image(self):
        manifest = json.loads(self.blob(self.index["manifests"][0]))
        config = json.loads(self.blob(manifest["config"]))
        self.assertEqual(config["config"]["Entrypoint"], ["/trainyard"])
        self.assertNotIn(config["config"]["User"].split(":")[0], ("", "0", "root"))
        (layer,) = manifest["layers"]
        tar = gzip.decompress(self.blob(layer))
        self.assertEqual(config["rootfs"]["diff_ids"], ["sha256:" + hashlib.sha256(tar).hexdigest()])
        root = self.folder / "root"
        with tarfile.open(fileobj=io.BytesIO(tar)) as files:
            files.extractall(root, filter="fully_trusted") if hasattr(tarfile, "fully_trusted_filter") else files.extractall(root)
        # What a kubelet puts there, and somebody's kubeconfig.
        (root / "etc/hosts").write_text("127.0.0.1 api.here\n")
        (root / "tmp/config").write_text(CONFIG)

        def inside(*words):
            return subprocess.run(["unshare", "-r", "chroot", root, "/trainyard", *words], capture_output=True, text=True,
                                  timeout=60, env={**os.environ, "HOME": "/"})

        here = subprocess.run([TRAINYARD, "install"], capture_output=True, text=True, check=True, timeout=60).stdout
        printed = inside("install")
        self.assertEqual(printed.stdout, here, printed.stderr)
        # Names are looked up by libraries that are loaded only then.
        said = inside("get", "tfjobs", "--kubeconfig", "/tmp/config")
        self.assertIn("refused", said.stderr, said)
        self.assertNotEqual(said.returncode, 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
