// Schemas of rights, reviews, networks, budgets and events.
#include "server/schema_text.h"

namespace trainyard::server {

const std::string_view kPolicySchemas = R"(
package io.k8s.api.rbac.v1
type Role kind rbac.authorization.k8s.io/v1 | Rights within a namespace.
1 metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
2 rules []PolicyRule | The rights.
type PolicyRule | Rights on some resources.
1 verbs! []string | What may be done: get, list, create and so on; * is everything.
2 apiGroups []string | The API groups; * is all.
3 resources []string | The resources; * is all.
4 resourceNames []string | The names that are allowed; all when it is empty.
5 nonResourceURLs []string | Paths that are no resources.
type RoleBinding kind rbac.authorization.k8s.io/v1 | Gives a role to somebody within a namespace.
1 metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
2 subjects []Subject | Who gets the role.
3 roleRef! RoleRef | The role.
type Subject | Somebody who gets a role.
1 kind! string | Kind of the object.
2 apiGroup string | Group of the object; empty for the core group.
3 name! string | Name of it.
4 namespace string | Namespace it is in.
type RoleRef | Points to a role.
1 apiGroup string | Group of the object; empty for the core group.
2 kind! string | Kind of the object.
3 name! string | Name of it.
type ClusterRole kind rbac.authorization.k8s.io/v1 | Rights in the whole cluster.
1 metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
2 rules []PolicyRule | The rights.
3 aggregationRule *AggregationRule | Roles that this one is put together from.
type AggregationRule | Aggregation rule.
1 clusterRoleSelectors []LabelSelector | Cluster role selectors.
type ClusterRoleBinding kind rbac.authorization.k8s.io/v1 | Gives a role to somebody in the whole cluster.
1 metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
2 subjects []Subject | Who gets the role.
3 roleRef! RoleRef | The role.

package io.k8s.api.authentication.v1
type SelfSubjectReview kind authentication.k8s.io/v1 | Asks who I am.
1 metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
2 status SelfSubjectReviewStatus | What is there now; written by the system.
type SelfSubjectReviewStatus | How a self subject review is doing.
1 userInfo UserInfo | Who it is.
type UserInfo | User info.
1 username string | Name of the user.
2 uid string | Identity of the object, unique over all time.
3 groups []string | Groups of the user.
4 extra {}stringlist | What else is known of the user.
type TokenReview kind authentication.k8s.io/v1 | Asks who a token is.
1 metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
2 spec TokenReviewSpec | What is wanted.
3 status TokenReviewStatus | What is there now; written by the system.
type TokenReviewSpec | What is wanted of a token review.
1 token string | The token.
2 audiences []string | Who the token is for.
type TokenReviewStatus | How a token review is doing.
1 authenticated bool | Whether the token is good.
2 user UserInfo | Name of the user.
4 audiences []string | Who the token is for.
3 error string | Error.
type TokenRequest kind authentication.k8s.io/v1 | Asks for a token of a service account.
1 metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
2 spec TokenRequestSpec | What is wanted.
3 status TokenRequestStatus | What is there now; written by the system.
type TokenRequestSpec | What is wanted of a token request.
1 audiences []string | Who the token is for.
4 expirationSeconds *int64 | Seconds that it is good for.
3 boundObjectRef *BoundObjectReference | The object that the token is good with.
type BoundObjectReference | Bound object reference.
1 kind string | Kind of the object.
2 apiVersion string | Group and version of the object.
3 name string | Name of it.
4 uid string | Identity of the object, unique over all time.
type TokenRequestStatus | How a token request is doing.
1 token string | The token.
2 expirationTimestamp time | When it is no longer good.

package io.k8s.api.authorization.v1
type SelfSubjectAccessReview kind authorization.k8s.io/v1 | Asks whether I may do something.
1 metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
2 spec SelfSubjectAccessReviewSpec | What is wanted.
3 status SubjectAccessReviewStatus | What is there now; written by the system.
type SelfSubjectAccessReviewSpec | What is wanted of a self subject access review.
1 resourceAttributes *ResourceAttributes | A question about a resource.
2 nonResourceAttributes *NonResourceAttributes | A question about a path that is no resource.
type ResourceAttributes | Resource attributes.
1 namespace string | Namespace it is in.
2 verb string | What is to be done: get, list, create and so on.
3 group string | Group of the resource; * is all.
4 version string | Version of the resource; * is all.
5 resource string | The resource; * is all.
6 subresource string | The subresource.
7 name string | Name of it.
8 fieldSelector *FieldSelectorAttributes | Field selector.
9 labelSelector *LabelSelectorAttributes | Which pods are counted, by their labels.
type FieldSelectorAttributes | Field selector attributes.
1 rawSelector string | Raw selector.
2 requirements []FieldSelectorRequirement | Requirements.
type LabelSelectorAttributes | Label selector attributes.
1 rawSelector string | Raw selector.
2 requirements []LabelSelectorRequirement | Requirements.
type NonResourceAttributes | Non resource attributes.
1 path string | Path of it.
2 verb string | What is to be done: get, list, create and so on.
type SubjectAccessReviewStatus | How a subject access review is doing.
1 allowed! bool | Whether it is allowed.
4 denied bool | Whether it is denied by somebody for good.
2 reason string | Why, as one word in CamelCase.
3 evaluationError string | What went wrong while finding out.
type SelfSubjectRulesReview kind authorization.k8s.io/v1 | Asks for all that I may do in a namespace.
1 metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
2 spec SelfSubjectRulesReviewSpec | What is wanted.
3 status SubjectRulesReviewStatus | What is there now; written by the system.
type SelfSubjectRulesReviewSpec | What is wanted of a self subject rules review.
1 namespace string | Namespace it is in.
type SubjectRulesReviewStatus | How a subject rules review is doing.
1 resourceRules! []ResourceRule | What may be done with resources.
2 nonResourceRules! []NonResourceRule | What may be done with paths that are no resources.
3 incomplete! bool | Whether the list is not complete.
4 evaluationError string | What went wrong while finding out.
type ResourceRule | Resource rule.
1 verbs! []string | What may be done: get, list, create and so on; * is everything.
2 apiGroups []string | The API groups; * is all.
3 resources []string | The resources; * is all.
4 resourceNames []string | The names that are allowed; all when it is empty.
type NonResourceRule | Non resource rule.
1 verbs! []string | What may be done: get, list, create and so on; * is everything.
2 nonResourceURLs []string | Paths that are no resources.
type SubjectAccessReview kind authorization.k8s.io/v1 | Asks whether somebody may do something.
1 metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
2 spec SubjectAccessReviewSpec | What is wanted.
3 status SubjectAccessReviewStatus | What is there now; written by the system.
type SubjectAccessReviewSpec | What is wanted of a subject access review.
1 resourceAttributes *ResourceAttributes | A question about a resource.
2 nonResourceAttributes *NonResourceAttributes | A question about a path that is no resource.
3 user string | Name of the user.
4 groups []string | Groups of the user.
5 extra {}stringlist | What else is known of the user.
6 uid string | Identity of the object, unique over all time.
type LocalSubjectAccessReview kind authorization.k8s.io/v1 | Asks whether somebody may do something in a namespace.
1 metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
2 spec SubjectAccessReviewSpec | What is wanted.
3 status SubjectAccessReviewStatus | What is there now; written by the system.

package io.k8s.api.networking.v1
type NetworkPolicy kind networking.k8s.io/v1 | Which traffic pods may receive and send.
1 metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
2 spec NetworkPolicySpec | What is wanted.
type NetworkPolicySpec | What is wanted of a network policy.
1 podSelector LabelSelector | The pods that the policy is for.
2 ingress []NetworkPolicyIngressRule | What may come in.
3 egress []NetworkPolicyEgressRule | What may go out.
4 policyTypes []string | Ingress, Egress or both.
type NetworkPolicyIngressRule | Network policy ingress rule.
1 ports []NetworkPolicyPort | The ports.
2 from []NetworkPolicyPeer | Where it may come from.
type NetworkPolicyPort | Network policy port.
1 protocol *string | TCP, UDP or SCTP.
2 port *intorstring | Number of the port.
3 endPort *int32 | Last port of a range.
type NetworkPolicyPeer | Network policy peer.
1 podSelector *LabelSelector | Pods that are meant.
2 namespaceSelector *LabelSelector | Which namespaces are looked at, by their labels.
3 ipBlock *IPBlock | Addresses that are meant.
type IPBlock | IP block.
1 cidr! string | Addresses as a range, such as 10.0.0.0/8.
2 except []string | Ranges that are left out.
type NetworkPolicyEgressRule | Network policy egress rule.
1 ports []NetworkPolicyPort | The ports.
2 to []NetworkPolicyPeer | Where it may go to.

package io.k8s.api.discovery.v1
type EndpointSlice kind discovery.k8s.io/v1 | Some of the addresses that a service leads to.
1 metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
4 addressType! string | IPv4, IPv6 or FQDN.
2 endpoints []Endpoint | The addresses.
3 ports []EndpointPort | The ports.
type Endpoint | Endpoint.
1 addresses! []string | The addresses.
2 conditions EndpointConditions | What is known of its state, one entry for each type.
3 hostname *string | Host name of it.
4 targetRef *ObjectReference | The object behind the address.
5 deprecatedTopology {}string | Deprecated topology.
6 nodeName *string | Name of the node.
7 zone *string | Zone that it is in.
8 hints *EndpointHints | Hints.
type EndpointConditions | Endpoint conditions.
1 ready *bool | Whether it may be talked to.
2 serving *bool | Whether it answers.
3 terminating *bool | Whether it is on its way out.
type EndpointHints | Endpoint hints.
1 forZones []ForZone | For zones.
2 forNodes []ForNode | For nodes.
type ForZone | For zone.
1 name! string | Name of it.
type ForNode | For node.
1 name! string | Name of it.
type EndpointPort | Endpoint port.
1 name *string | Name of it.
2 protocol *string | TCP, UDP or SCTP.
3 port *int32 | Number of the port.
4 appProtocol *string | The application protocol that is spoken there.

package io.k8s.api.policy.v1
type PodDisruptionBudget kind policy/v1 | How many pods may be taken away at once.
1 metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
2 spec PodDisruptionBudgetSpec | What is wanted.
3 status PodDisruptionBudgetStatus | What is there now; written by the system.
type PodDisruptionBudgetSpec | What is wanted of a pod disruption budget.
1 minAvailable *intorstring | How many pods must stay, as a number or percentage.
2 selector *LabelSelector | Which pods are meant, by their labels.
3 maxUnavailable *intorstring | How many pods may be missing, as a number or percentage.
4 unhealthyPodEvictionPolicy *string | When pods that are not healthy may be evicted.
type PodDisruptionBudgetStatus | How a pod disruption budget is doing.
1 observedGeneration int64 | The generation of the spec that this status was made from.
2 disruptedPods {}time | Pods that are about to be taken away.
3 disruptionsAllowed int32 | How many pods may be taken away now.
4 currentHealthy int32 | How many pods are healthy.
5 desiredHealthy int32 | How many pods must be healthy.
6 expectedPods int32 | How many pods are counted.
7 conditions []Condition ~type | What is known of its state, one entry for each type.
type Eviction kind policy/v1 | Asks for a pod to be taken away gently.
1 metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
2 deleteOptions *DeleteOptions | How the pod is deleted.

package io.k8s.api.events.v1
type Event kind events.k8s.io/v1 | Something that happened to an object.
1 metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
2 eventTime! microtime | When it was first seen.
3 series *EventSeries | How it went on, when it happened again.
4 reportingController string | Who reported it.
5 reportingInstance string | Which instance of it.
6 action string | What was done about it.
7 reason string | What happened, as one word.
8 regarding ObjectReference | The object that it happened to.
9 related *ObjectReference | Another object that has to do with it.
10 note string | What happened, as a sentence.
11 type string | Normal or Warning.
12 deprecatedSource EventSource | Who reported it, in the old form.
13 deprecatedFirstTimestamp time | When it happened first.
14 deprecatedLastTimestamp time | When it happened last.
15 deprecatedCount int32 | How many times it happened.
type EventSeries | Event series.
1 count! int32 | How many times.
2 lastObservedTime! microtime | When it was last seen.
)";

}  // namespace trainyard::server
