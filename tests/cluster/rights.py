"""What a program asked of the API server, and what its roles let it ask: sets of (group, resource, verb)."""

import re

VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
# A namespace is never taken for the resource that is asked for: none of ours asks for namespaces by name.
PATH = re.compile(r"/(?:api/v1|apis/(?P<group>[^/]+)/[^/]+)(?:/namespaces/[^/]+(?=/))?/(?P<resource>[^/]+)(?:/(?P<name>[^/]+)(?:/(?P<sub>[^/]+))?)?")


def asked(method, path):
    """The group, the resource with its subresource, and the verb of a request; None when it is for no object."""
    match = PATH.fullmatch(path.split("?")[0])
    if not match:
        return None
    read = "watch" if "watch=" in path else "get" if match["name"] else "list"
    sub = "/" + match["sub"] if match["sub"] else ""
    return match["group"] or "", match["resource"] + sub, VERBS.get(method, read)


def used_in(log):
    """Of the log of a Proxy."""
    return {one for one in (asked(method, path) for method, path in log) if one}


def granted_to(api, account, namespace):
    """By the cluster role of the account and by its role for the lease."""
    granted = set()
    roles = "/apis/rbac.authorization.k8s.io/v1"
    for path in (f"{roles}/clusterroles/{account}", f"{roles}/namespaces/{namespace}/roles/{account}-lease"):
        for rule in api.request("GET", path)["rules"]:
            granted |= {(group, resource, verb) for group in rule["apiGroups"] for resource in rule["resources"] for verb in rule["verbs"]}
    return granted
