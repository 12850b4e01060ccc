"""What a plane leaves on a machine: processes, control groups, network namespaces, mounts, devices,
packet filter rules, ports. Found from outside, by a mark in the environment of everything it starts."""

import os
import pathlib
import shutil
import socket
import subprocess

PROC = pathlib.Path("/proc")


def read(path):
    try:
        return pathlib.Path(path).read_bytes()
    except OSError:
        return b""


def link(path):
    try:
        return os.readlink(path)
    except OSError:
        return ""


def is_zombie(pid):
    stat = read(PROC / str(pid) / "stat")
    return not stat or stat.rpartition(b")")[2].split()[0] == b"Z"


def addresses(pid):
    """Those of the network that the process is in, loopback aside."""
    found, last = set(), ""
    for line in read(PROC / str(pid) / "net/fib_trie").decode().splitlines():
        words = line.split()
        if words[:1] == ["|--"]:
            last = words[1]
        elif words[1:] == ["host", "LOCAL"] and not last.startswith("127."):
            found.add(last)
    return found


def planes_of(pid):
    """Parts of its control groups that are one plane's alone."""
    groups = read(PROC / str(pid) / "cgroup").decode().splitlines()
    paths = [line.split(":", 2)[2] for line in groups]
    return {path.split("/trainyard/", 1)[1].split("/")[0] for path in paths if "/trainyard/" in path}


class Traces:
    """What was seen of a plane while it ran."""

    def __init__(self, mark, folder):
        self.mark = mark.encode()
        self.folder = str(folder)
        self.processes_seen = 0
        self.networks = {}      # of the form net:[4026532000], with the addresses seen there
        self.names = set()      # parts of control groups that are the plane's alone
        self.own_network = link("/proc/self/ns/net")

    def processes(self):
        """Processes with the mark, or whose command line names the data folder; not ourselves."""
        found = {}
        for entry in PROC.iterdir():
            if not entry.name.isdigit() or int(entry.name) == os.getpid() or is_zombie(entry.name):
                continue
            line = read(entry / "cmdline")
            if self.mark in read(entry / "environ") or self.folder.encode() in line:
                found[int(entry.name)] = line.replace(b"\0", b" ").decode(errors="replace").strip()
        return found

    def look(self):
        """Remembers where marked processes are."""
        for pid in self.processes():
            self.processes_seen += 1
            network = link(PROC / str(pid) / "ns/net")
            if network and network != self.own_network:
                self.networks.setdefault(network, set()).update(addresses(pid))
            self.names |= planes_of(pid)

    def left_cgroups(self):
        found = []
        for name in self.names:
            for root, folders, _ in os.walk("/sys/fs/cgroup"):
                found += [os.path.join(root, one) for one in folders if one == name]
        return found

    def is_ours(self, network, pid):
        """The kernel gives a number again, to whoever comes next: whether this process is in the plane's still."""
        return bool(addresses(pid) & self.networks[network] or planes_of(pid) & self.names)

    def left_networks(self):
        found = []
        for entry in PROC.iterdir():
            network = link(entry / "ns/net") if entry.name.isdigit() else ""
            if network in self.networks and self.is_ours(network, entry.name):
                found.append(f"{network} held by {entry.name}")
        # One that is mounted in the plane's folder is found whatever its number.
        return found + [f"{line.split()[3]} is mounted" for line in read("/proc/self/mountinfo").decode().splitlines()
                        if self.folder in line and "net:[" in line]

    def left_mounts(self):
        return [line.split()[4] for line in read("/proc/self/mountinfo").decode().splitlines()
                if self.folder in line]

    def left_devices(self):
        return [one for _, one in socket.if_nameindex() for name in self.names if name in one]

    def left_rules(self):
        if not shutil.which("iptables-save") or not self.names:
            return []
        rules = subprocess.run(["iptables-save"], capture_output=True, text=True, timeout=30).stdout
        return [line for line in rules.splitlines() for name in self.names if name in line]

    @staticmethod
    def left_port(port):
        """Whether anybody listens on it."""
        wanted = f":{port:04X}"
        found = []
        for table in ("/proc/net/tcp", "/proc/net/tcp6"):
            for line in read(table).decode().splitlines()[1:]:
                words = line.split()
                if words[1].endswith(wanted) and words[3] == "0A":
                    found.append(f"port {port} is listened on")
        return found

    def left(self, port):
        """Kind of thing -> what is there."""
        return {
            "process": [f"{pid} {line}" for pid, line in self.processes().items()],
            "cgroup": self.left_cgroups(),
            "network namespace": self.left_networks(),
            "mount": self.left_mounts(),
            "network device": self.left_devices(),
            "packet filter rule": self.left_rules(),
            "port": self.left_port(port),
        }
