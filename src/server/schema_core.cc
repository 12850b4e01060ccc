// Schemas of the other core kinds.
#include "server/schema_text.h"

namespace trainyard::server {

const std::string_view kCoreSchemas = R"(
package io.k8s.api.core.v1
type LocalObjectReference | Points to an object of the same namespace by its name.
1 name string | Name of it.
type ObjectFieldSelector | Object field selector.
1 apiVersion string | Group and version of the object.
2 fieldPath! string | Path of the field, such as metadata.name.
type ResourceFieldSelector | Resource field selector.
1 containerName string | Name of the container.
2 resource! string | Which one: limits.cpu, requests.memory and so on.
3 divisor quantity | Unit that the number is given in.
type TypedLocalObjectReference | Typed local object reference.
1 apiGroup *string | Group of the object; empty for the core group.
2 kind! string | Kind of the object.
3 name! string | Name of it.
type TypedObjectReference | Typed object reference.
1 apiGroup *string | Group of the object; empty for the core group.
2 kind! string | Kind of the object.
3 name! string | Name of it.
4 namespace *string | Namespace it is in.
type Service kind /v1 | A stable name and address for a set of pods.
1 metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
2 spec ServiceSpec | What is wanted.
3 status ServiceStatus | What is there now; written by the system.
type ServiceSpec | What is wanted of a service.
1 ports []ServicePort ~port | The ports that the service has.
2 selector {}string | Labels of the pods that the service leads to.
3 clusterIP string | Address of the service; None for a headless one.
18 clusterIPs []string | Addresses of the service.
4 type string | ClusterIP, NodePort, LoadBalancer or ExternalName.
5 externalIPs []string | Further addresses that lead to the service.
7 sessionAffinity string | ClientIP to lead a client to the same pod always, or None.
8 loadBalancerIP string | No longer used.
9 loadBalancerSourceRanges []string | Addresses that may use the load balancer.
10 externalName string | Name that the service stands for.
11 externalTrafficPolicy string | Cluster or Local: which pods traffic from outside may reach.
12 healthCheckNodePort int32 | Port that load balancers ask for health.
13 publishNotReadyAddresses bool | Whether pods that are not ready are led to as well.
14 sessionAffinityConfig *SessionAffinityConfig | How session affinity works.
19 ipFamilies []string | IPv4 and IPv6, in order.
17 ipFamilyPolicy *string | SingleStack, PreferDualStack or RequireDualStack.
20 allocateLoadBalancerNodePorts *bool | Whether a load balancer gets node ports.
21 loadBalancerClass *string | Which load balancer is meant.
22 internalTrafficPolicy *string | Cluster or Local: which pods traffic from inside may reach.
23 trafficDistribution *string | Which pods are preferred.
type ServicePort | A port of a service.
1 name string | Name of the port; needed when there are several.
2 protocol string | TCP, UDP or SCTP.
6 appProtocol *string | The application protocol that is spoken there.
3 port! int32 | Number of the service's port.
4 targetPort intorstring | Number or name of the pods' port; by default the same.
5 nodePort int32 | Port of every node that leads to it.
type SessionAffinityConfig | Session affinity config.
1 clientIP *ClientIPConfig | How affinity by the client's address works.
type ClientIPConfig | Client IP config.
1 timeoutSeconds *int32 | Seconds that a client is led to the same pod.
type ServiceStatus | How a service is doing.
1 loadBalancer LoadBalancerStatus | How the load balancer is doing.
2 conditions []Condition ~type | What is known of its state, one entry for each type.
type LoadBalancerStatus | How a load balancer is doing.
1 ingress []LoadBalancerIngress | Addresses of the load balancer.
type LoadBalancerIngress | Load balancer ingress.
1 ip string | The IP address.
2 hostname string | Host name of it.
3 ipMode *string | Ip mode.
4 ports []PortStatus | The ports.
type PortStatus | How a port is doing.
1 port! int32 | Number of the port.
2 protocol! string | TCP, UDP or SCTP.
3 error *string | Error.
type ConfigMap kind /v1 | Settings as pairs of keys and text.
1 metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
4 immutable *bool | Whether the data cannot be changed any more.
2 data {}string | The settings as text.
3 binaryData {}bytes | Settings that are no text, in base64.
type Secret kind /v1 | Confidential data as pairs of keys and bytes.
1 metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
5 immutable *bool | Whether the data cannot be changed any more.
2 data {}bytes | The data, each value in base64.
4 stringData {}string | Data given as plain text; moved to data when written.
3 type string | What the secret is for; Opaque by default.
type Namespace kind /v1 | A room for names: objects of one namespace do not clash with those of another.
1 metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
2 spec NamespaceSpec | What is wanted.
3 status NamespaceStatus | What is there now; written by the system.
type NamespaceSpec | What is wanted of a namespace.
1 finalizers []string | Names of those who must let go before the namespace is removed.
type NamespaceStatus | How a namespace is doing.
1 phase string | Active or Terminating.
2 conditions []NamespaceCondition ~type | What is known of its state, one entry for each type.
type NamespaceCondition | One aspect of the state of a namespace.
1 type! string | Which one of its kind this is.
2 status string | True, False or Unknown.
4 lastTransitionTime time | When the condition last changed from one status to another.
5 reason string | Why, as one word in CamelCase.
6 message string | Why, as a sentence for people.
type Node kind /v1 | A machine that runs pods.
1 metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
2 spec NodeSpec | What is wanted.
3 status NodeStatus | What is there now; written by the system.
type NodeSpec | What is wanted of a node.
1 podCIDR string | Addresses that pods of the node get.
7 podCIDRs []string ~ | Addresses that pods of the node get.
3 providerID string | Identity of the machine with its provider.
4 unschedulable bool | Whether no new pods may be placed on the node.
5 taints []Taint | What keeps pods away that do not tolerate it.
6 configSource *NodeConfigSource | No longer used.
2 externalID string | No longer used.
type Taint | Keeps pods away from a node unless they tolerate it.
1 key! string | The key that is meant.
2 value string | Value of the taint.
3 effect! string | NoSchedule, PreferNoSchedule or NoExecute.
4 timeAdded *time | When the taint was added.
type NodeConfigSource | Node config source.
2 configMap *ConfigMapNodeConfigSource | Config map.
type ConfigMapNodeConfigSource | Config map node config source.
1 namespace! string | Namespace it is in.
2 name! string | Name of it.
3 uid string | Identity of the object, unique over all time.
4 resourceVersion string | Version of the object.
5 kubeletConfigKey! string | Kubelet config key.
type NodeStatus | How a node is doing.
1 capacity {}quantity | What the machine has.
2 allocatable {}quantity | What pods may use of it.
3 phase string | No longer used.
4 conditions []NodeCondition ~type | What is known of its state, one entry for each type.
5 addresses []NodeAddress ~type | Addresses and names of the machine.
6 daemonEndpoints NodeDaemonEndpoints | Ports of the node's own services.
7 nodeInfo NodeSystemInfo | What the machine is and runs.
8 images []ContainerImage | Images that are on the machine.
9 volumesInUse []string | Volumes that are mounted.
10 volumesAttached []AttachedVolume | Volumes that are attached.
11 config *NodeConfigStatus | Config.
12 runtimeHandlers []NodeRuntimeHandler | Runtime handlers.
13 features *NodeFeatures | Features.
14 declaredFeatures []string | Declared features.
type NodeCondition | One aspect of the state of a node.
1 type! string | Which one of its kind this is.
2 status string | True, False or Unknown.
3 lastHeartbeatTime time | When the condition was last reported.
4 lastTransitionTime time | When the condition last changed from one status to another.
5 reason string | Why, as one word in CamelCase.
6 message string | Why, as a sentence for people.
type NodeAddress | Node address.
1 type! string | Which one of its kind this is.
2 address! string | The address.
type NodeDaemonEndpoints | Node daemon endpoints.
1 kubeletEndpoint DaemonEndpoint | Kubelet endpoint.
type DaemonEndpoint | Daemon endpoint.
1 Port! int32 | Port.
type NodeSystemInfo | Node system info.
1 machineID! string | Identity of the machine.
2 systemUUID! string | Identity of the hardware.
3 bootID! string | Identity of the last start.
4 kernelVersion! string | Version of the kernel.
5 osImage! string | Name of the operating system's release.
6 containerRuntimeVersion! string | Name and version of the runtime.
7 kubeletVersion! string | Version of what runs the pods.
8 kubeProxyVersion! string | No longer used.
9 operatingSystem! string | Name of the operating system: linux.
10 architecture! string | Name of the processor's architecture: amd64.
11 swap *NodeSwapStatus | Swap.
type NodeSwapStatus | How a node swap is doing.
1 capacity *int64 | Capacity.
type ContainerImage | Container image.
1 names []string | Names of the image.
2 sizeBytes int64 | Size of the image.
type AttachedVolume | Attached volume.
1 name! string | Name of it.
2 devicePath! string | Device path.
type NodeConfigStatus | How a node config is doing.
1 assigned *NodeConfigSource | Assigned.
2 active *NodeConfigSource | Active.
3 lastKnownGood *NodeConfigSource | Last known good.
4 error string | Error.
type NodeRuntimeHandler | Node runtime handler.
1 name string | Name of it.
2 features *NodeRuntimeHandlerFeatures | Features.
type NodeRuntimeHandlerFeatures | Node runtime handler features.
1 recursiveReadOnlyMounts *bool | Recursive read only mounts.
2 userNamespaces *bool | User namespaces.
type NodeFeatures | Node features.
1 supplementalGroupsPolicy *bool | Supplemental groups policy.
type Event kind /v1 | Something that happened to an object.
1 metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
2 involvedObject! ObjectReference | The object that it happened to.
3 reason string | What happened, as one word.
4 message string | What happened, as a sentence.
5 source EventSource | Who reported it.
6 firstTimestamp time | When it happened first.
7 lastTimestamp time | When it happened last.
8 count int32 | How many times it happened.
9 type string | Normal or Warning.
10 eventTime microtime | When it was first seen.
11 series *EventSeries | How it went on, when it happened again.
12 action string | What was done about it.
13 related *ObjectReference | Another object that has to do with it.
14 reportingComponent string | Who reported it.
15 reportingInstance string | Which instance of it.
type ObjectReference | Points to an object.
1 kind string | Kind of the object.
2 namespace string | Namespace it is in.
3 name string | Name of it.
4 uid string | Identity of the object, unique over all time.
5 apiVersion string | Group and version of the object.
6 resourceVersion string | Version of the object.
7 fieldPath string | The part of the object that is meant.
type EventSource | Event source.
1 component string | Name of the program.
2 host string | Name of the node.
type EventSeries | Event series.
1 count int32 | How many times.
2 lastObservedTime microtime | When it was last seen.
type SecretReference | Secret reference.
1 name string | Name of it.
2 namespace string | Namespace it is in.
type ServiceAccount kind /v1 | Who the processes of pods are to the API.
1 metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
2 secrets []ObjectReference ~name | Secrets that its pods may use.
3 imagePullSecrets []LocalObjectReference | Credentials of image registries for its pods.
4 automountServiceAccountToken *bool | Whether its token is mounted into pods.
type ResourceQuota kind /v1 | The most that a namespace may use.
1 metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
2 spec ResourceQuotaSpec | What is wanted.
3 status ResourceQuotaStatus | What is there now; written by the system.
type ResourceQuotaSpec | What is wanted of a resource quota.
1 hard {}quantity | The most of each resource.
2 scopes []string | Which objects count.
3 scopeSelector *ScopeSelector | Which objects count, by values.
type ScopeSelector | Scope selector.
1 matchExpressions []ScopedResourceSelectorRequirement | Requirements that must all hold.
type ScopedResourceSelectorRequirement | Scoped resource selector requirement.
1 scopeName! string | Name of the scope.
2 operator! string | How the key is compared with the values.
3 values []string | The values to compare with.
type ResourceQuotaStatus | How a resource quota is doing.
1 hard {}quantity | The most of each resource.
2 used {}quantity | What is used now.
type LimitRange kind /v1 | Limits and defaults of single objects in a namespace.
1 metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
2 spec LimitRangeSpec | What is wanted.
type LimitRangeSpec | What is wanted of a limit range.
1 limits! []LimitRangeItem | The limits, by type.
type LimitRangeItem | Limit range item.
1 type! string | Pod, Container or PersistentVolumeClaim.
2 max {}quantity | The most that is allowed.
3 min {}quantity | The least that is allowed.
4 default {}quantity | Limits of those that give none.
5 defaultRequest {}quantity | Requests of those that give none.
6 maxLimitRequestRatio {}quantity | How much larger a limit may be than its request.
type Endpoints kind /v1 | The addresses that a service leads to.
1 metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
2 subsets []EndpointSubset | Sets of addresses with their ports.
type EndpointSubset | Endpoint subset.
1 addresses []EndpointAddress | Addresses that are ready.
2 notReadyAddresses []EndpointAddress | Addresses that are not ready.
3 ports []EndpointPort | The ports.
type EndpointAddress | Endpoint address.
1 ip! string | The IP address.
3 hostname string | Host name of it.
4 nodeName *string | Name of the node.
2 targetRef *ObjectReference | The object behind the address.
type EndpointPort | Endpoint port.
1 name string | Name of it.
2 port! int32 | Number of the port.
3 protocol string | TCP, UDP or SCTP.
4 appProtocol *string | The application protocol that is spoken there.
type Binding kind /v1 | Ties a pod to a node.
1 metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
2 target! ObjectReference | The node.
)";

}  // namespace trainyard::server
