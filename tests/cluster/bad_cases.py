"""The malformed manifests of tests/bad: what `trainyard validate` refuses, the API server refuses as well."""

import re

from api import ApiError
from cluster import ROOT
from yard import case, check, same

PLURALS = {"TFJob": "tfjobs", "TensorFlowTrainingJob": "tensorflowtrainingjobs"}
# Those that the API server takes; the operator tells of them in the status.
TAKEN = {
    # Rules do not see annotations.
    "tfjob.txt": {"an unknown restart scope", "hold-deletion is neither"},
    "templates.txt": {
        # Rules over the lists of containers cost more than the API server allows where lists are open.
        "two ports of one name",
        "a mount of no volume",
        # Amounts have no type, for a fraction may stand there without quotes; nor is there arithmetic with them.
        "a quantity that is a list",
        "more requested than the limit",
        "devices in halves, by another name, or promised twice",
        # Of volumes, mounts and probes only names, paths and types are described: in full a pod is 150 KB.
        "volumes with two sources, or a way out",
        "files of volumes that lead out, and modes that are none",
        "mounts that lead out of their volume",
        "probes with no handler or two",
        "hooks, probes and a start that no server takes",
        # Nor are the fields by which the cluster places a pod and looks names up for it.
        "a pod that no server takes",
        "tolerations, spread constraints and the like that no server takes",
        "an affinity that no server takes",
    },
}


def edited(base, edits):
    """Blocks of -lines and +lines applied to the base, as tests/cli/bad_cases.h says."""
    lines, at = list(base), 0
    while at < len(edits):
        out, put = [], []
        while at < len(edits) and edits[at].startswith("-"):
            out.append(edits[at][1:])
            at += 1
        while at < len(edits) and edits[at].startswith("+"):
            put.append(edits[at][1:])
            at += 1
        place = next((i for i in range(len(lines)) if lines[i : i + len(out)] == out), len(lines)) if out else len(lines)
        lines[place : place + len(out)] = put
    return lines


def malformed(name):
    """The manifests of a file: (name of the case, text)."""
    base = []
    for section in re.split(r"(?m)^(?==== |=:= )", (ROOT / "tests/bad" / name).read_text())[1:]:
        head, *body = section.splitlines()
        manifest = body[: body.index(">>>")] if ">>>" in body else body
        if head == "=== base":
            base = manifest
        else:
            yield head[4:], "\n".join(manifest if head.startswith("=:=") else edited(base, manifest)) + "\n"


def kind_of(text):
    """Where to send it: (apiVersion, plural) of a document of our kinds, None for others and for several documents."""
    version = re.search(r"(?m)^apiVersion: *(kubeflow\.org/v\w+|batch\.tensorstack\.dev/v1beta1) *$", text)
    kind = re.search(r"(?m)^kind: *(\w+) *$", text)
    if not version or not kind or kind.group(1) not in PLURALS or re.search(r"(?m)^---", text):
        return None
    return version.group(1), PLURALS[kind.group(1)]


@case("CRD: every malformed manifest that `validate` refuses is refused by the API server, but for those that no rule can tell")
def refused_by_both(world):
    sent, taken = 0, {}
    for file in ("tfjob.txt", "t9k.txt", "templates.txt", "fields.txt", "identity.txt", "yaml.txt"):
        for name, text in malformed(file):
            if not (where := kind_of(text)):
                continue
            sent += 1
            try:
                path = f"/apis/{where[0]}/namespaces/{world.ns}/{where[1]}?dryRun=All&fieldValidation=Strict"
                world.api.request("POST", path, text.encode(), content_type="application/yaml")
                taken.setdefault(file, set()).add(name)
            except ApiError as error:
                check(400 <= error.code < 500, f"{file}: {name}: {error}")
    check(sent > 150, f"only {sent} manifests")
    same(taken, TAKEN, "taken by the API server")
    return f"{sent} manifests"
