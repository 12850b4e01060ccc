"""What both servers are asked. A story is a function of a Session; it decides nothing about answers."""

import json

STORIES = []
CM = "/api/v1/namespaces/{ns}/configmaps"
PODS = "/api/v1/namespaces/{ns}/pods"
WIDGETS = "/apis/conformance.example.org/v1/namespaces/{ns}/widgets"

WIDGET_CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.conformance.example.org"},
    "spec": {
        "group": "conformance.example.org",
        "names": {"kind": "Widget", "listKind": "WidgetList", "plural": "widgets", "singular": "widget"},
        "scope": "Namespaced",
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "properties": {
                                    "size": {"type": "integer"},
                                    "colour": {"type": "string"},
                                    "parts": {
                                        "type": "array",
                                        "items": {
                                            "type": "object",
                                            "required": ["name"],
                                            "properties": {"name": {"type": "string"}, "weight": {"type": "integer"}},
                                        },
                                        "x-kubernetes-list-type": "map",
                                        "x-kubernetes-list-map-keys": ["name"],
                                    },
                                    "tags": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
                                    "steps": {"type": "array", "items": {"type": "string"}},
                                    "options": {"type": "object", "additionalProperties": {"type": "string"}},
                                    "whole": {"type": "object", "additionalProperties": {"type": "string"}, "x-kubernetes-map-type": "atomic"},
                                    "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                                    "level": {"type": "integer", "minimum": 1, "maximum": 9, "exclusiveMaximum": True, "multipleOf": 2},
                                    "mode": {"type": "string", "enum": ["on", "off"]},
                                    "code": {"type": "string", "pattern": "^[a-z]+$", "minLength": 2, "maxLength": 4},
                                    "port": {"x-kubernetes-int-or-string": True},
                                    "few": {"type": "array", "items": {"type": "number"}, "minItems": 1, "maxItems": 2},
                                    "some": {"type": "object", "additionalProperties": {"type": "integer"}, "minProperties": 1, "maxProperties": 2},
                                    "maybe": {"type": "string", "nullable": True},
                                },
                            },
                            "status": {"type": "object", "properties": {"phase": {"type": "string"}}},
                        },
                    }
                },
            }
        ],
    },
}


def story(function):
    STORIES.append(function)
    return function


def config(name, data=None, **metadata):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **metadata}, "data": data or {"a": "1"}}


def widget(name, spec=None, **metadata):
    return {"apiVersion": "conformance.example.org/v1", "kind": "Widget", "metadata": {"name": name, **metadata}, "spec": spec or {}}


def pod(name, **metadata):
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, **metadata},
        # On a node that is not there, so that nothing but the requests changes it.
        "spec": {"containers": [{"name": "c", "image": "i"}], "nodeName": "elsewhere"},
    }


@story
def create(s):
    s.create(CM, config("a"))
    s.get(CM + "/a")
    s.create(CM, config("a"), note="again")
    s.get(CM + "/none")
    s.create(CM, config("Bad_Name"))
    s.create(CM, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}}, note="no name")
    s.create(CM, {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "x"}}, note="another kind")
    s.create(CM, {"apiVersion": "v2", "kind": "ConfigMap", "metadata": {"name": "x"}}, note="another version")
    s.create(CM, config("b", namespace="elsewhere"), note="another namespace")
    s.create(CM, config("b", resourceVersion="5"), note="with a version")
    s.create(CM, "{not json", note="no JSON")
    s.create(CM, config("c", labels={"bad key!": "x"}), note="a bad label")
    s.create(CM, config("c", labels={"a": "x" * 64}), note="a long label")
    s.create(CM, config("c", annotations={"A B": "x"}), note="a bad annotation")
    s.create(CM, config("c", finalizers=["nodomain"]), note="a bad finalizer")
    s.create(CM, config("c", uid="made-up", creationTimestamp="2001-01-01T00:00:00Z", generation=7), note="with what the server gives")
    s.create("/api/v1/namespaces/absent/configmaps", config("a"), note="no such namespace")
    s.create(CM, config("d", data={"bad key/": "x"}), note="a bad key of data")


@story
def generate_name(s):
    s.create(CM, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "gen-"}})
    s.create(CM, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "Gen_"}}, note="bad")


@story
def update(s):
    s.create(CM, config("a"))
    made = s.last
    s.ask("PUT", CM + "/a", config("a", {"a": "2"}), note="without a version")
    s.ask("PUT", CM + "/a", config("a", {"a": "3"}, resourceVersion=made["metadata"]["resourceVersion"]), note="an old version")
    s.ask("PUT", CM + "/a", config("a", {"a": "3"}, uid="another"), note="another uid")
    s.ask("PUT", CM + "/a", config("b", {"a": "3"}), note="another name")
    s.ask("PUT", CM + "/none", config("none"), note="not there")
    s.ask("PUT", CM + "/a", config("a", {"a": "2"}), note="the same")
    s.ask("PUT", CM + "/a", config("a", {"a": "2"}, labels={"x": "y"}), note="labels")
    s.ask("PUT", CM + "/a", {"kind": "ConfigMap", "apiVersion": "v1", "data": {}}, note="no metadata")
    s.ask("PUT", CM + "/a", config("a", resourceVersion="abc"), note="a version that is none")


@story
def patches(s):
    s.create(CM, config("a", {"a": "1", "b": "2"}))
    s.patch(CM + "/a", "merge", {"data": {"a": None, "c": "3"}})
    s.patch(CM + "/a", "merge", {"data": {"c": "3"}}, note="changes nothing")
    s.patch(CM + "/a", "merge", {"metadata": {"resourceVersion": "1"}, "data": {"c": "4"}}, note="an old version")
    s.patch(CM + "/a", "merge", {"metadata": {"name": "b"}}, note="another name")
    s.patch(CM + "/a", "merge", {"metadata": {"uid": "b"}}, note="another uid")
    s.patch(CM + "/a", "merge", "[1]", note="a list")
    s.patch(CM + "/a", "merge", "{", note="no JSON")
    s.patch(CM + "/none", "merge", {"data": {}}, note="not there")
    s.patch(CM + "/a", "json", [{"op": "replace", "path": "/data/c", "value": "5"}])
    s.patch(CM + "/a", "json", [{"op": "test", "path": "/data/c", "value": "6"}], note="a test that fails")
    s.patch(CM + "/a", "json", [{"op": "remove", "path": "/data/zzz"}], note="nothing to remove")
    s.patch(CM + "/a", "json", [{"op": "add", "path": "/nowhere/x", "value": "5"}], note="no such place")
    s.patch(CM + "/a", "json", [{"op": "jump", "path": "/data"}], note="no such operation")
    s.patch(CM + "/a", "json", {"op": "add"}, note="not a list")
    s.patch(CM + "/a", "strategic", {"data": {"c": "7"}, "metadata": {"finalizers": ["example.org/x"]}})
    s.patch(CM + "/a", "strategic", {"metadata": {"finalizers": ["example.org/y"]}}, note="lists of finalizers merge")
    s.patch(CM + "/a", "strategic", {"metadata": {"$deleteFromPrimitiveList/finalizers": ["example.org/x", "example.org/y"]}})
    s.patch(CM + "/a", "strategic", {"data": {"$patch": "replace", "only": "this"}})
    s.ask("PATCH", CM + "/a", {"data": {}}, "application/json", note="no type of a patch")
    s.create(WIDGETS, widget("w", {"size": 1}))
    s.patch(WIDGETS + "/w", "strategic", {"spec": {"size": 2}}, note="custom resources have none")
    s.patch(WIDGETS + "/w", "merge", {"spec": {"size": "two"}}, note="another type")
    s.patch(WIDGETS + "/w", "merge", {"spec": {"size": 3}})
    s.patch(WIDGETS + "/w", "merge", {"metadata": {"labels": {"a": "b"}}}, note="no new generation")
    s.patch(WIDGETS + "/w", "merge", {"status": {"phase": "x"}}, note="status is not written here")


@story
def strategic_pod(s):
    s.create(PODS, pod("p", labels={"a": "b"}))
    s.patch(PODS + "/p", "strategic", {"spec": {"containers": [{"name": "c", "image": "j"}]}}, note="by name")
    s.patch(PODS + "/p", "strategic", {"spec": {"containers": [{"name": "d", "image": "j"}]}}, note="another container is refused")
    s.patch(PODS + "/p", "merge", {"spec": {"nodeName": "n"}}, note="a field that may not change")
    s.patch(PODS + "/p", "strategic", {"spec": {"tolerations": [{"key": "k", "operator": "Exists"}]}})
    s.patch(PODS + "/p", "merge", {"metadata": {"labels": {"a": None}}})


@story
def apply_basics(s):
    body = config("a", {"x": "1", "y": "2"})
    s.patch(CM + "/a?fieldManager=one", "apply", body, note="creates")
    s.patch(CM + "/a?fieldManager=one", "apply", body, note="again")
    s.patch(CM + "/a", "apply", body, note="no manager")
    s.patch(CM + "/a?fieldManager=two", "apply", config("a", {"x": "9"}), note="a conflict")
    s.patch(CM + "/a?fieldManager=two", "apply", config("a", {"x": "1"}), note="the same value is shared")
    s.patch(CM + "/a?fieldManager=two&force=true", "apply", config("a", {"x": "9"}), note="forced")
    s.patch(CM + "/a?fieldManager=one", "apply", config("a", {"y": "2"}), note="x is let go")
    s.patch(CM + "/a?fieldManager=two", "apply", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}, note="x is removed")
    s.patch(CM + "/a?fieldManager=one", "apply", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "managedFields": [{"manager": "x"}]}}, note="managedFields")
    s.patch(CM + "/a?fieldManager=one", "apply", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}}, note="another name")
    s.patch(CM + "/a?fieldManager=one", "apply", {"kind": "ConfigMap", "metadata": {"name": "a"}}, note="no version")
    s.patch(CM + "/a?fieldManager=one", "apply", config("a", {"y": "3"}, resourceVersion="1"), note="an old version")
    s.patch(CM + "/new?fieldManager=one", "apply", config("new", resourceVersion="1"), note="a version of nothing")
    s.patch(CM + "/a?fieldManager=" + "m" * 129, "apply", body, note="a long manager")
    s.patch(CM + "/a?fieldManager=one&force=true", "merge", {"data": {}}, note="force with another patch")
    s.patch(CM + "/a?fieldManager=one", "apply", "a: [", note="no YAML")


@story
def apply_and_update(s):
    s.patch(CM + "/a?fieldManager=one", "apply", config("a", {"x": "1", "y": "2"}))
    s.patch(CM + "/a?fieldManager=editor", "merge", {"data": {"x": "5"}}, note="an update takes a field")
    s.patch(CM + "/a?fieldManager=one", "apply", config("a", {"x": "1", "y": "2"}), note="now a conflict")
    s.patch(CM + "/a?fieldManager=one&force=true", "apply", config("a", {"x": "1", "y": "2"}), note="forced")
    s.ask("PUT", CM + "/a?fieldManager=putter", config("a", {"z": "1"}), note="put removes fields of others")
    s.patch(CM + "/a?fieldManager=one", "apply", config("a", {"x": "1", "z": "1"}))
    s.patch(CM + "/a?fieldManager=cleaner", "merge", {"metadata": {"managedFields": [{}]}}, note="managedFields cleared")
    s.patch(CM + "/a?fieldManager=one", "apply", config("a", {"x": "2"}), note="after that")
    s.create(CM + "?fieldManager=maker", config("b", {"k": "v"}))
    s.patch(CM + "/b?fieldManager=one", "apply", config("b", {"k": "w"}), note="a conflict with a create")
    s.patch(CM + "/b?fieldManager=maker", "apply", config("b", {"k": "w"}), note="the same name, another operation")


@story
def apply_unnamed(s):
    s.create(CM, config("a", {"x": "1"}))
    s.patch(CM + "/a?fieldManager=one", "apply", config("a", {"x": "2"}), note="what was there before is not free")
    s.patch(CM + "/a?fieldManager=one", "apply", config("a", {"x": "1", "y": "1"}), note="the same value is shared")
    s.patch(CM + "/a", "merge", {"data": {"y": "2"}}, note="an update by nobody")
    s.patch(CM + "/a?fieldManager=one", "apply", config("a", {"x": "1", "y": "1"}), note="that is a conflict")


@story
def apply_after_client_side(s):
    last = {"kubectl.kubernetes.io/last-applied-configuration": json.dumps(config("a", {"x": "1", "y": "1"}))}
    s.create(CM + "?fieldManager=kubectl-client-side-apply", config("a", {"x": "1", "y": "1", "z": "1"}, annotations=last))
    s.patch(CM + "/a?fieldManager=other", "apply", config("a", {"x": "2"}), note="another manager")
    s.patch(CM + "/a?fieldManager=kubectl", "apply", config("a", {"x": "2", "z": "2"}), note="more than was applied")
    s.patch(CM + "/a?fieldManager=kubectl", "apply", config("a", {"x": "2"}), note="what it applied itself")
    s.patch(CM + "/a?fieldManager=editor", "merge", {"data": {"y": "3"}})
    s.patch(CM + "/a?fieldManager=kubectl", "apply", config("a", {"x": "2", "y": "2"}), note="what was changed since")


@story
def evictions(s):
    s.create(PODS, pod("p"))
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "other"}}
    s.ask("POST", PODS + "/p/eviction", eviction, note="another name")
    binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "other"}, "target": {"kind": "Node", "name": "n"}}
    s.ask("POST", PODS + "/p/binding", binding, note="another name")


@story
def apply_metadata(s):
    s.patch(CM + "/a?fieldManager=one", "apply", config("a", labels={"l": "1"}, annotations={"n": "1"}, finalizers=["example.org/f"]))
    s.patch(CM + "/a?fieldManager=two", "apply", config("a", labels={"m": "1"}, finalizers=["example.org/g"]), note="both have a finalizer")
    s.patch(CM + "/a?fieldManager=one", "apply", config("a", labels={"l": "1"}), note="one lets its finalizer go")
    owner = s.ask("POST", CM, config("owner"), keep=False)[1]["metadata"]["uid"]
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner}
    s.patch(CM + "/a?fieldManager=one", "apply", config("a", labels={"l": "1"}, ownerReferences=[reference]), note="an owner")
    s.patch(CM + "/a?fieldManager=two", "apply", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}, note="two lets all go")


@story
def apply_widget(s):
    path = WIDGETS + "/w?fieldManager="
    s.patch(path + "one", "apply", widget("w", {"size": 1, "parts": [{"name": "a", "weight": 1}], "tags": ["x"], "steps": ["1"], "options": {"o": "1"}, "whole": {"w": "1"}, "free": {"f": {"g": [1, 2]}}}))
    s.patch(path + "two", "apply", widget("w", {"parts": [{"name": "b", "weight": 2}], "tags": ["y"], "options": {"p": "1"}}), note="lists and maps are shared")
    s.patch(path + "two", "apply", widget("w", {"steps": ["2"]}), note="an atomic list is one value")
    s.patch(path + "two", "apply", widget("w", {"whole": {"v": "1"}}), note="an atomic map is one value")
    s.patch(path + "two", "apply", widget("w", {"parts": [{"name": "a", "weight": 5}]}), note="a field of an item of another")
    s.patch(path + "two&force=true", "apply", widget("w", {"parts": [{"name": "a", "weight": 5}]}), note="forced")
    s.patch(path + "one", "apply", widget("w", {"size": 1}), note="one keeps only size")
    s.patch(path + "two", "apply", widget("w", {}), note="two keeps nothing")
    s.patch(path + "one", "apply", widget("w", {"parts": [{"name": "a"}, {"name": "a"}]}), note="the same key twice")
    s.patch(path + "one", "apply", widget("w", {"tags": ["x", "x"]}), note="the same element twice")
    s.patch(path + "one", "apply", widget("w", {"parts": [{"weight": 1}]}), note="no key")
    s.patch(path + "one", "apply", widget("w", {"size": "large"}), note="another type")
    s.patch(path + "one", "apply", widget("w", {"unknown": 1}), note="an unknown field")
    s.patch(path + "one", "apply", widget("w", {"size": None}), note="null")
    s.patch(path + "one", "apply", widget("w", {"free": {"f": {"g": [1]}}}))
    s.patch(path + "two", "apply", widget("w", {"free": {"f": {"h": 1}}}), note="fields that are not described")
    s.patch(WIDGETS + "/w/status?fieldManager=ctl", "apply", {"apiVersion": "conformance.example.org/v1", "kind": "Widget", "metadata": {"name": "w"}, "status": {"phase": "Good"}}, note="status")
    s.patch(WIDGETS + "/w/status?fieldManager=ctl", "apply", {"apiVersion": "conformance.example.org/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"size": 9}, "status": {"phase": "Good"}}, note="status alone is written")
    s.patch(path + "one", "apply", {**widget("w", {"size": 1}), "status": {"phase": "Bad"}}, note="status is not written here")
    s.get(WIDGETS + "/w")


@story
def apply_pod(s):
    body = pod("p", labels={"a": "b"})
    s.patch(PODS + "/p?fieldManager=one", "apply", body)
    s.patch(PODS + "/p?fieldManager=two", "apply", {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "k"}]}}, note="the image is another's")
    s.patch(PODS + "/p?fieldManager=two&force=true", "apply", {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "k"}]}}, note="forced")
    s.patch(PODS + "/q?fieldManager=one", "apply", {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "q"}, "spec": {"nodeName": "elsewhere", "containers": [{"name": "c", "image": "k", "env": [{"name": "A", "value": "1"}], "ports": [{"containerPort": 80, "protocol": "TCP"}]}]}}, note="lists inside lists")


@story
def delete(s):
    s.create(CM, config("a"))
    uid, version = s.last["metadata"]["uid"], s.last["metadata"]["resourceVersion"]
    s.ask("DELETE", CM + "/none")
    s.ask("DELETE", CM + "/a", {"preconditions": {"uid": "another"}}, note="another uid")
    s.ask("DELETE", CM + "/a", {"preconditions": {"resourceVersion": "1"}}, note="another version")
    s.ask("DELETE", CM + "/a", {"propagationPolicy": "Sideways"}, note="no such policy")
    s.ask("DELETE", CM + "/a", {"propagationPolicy": "Orphan", "orphanDependents": True}, note="both policies")
    s.ask("DELETE", CM + "/a", {"gracePeriodSeconds": -1}, note="a negative grace")
    s.ask("DELETE", CM + "/a?dryRun=All", note="dry")
    s.get(CM + "/a", note="still there")
    s.ask("DELETE", CM + "/a", {"preconditions": {"uid": uid, "resourceVersion": version}}, note="as it is")
    s.ask("DELETE", CM + "/a", note="again")
    s.ask("DELETE", CM + "/a", "{", note="no JSON")


@story
def finalizers(s):
    s.create(CM, config("a", finalizers=["example.org/f"]))
    s.ask("DELETE", CM + "/a")
    s.ask("DELETE", CM + "/a", note="again")
    s.patch(CM + "/a", "merge", {"data": {"b": "2"}}, note="a change while it goes")
    s.patch(CM + "/a", "merge", {"metadata": {"finalizers": ["example.org/f", "example.org/g"]}}, note="another finalizer")
    s.patch(CM + "/a", "merge", {"metadata": {"deletionTimestamp": None}}, note="back to life")
    s.ask("POST", CM, config("a"), note="the same name")
    s.patch(CM + "/a", "merge", {"metadata": {"finalizers": None}}, note="the last finalizer goes")
    s.get(CM + "/a")


@story
def garbage(s):
    def owned(name, blocks):
        uid = s.ask("GET", CM + "/owner", keep=False)[1]["metadata"]["uid"]
        reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": uid, "controller": True, "blockOwnerDeletion": blocks}
        s.ask("POST", CM, config(name, ownerReferences=[reference]), keep=False)

    for policy in ("Background", "Foreground", "Orphan"):
        s.ask("POST", CM, config("owner"), keep=False)
        owned("child", True)
        s.ask("DELETE", CM + "/owner", {"propagationPolicy": policy}, note=policy)
        s.until(lambda: not s.exists(CM + "/owner"), f"{policy}: the owner goes")
        if policy == "Orphan":
            s.get(CM + "/child", note="the child stays, without an owner")
            s.ask("DELETE", CM + "/child", keep=False)
        else:
            s.until(lambda: not s.exists(CM + "/child"), f"{policy}: the child goes")
    s.create(CM, config("lost", ownerReferences=[{"apiVersion": "v1", "kind": "ConfigMap", "name": "nobody", "uid": "no-such-uid"}]), note="an owner that never was")
    s.until(lambda: not s.exists(CM + "/lost"), "it is collected")
    s.create(CM, config("two", ownerReferences=[{"apiVersion": "v1", "kind": "A", "name": "a", "uid": "1", "controller": True}, {"apiVersion": "v1", "kind": "A", "name": "b", "uid": "2", "controller": True}]), note="two controllers")
    s.create(CM, config("part", ownerReferences=[{"apiVersion": "v1", "kind": "A", "name": "a"}]), note="an owner without uid")


@story
def lists(s):
    for index in range(5):
        s.ask("POST", CM, config(f"l{index}", labels={"n": str(index), "odd": str(index % 2)}), keep=False)
    path = CM + "?labelSelector=odd"
    s.get(path + "&limit=2")
    token = s.last["metadata"].get("continue", "")
    s.get(path + f"&limit=2&continue={token}", note="the next page")
    token = s.last["metadata"].get("continue", "")
    s.get(path + f"&limit=2&continue={token}", note="the last page")
    s.get(CM + "?limit=2&continue=nonsense", note="a bad token")
    s.get(CM + "?limit=-1&labelSelector=n%3D3", note="a negative limit")
    s.get(CM + "?limit=x", note="no number")
    s.get(CM + "?labelSelector=odd%3D1,n!%3D3")
    s.get(CM + "?labelSelector=odd+in+(0),n+notin+(0,2)")
    s.get(CM + "?labelSelector=!odd,n", note="none")
    s.get(CM + "?labelSelector=a%3D%3D%3Db", note="a bad selector")
    s.get(CM + "?fieldSelector=metadata.name%3Dl3")
    s.get(CM + "?fieldSelector=data.a%3D1", note="no such field")
    s.get(CM + "?resourceVersionMatch=Exact", note="no version")
    s.get(CM + "?resourceVersion=0&resourceVersionMatch=Exact", note="exactly any")
    s.get(CM + "?resourceVersion=abc", note="no version at all")
    s.get(CM + "?resourceVersion=1&resourceVersionMatch=Nearly", note="no such match")
    s.ask("DELETE", CM + "?labelSelector=odd%3D1", note="a collection")
    s.get(CM + "?labelSelector=odd", note="what is left")


@story
def watches(s):
    s.create(CM, config("w0", labels={"k": "v"}))
    version = s.last["metadata"]["resourceVersion"]

    def life():
        s.ask("POST", CM, config("w1", labels={"k": "v"}), keep=False)
        s.ask("PATCH", CM + "/w1", {"data": {"a": "2"}}, "application/merge-patch+json", keep=False)
        s.ask("PATCH", CM + "/w1", {"metadata": {"labels": {"k": "other"}}}, "application/merge-patch+json", keep=False)
        s.ask("PATCH", CM + "/w1", {"metadata": {"labels": {"k": "v"}}}, "application/merge-patch+json", keep=False)
        s.ask("DELETE", CM + "/w1", keep=False)

    s.watch(CM + f"?labelSelector=k%3Dv&resourceVersion={version}", life, 5)
    s.watch(CM + "?fieldSelector=metadata.name%3Dw0", lambda: None, 1)
    s.watch(CM + "?fieldSelector=metadata.name%3Dw0&resourceVersion=0", lambda: None, 1)
    s.watch(CM + "?fieldSelector=metadata.name%3Dw0&resourceVersion=1", lambda: None, 1, 3)
    s.watch(CM + "?fieldSelector=metadata.name%3Dw0&resourceVersion=abc", lambda: None, 1, 3)
    s.watch(CM + "?sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&fieldSelector=metadata.name%3Dw0", lambda: None, 2)
    s.watch(CM + "?sendInitialEvents=true", lambda: None, 1, 3)


@story
def dry_run(s):
    s.create(CM + "?dryRun=All", config("a"))
    s.get(CM + "/a")
    s.create(CM + "?dryRun=Some", config("a"))
    s.create(CM, config("a"))
    s.ask("PUT", CM + "/a?dryRun=All", config("a", {"a": "2"}))
    s.patch(CM + "/a?dryRun=All", "merge", {"data": {"a": "3"}})
    s.patch(CM + "/a?dryRun=All&fieldManager=one&force=true", "apply", config("a", {"a": "4"}))
    s.get(CM + "/a", note="unchanged")


@story
def field_validation(s):
    strange = {**widget("w", {"size": 1, "unknwon": 2}), "bogus": True}
    for mode in ("Strict", "Warn", "Ignore"):
        s.create(WIDGETS + f"?dryRun=All&fieldValidation={mode}", strange, note=mode)
    s.create(WIDGETS + "?fieldValidation=Maybe", strange)
    twice = '{"apiVersion":"conformance.example.org/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"size":1,"size":2}}'
    for mode in ("Strict", "Warn"):
        s.create(WIDGETS + f"?dryRun=All&fieldValidation={mode}", twice, note="a field twice, " + mode)
        s.create(CM + f"?dryRun=All&fieldValidation={mode}", {**config("x"), "datum": {}}, note="a core kind, " + mode)
    s.create(WIDGETS, {**widget("kept", {"size": 1, "unknwon": 2, "free": {"any": {"thing": 1}}}), "bogus": 1}, note="what is not described is dropped")
    s.patch(WIDGETS + "/kept?fieldValidation=Strict", "merge", {"spec": {"more": 1}}, note="in a patch")
    s.create(CM, {**config("core", annotations={"a": "1"}), "datum": {"a": 1}}, note="dropped of a core kind")
    s.ask("PUT", CM + "/core?fieldValidation=Ignore", {**config("core"), "datum": {"a": 1}}, note="dropped unasked")
    s.patch(CM + "/core", "merge", {"datum": {"a": 1}, "data": {"b": "2"}}, note="dropped of a patch")
    s.patch(CM + "/core?fieldManager=one", "apply", {**config("core"), "datum": {"a": 1}}, note="an apply of it")
    s.create(PODS + "?dryRun=All", {**pod("p"), "spec": {"nodeName": "elsewhere", "containers": [{"name": "c", "image": "i", "imagge": "j"}]}}, note="dropped of a container")
    s.create(WIDGETS, widget("bad", {"size": "large"}), note="another type")
    s.create(WIDGETS, widget("bad", {"parts": [{"name": "a"}, {"name": "a"}]}), note="a key twice")
    s.create(WIDGETS, widget("bad", {"tags": ["a", "a"]}), note="an element twice")
    s.create(WIDGETS, widget("bad", {"parts": [{"weight": 1}]}), note="a required field")


@story
def values(s):
    for note, spec in (
        ("as described", {"level": 2, "mode": "on", "code": "abc", "port": "80%", "few": [1, 1.5], "some": {"a": 1}, "maybe": None}),
        ("a whole number with a point", {"level": 4.0, "port": 80}),
        ("too small", {"level": 0}),
        ("too large", {"level": 9}),
        ("no multiple", {"level": 3}),
        ("another word", {"mode": "auto"}),
        ("no match", {"code": "ABC"}),
        ("too short", {"code": "a"}),
        ("too long", {"code": "abcde"}),
        ("neither number nor text", {"port": True}),
        ("a number that is not whole", {"size": 1.5}),
        ("too many items", {"few": [1, 2, 3]}),
        ("too few items", {"few": []}),
        ("too many members", {"some": {"a": 1, "b": 2, "c": 3}}),
        ("too few members", {"some": {}}),
        ("another type in a map", {"some": {"a": "x"}}),
        ("no list", {"steps": {"a": 1}}),
        ("no object", {"options": []}),
        ("null where a value is wanted", {"colour": None}),
        ("null in a list", {"steps": [None]}),
        ("many at once", {"level": "x", "mode": 1, "code": [], "tags": ["a", "a"], "parts": [{"name": 1}]}),
    ):
        s.create(WIDGETS + "?dryRun=All", widget("w", spec), note=note)
    s.create(WIDGETS, widget("w", {"size": 1}))
    s.patch(WIDGETS + "/w", "merge", {"spec": {"size": None, "mode": "auto"}}, note="in a patch")
    s.patch(WIDGETS + "/w", "json", [{"op": "add", "path": "/spec/level", "value": 100}], note="in a list of operations")
    version = s.ask("GET", WIDGETS + "/w", keep=False)[1]["metadata"]["resourceVersion"]
    s.ask("PUT", WIDGETS + "/w", widget("w", {"port": [1]}, resourceVersion=version), note="in an update")
    s.ask("PUT", WIDGETS + "/w", widget("w", {"port": 1}), note="an update without a version")
    s.patch(WIDGETS + "/w/status", "merge", {"status": {"phase": 1}}, note="in the status")
    s.get(WIDGETS + "/w", note="unchanged")


@story
def pod_values(s):
    """What a pod's decoder and its validation refuse."""

    def ask(note, container=None, **spec):
        body = pod("p")
        body["spec"]["containers"][0].update(container or {})
        body["spec"].update(spec)
        s.create(PODS + "?dryRun=All", body, note=note)

    def env(**entry):
        return {"env": [{"name": "A", **entry}]}

    def field(path):
        return env(valueFrom={"fieldRef": {"fieldPath": path}})

    def mount(**more):
        return {"volumeMounts": [{"name": "v", "mountPath": "/v", **more}]}

    empty = [{"name": "v", "emptyDir": {}}]
    ask("text for a number", {"securityContext": {"runAsUser": "root"}})
    ask("a number for text", env(value=1))
    ask("text for a list", {"command": "echo hi"})
    ask("a flag in a list of texts", {"args": ["a", True]})
    ask("text for an object", {"securityContext": "x"})
    ask("an object for a list", tolerations={"key": "a"})
    ask("a number for an object", affinity=1)
    ask("text for a flag", hostNetwork="yes")
    ask("a number in a map of texts", nodeSelector={"a": 1})
    ask("a list for a map", nodeSelector=[])
    ask("too large for its type", priority=2147483648)
    ask("not whole", activeDeadlineSeconds=1.5)
    ask("a flag for a port", {"livenessProbe": {"httpGet": {"port": True}}})
    s.create(PODS + "?dryRun=All", pod("p", labels={"a": 1}), note="a number for a label")
    s.create(CM + "?dryRun=All", config("c", {"a": 1}), note="a number for data")
    ask("a way out of the host's directory", volumes=[{"name": "v", "hostPath": {"path": "/a/../b"}}])
    ask("two sources of a volume", volumes=[{"name": "v", "emptyDir": {}, "hostPath": {"path": "/a"}}])
    ask("a way out of a volume", mount(subPath="../x"), volumes=empty)
    ask("an absolute path in a volume", mount(subPath="/x"), volumes=empty)
    ask("a path in a volume said twice", mount(subPath="x", subPathExpr="y"), volumes=empty)
    ask("a variable with a sign", {"env": [{"name": "A=B", "value": "x"}]})
    ask("a field that is not there", field("metadata.nome"))
    ask("a field that cannot be told", field("metadata.labels"))
    ask("no field", env(valueFrom={"fieldRef": {}}))
    ask("a probe of two kinds", {"livenessProbe": {"exec": {"command": ["a"]}, "tcpSocket": {"port": 1}}})
    ask("a probe of no kind", {"readinessProbe": {"periodSeconds": 1}})


@story
def volume_values(s):
    """What validation refuses of volumes, and of the mounts that name them."""

    def ask(note, source, mount=None):
        body = pod("p")
        body["spec"]["containers"][0]["volumeMounts"] = [{"name": "v", "mountPath": "/v"}] if mount is None else mount
        body["spec"]["volumes"] = [{"name": "v", **source}]
        body["spec"]["serviceAccountName"] = "default"  # which a cluster's admission fills in: tokens need one
        s.create(PODS + "?dryRun=All", body, note=note)

    def items(*paths, **more):
        return [{"key": "k", "path": path, **more} for path in paths]

    def files(*paths):
        return [{"path": path, "fieldRef": {"fieldPath": "metadata.name"}} for path in paths]

    def projected(*sources, **more):
        return {"projected": {"sources": list(sources), **more}}

    ask("a way out of a configMap", {"configMap": {"name": "c", "items": items("../x")}})
    ask("a way out in the middle", {"configMap": {"name": "c", "items": items("a", "a/../b")}})
    ask("an absolute path", {"secret": {"secretName": "s", "items": items("/x")}})
    ask("a name that the node keeps", {"secret": {"secretName": "s", "items": items("..data")}})
    ask("neither key nor path", {"secret": {"secretName": "s", "items": [{}]}})
    ask("no configMap", {"configMap": {}})
    ask("no secret", {"secret": {}})
    ask("no claim", {"persistentVolumeClaim": {}})
    ask("no path of the host", {"hostPath": {}})
    ask("a type of file that is none", {"hostPath": {"path": "/a", "type": "Folder"}})
    ask("a mode that is none", {"configMap": {"name": "c", "items": items("x", mode=512)}})
    ask("a mode below nothing", {"secret": {"secretName": "s", "defaultMode": -1}})
    ask("a size below nothing", {"emptyDir": {"sizeLimit": "-1"}})
    ask("a field's file outside", {"downwardAPI": {"items": files("../x")}})
    ask("a file of nothing", {"downwardAPI": {"items": [{"path": "x"}]}})
    ask("a field that no file is told", {"downwardAPI": {"items": [{"path": "x", "fieldRef": {"fieldPath": "status.podIP"}}]}})
    ask("a resource of no container", {"downwardAPI": {"items": [{"path": "x", "resourceFieldRef": {"resource": "limits.cpu"}}]}})
    ask("one place for two files", projected({"secret": {"name": "s", "items": items("a")}}, {"configMap": {"name": "c", "items": items("a")}}))
    ask("one place for two fields", projected({"downwardAPI": {"items": files("a", "a")}}))
    ask("a way out of what is projected", projected({"configMap": {"name": "c", "items": items("../a")}}))
    ask("two sources in one", projected({"secret": {"name": "s"}, "configMap": {"name": "c"}}))
    ask("a token for a minute", projected({"serviceAccountToken": {"path": "t", "expirationSeconds": 60}}))
    ask("a token outside", projected({"serviceAccountToken": {"path": "../t"}}))
    ask("a mount twice", {"emptyDir": {}}, [{"name": "v", "mountPath": "/v"}, {"name": "v", "mountPath": "/v"}])
    ask("a mount of nothing", {"emptyDir": {}}, [{"mountPath": "/v"}])


@story
def sizes(s):
    """What is too large."""
    s.create(CM + "?dryRun=All", {**config("c", {"a": "1"}), "metadata": {"name": "c", "annotations": {"a": "x" * 300_000}}}, note="annotations")
    s.create(CM, config("c", {"a": "x" * 100_000}))
    copies = [{"op": "copy", "from": "/data/a", "path": f"/data/b{i}"} for i in range(100)]
    s.patch(CM + "/c", "json", copies, note="what a patch copies")


@story
def status_subresource(s):
    s.create(WIDGETS, {**widget("w", {"size": 1}), "status": {"phase": "Made up"}}, note="status is dropped")
    body = s.last
    body["status"] = {"phase": "Good"}
    body["spec"]["size"] = 9
    body["metadata"]["labels"] = {"l": "1"}
    s.ask("PUT", WIDGETS + "/w/status", body, note="only status changes")
    s.ask("PUT", WIDGETS + "/w/status", body, note="an old version")
    s.patch(WIDGETS + "/w/status", "merge", {"status": {"phase": "Better"}, "spec": {"size": 9}})
    s.get(WIDGETS + "/w/status")
    s.get(WIDGETS + "/none/status")
    s.patch(WIDGETS + "/w/nothing", "merge", {}, note="no such subresource")
    s.create(PODS, pod("p"))
    s.patch(PODS + "/p/status", "strategic", {"status": {"conditions": [{"type": "A", "status": "True"}]}})
    s.patch(PODS + "/p/status", "strategic", {"status": {"conditions": [{"type": "B", "status": "True"}]}}, note="conditions merge by type")
    s.patch(PODS + "/p/status", "merge", {"status": {"phase": "Running"}})


def settled(body):
    """A pod with what admission of the real server would add to it."""
    reasons = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
    waits = [{"effect": "NoExecute", "key": key, "operator": "Exists", "tolerationSeconds": 1} for key in reasons]
    body["spec"].update(priority=0, preemptionPolicy="PreemptLowerPriority", serviceAccount="default", serviceAccountName="default", tolerations=waits)
    return body


def sized(name, requests, limits=None, more=None, **spec):
    """A pod of one container with resources."""
    body = settled(pod(name))
    body["spec"]["containers"][0]["resources"] = {"requests": requests, **({"limits": limits} if limits else {})}
    body["spec"]["containers"][0].update(more or {})
    body["spec"].update(spec)
    return body


def resources(*, name="c", **amounts):
    return {"spec": {"containers": [{"name": name, "resources": amounts}]}}


@story
def resize(s):
    s.create(PODS, sized("p", {"cpu": "100m", "memory": "64Mi"}, {"cpu": "1", "memory": "128Mi"}))
    s.get(PODS + "/p/resize")
    s.patch(PODS + "/p/resize", "strategic", resources(requests={"cpu": "200m"}))
    s.patch(PODS + "/p/resize", "merge", {"spec": {"containers": [{"name": "c", "image": "other", "resources": {"requests": {"cpu": "300m", "memory": "64Mi"}, "limits": {"cpu": "1", "memory": "128Mi"}}}]}}, note="an image is not taken")
    s.patch(PODS + "/p/resize", "json", [{"op": "replace", "path": "/spec/containers/0/resources/limits/memory", "value": "256Mi"}])
    s.patch(PODS + "/p/resize", "strategic", {"metadata": {"labels": {"a": "b"}}, "spec": {"activeDeadlineSeconds": 5}}, note="nothing but resources")
    s.patch(PODS + "/p/resize?dryRun=All", "strategic", resources(requests={"cpu": "500m"}), note="a dry run")
    s.get(PODS + "/p", note="unchanged by it")
    body = s.last
    body["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "400m"
    s.ask("PUT", PODS + "/p/resize", body)
    s.ask("PUT", PODS + "/p/resize", body, note="an old version")
    s.patch(PODS + "/p/resize?fieldManager=one&force=true", "apply", {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, **resources(requests={"cpu": "600m"})}, note="applied")
    s.patch(PODS + "/p/resize?fieldManager=two", "apply", {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, **resources(requests={"cpu": "700m"})}, note="applied by another")
    s.patch(PODS + "/p", "strategic", resources(requests={"cpu": "800m"}), note="not without the subresource")
    s.get(PODS + "/none/resize")
    s.patch(PODS + "/none/resize", "strategic", resources(requests={"cpu": "1"}))
    s.patch(PODS + "/none/resize?fieldManager=one", "apply", {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "none"}}, note="applied to nothing")
    s.ask("DELETE", PODS + "/p/resize")
    s.ask("POST", PODS + "/p/resize", body)


@story
def resize_refused(s):
    restart = {"resizePolicy": [{"resourceName": "memory", "restartPolicy": "RestartContainer"}]}
    s.create(PODS, sized("p", {"cpu": "100m", "memory": "64Mi"}, {"cpu": "1", "memory": "128Mi"}))
    s.patch(PODS + "/p/resize", "strategic", resources(limits={"memory": "64Mi"}), note="a lower memory limit")
    s.patch(PODS + "/p/resize", "strategic", resources(limits={"cpu": "500m"}), note="a lower CPU limit")
    s.patch(PODS + "/p/resize", "strategic", resources(requests={"memory": None}, limits={"memory": None}), note="amounts taken away")
    s.patch(PODS + "/p/resize", "strategic", resources(requests={"cpu": "2"}), note="more than the limit")
    s.patch(PODS + "/p/resize", "strategic", resources(requests={"cpu": "-1"}), note="less than nothing")
    s.patch(PODS + "/p/resize", "strategic", resources(requests={"cpu": "a lot"}), note="no amount")
    s.patch(PODS + "/p/resize", "strategic", resources(requests={"ephemeral-storage": "1Gi"}), note="another resource")
    s.patch(PODS + "/p/resize", "strategic", resources(requests={"cpu": "500m", "memory": "128Mi"}), note="another quality of service")
    s.patch(PODS + "/p/resize", "strategic", {"spec": {"containers": [{"name": "d", "image": "i"}]}}, note="another container")
    s.patch(PODS + "/p/resize", "json", [{"op": "replace", "path": "/spec/containers/0/name", "value": "d"}], note="another name")
    s.patch(PODS + "/p/resize", "strategic", {"spec": {"containers": [{"name": "c", **restart}]}}, note="another policy")
    s.patch(PODS + "/p/resize?fieldValidation=Strict", "strategic", {"spec": {"containers": [{"name": "c", "resorces": {}}]}}, note="a misspelt field")
    s.create(PODS, sized("q", {"cpu": "100m"}, more=restart))
    s.patch(PODS + "/q/resize", "strategic", resources(limits={"cpu": "1", "memory": "1Gi"}), note="limits added")
    s.patch(PODS + "/q/resize", "strategic", resources(limits={"memory": "512Mi"}, requests={"memory": "512Mi"}), note="a lower one where the policy allows it")
    s.create(PODS, sized("r", {"cpu": "100m"}))
    s.patch(PODS + "/r/resize", "strategic", resources(limits={"memory": "1Gi"}), note="a memory limit added")
    s.create(PODS, settled(pod("b")))
    s.patch(PODS + "/b/resize", "strategic", resources(requests={"cpu": "1"}), note="of a pod that asked for nothing")
    starters = [{"name": "init", "image": "i", "resources": {"requests": {"cpu": "1"}}}, {"name": "side", "image": "i", "restartPolicy": "Always", "resources": {"requests": {"cpu": "1"}}}]
    s.create(PODS, sized("t", {"cpu": "100m"}, initContainers=starters))
    s.patch(PODS + "/t/resize", "strategic", {"spec": {"initContainers": [{"name": "init", "resources": {"requests": {"cpu": "2"}}}]}}, note="an init container")
    s.patch(PODS + "/t/resize", "strategic", {"spec": {"initContainers": [{"name": "side", "resources": {"requests": {"cpu": "2"}}}]}}, note="a sidecar")
    for note, policy in (
        ("no such resource", [{"resourceName": "disk", "restartPolicy": "NotRequired"}]),
        ("no such policy", [{"resourceName": "cpu", "restartPolicy": "Perhaps"}]),
        ("a resource twice", [{"resourceName": "cpu", "restartPolicy": "NotRequired"}] * 2),
        ("no policy", [{"resourceName": "cpu"}]),
    ):
        s.create(PODS + "?dryRun=All", sized("x", {"cpu": "1"}, more={"resizePolicy": policy}), note=note)
    s.create(PODS + "?dryRun=All", sized("x", {"cpu": "1"}, more=restart, restartPolicy="Never"), note="a restart where there is none")


@story
def nulls(s):
    s.create(CM, {**config("a", {"a": None, "b": "2"}), "immutable": None, "binaryData": None}, note="of a core kind")
    s.ask("PUT", CM + "/a", {**config("a", {"b": None}, labels=None), "immutable": None}, note="in an update")
    s.patch(CM + "/a", "json", [{"op": "add", "path": "/data/c", "value": None}, {"op": "add", "path": "/immutable", "value": None}], note="by operations")
    s.patch(CM + "/a", "json", [{"op": "add", "path": "/metadata/annotations", "value": {"x": None}}], note="in a map")
    s.patch(CM + "/a?fieldManager=one", "apply", config("a", {"d": None}), note="applied")
    body = settled(pod("p"))
    body["spec"].update({"dnsPolicy": None, "hostname": None, "nodeSelector": {"a": None}, "activeDeadlineSeconds": None})
    body["spec"]["containers"][0].update({"command": ["a", None], "env": [{"name": "A", "value": None}], "resources": None})
    s.create(PODS + "?dryRun=All", body, note="in a pod")
    s.create(PODS, settled(pod("p")))
    s.patch(PODS + "/p/status", "strategic", {"status": {"conditions": [{"type": "A", "status": "True", "lastProbeTime": None, "reason": None}], "startTime": None}}, note="times")
    s.create(PODS + "?dryRun=All", {**pod("q"), "spec": {"containers": [None], "nodeName": "elsewhere"}}, note="for a container")
    s.create(WIDGETS, widget("w", {"size": 1, "colour": None, "maybe": None, "options": {"a": None}, "free": {"x": None}}))
    s.patch(WIDGETS + "/w", "json", [{"op": "add", "path": "/spec/colour", "value": None}, {"op": "add", "path": "/spec/maybe", "value": None}], note="by operations on a custom kind")
    s.patch(WIDGETS + "/w", "json", [{"op": "add", "path": "/spec/options", "value": {"a": None, "b": "c"}}, {"op": "add", "path": "/spec/parts", "value": [{"name": "p", "weight": None}]}], note="deeper")
    s.patch(WIDGETS + "/w", "merge", {"spec": {"parts": [{"name": "q", "weight": None}]}}, note="in a list of a merge")


@story
def patched_types(s):
    s.create(CM, config("a"))
    s.patch(CM + "/a", "json", [{"op": "add", "path": "/data/b", "value": 1}], note="a number for text")
    s.patch(CM + "/a", "json", [{"op": "replace", "path": "/data", "value": []}], note="a list for a map")
    s.patch(CM + "/a", "json", [{"op": "add", "path": "/metadata/labels", "value": {"a": True}}], note="a flag for a label")
    for mode in ("Strict", "Warn", "Ignore"):
        s.patch(CM + f"/a?fieldValidation={mode}", "json", [{"op": "add", "path": "/datum", "value": {"a": 1}}], note="an unknown field, " + mode)
        s.patch(CM + f"/a?fieldValidation={mode}", "strategic", {"datum": {"a": 1}}, note="an unknown field, " + mode)
    s.create(PODS, settled(pod("p")))
    s.patch(PODS + "/p", "json", [{"op": "add", "path": "/spec/activeDeadlineSeconds", "value": "soon"}], note="text for a number")
    s.patch(PODS + "/p", "json", [{"op": "replace", "path": "/spec/containers/0/image", "value": 7}], note="a number for an image")
    s.patch(PODS + "/p/status", "json", [{"op": "add", "path": "/status/startTime", "value": 5}], note="in the status")
    s.create(WIDGETS, widget("w", {"size": 1}))
    s.patch(WIDGETS + "/w", "json", [{"op": "add", "path": "/spec/colour", "value": 5}], note="of a custom kind")
    for mode in ("Strict", "Warn"):
        s.patch(WIDGETS + f"/w?fieldValidation={mode}", "json", [{"op": "add", "path": "/spec/bogus", "value": 5}], note="an unknown field of a custom kind, " + mode)


@story
def paths(s):
    s.get("/api/v1/namespaces/{ns}/nothings")
    s.get("/apis/nothing.example.org/v1/things")
    s.get("/apis/conformance.example.org/v2/namespaces/{ns}/widgets")
    s.ask("POST", CM + "/a", config("a"), note="a verb that is not there")
    s.ask("PUT", CM, config("a"), note="a collection cannot be put")
    s.get("/api/v1/configmaps?fieldSelector=metadata.namespace%3D{ns}&labelSelector=none", note="all namespaces")


@story
def immutable_config(s):
    s.create(CM, {**config("a"), "immutable": True})
    s.patch(CM + "/a", "merge", {"data": {"a": "2"}})
    s.patch(CM + "/a", "merge", {"immutable": False})
    s.patch(CM + "/a", "merge", {"metadata": {"labels": {"x": "y"}}})
