"""What a program asked of the API server, and what its roles let it ask: sets of (group, resource, verb)."""

import re

VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}


def asked(path):
    """group, resource and subresource of a request's path."""
    path = path.split("?")[0]
    match = re.match(r"^/(?:api/v1|apis/([^/]+)/[^/]+)(?:/namespaces/[^/]+)?/([^/]+)(?:/[^/]+(?:/([^/]+))?)?$", path)
    if not match:
        return None
    group, resource, sub = match.groups()
    return group or "", resource + ("/" + sub if sub else "")


def verb_of(method, path):
    if method != "GET":
        return VERBS[method]
    if "watch=" in path:
        return "watch"
    plain = path.split("?")[0]
    named = re.match(r"^/(?:api/v1|apis/[^/]+/[^/]+)(?:/namespaces/[^/]+)?/[^/]+/[^/]+", plain)
    return "get" if named else "list"


def used_in(log):
    """Of the log of a Proxy."""
    return {(*asked(path), verb_of(method, path)) for method, path in log if asked(path)}


def granted_to(api, account, namespace):
    """By the cluster role of the account and by its role for the lease."""
    granted = set()
    roles = "/apis/rbac.authorization.k8s.io/v1"
    for path in (f"{roles}/clusterroles/{account}", f"{roles}/namespaces/{namespace}/roles/{account}-lease"):
        for rule in api.request("GET", path)["rules"]:
            granted |= {(group, resource, verb) for group in rule["apiGroups"] for resource in rule["resources"] for verb in rule["verbs"]}
    return granted
