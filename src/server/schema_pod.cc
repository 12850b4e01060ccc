// Schemas of pods.
#include "server/schema_text.h"

namespace trainyard::server {

const std::string_view kPodSchemas = R"(
package io.k8s.api.core.v1
type Pod kind /v1 | A group of containers that run together on one node.
1 metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
2 spec PodSpec | What is wanted.
3 status PodStatus | What is there now; written by the system.
type PodSpec | What a pod consists of and how it runs.
1 volumes []Volume ~name retainkeys | Storage that the containers may mount.
20 initContainers []Container ~name | Containers that run to their end, in order, before the others start.
2 containers! []Container ~name | The containers of the pod; there is at least one.
34 ephemeralContainers []EphemeralContainer ~name | Containers added to a running pod to look into it.
3 restartPolicy string | When containers are started again: Always, OnFailure or Never.
4 terminationGracePeriodSeconds *int64 | Seconds from the request to stop until the containers are killed.
5 activeDeadlineSeconds *int64 | Seconds that the pod may be active before it is failed.
6 dnsPolicy string | Where names are looked up: ClusterFirst, ClusterFirstWithHostNet, Default or None.
7 nodeSelector {}string | Labels that a node must have to run the pod.
8 serviceAccountName string | The service account that the pod runs as.
9 serviceAccount string | Old name of serviceAccountName.
21 automountServiceAccountToken *bool | Whether the service account's token is mounted.
10 nodeName string | Name of the node that the pod runs on.
11 hostNetwork bool | Whether the pod uses the network of its node.
12 hostPID bool | Whether the pod sees the processes of its node.
13 hostIPC bool | Whether the pod shares memory and semaphores with its node.
27 shareProcessNamespace *bool | Whether the containers see one another's processes.
14 securityContext *PodSecurityContext | Users, groups and rights of all containers.
15 imagePullSecrets []LocalObjectReference ~name | Secrets with the credentials of image registries.
16 hostname string | Host name inside the pod; by default the pod's name.
17 subdomain string | Second part of the pod's full host name.
18 affinity *Affinity | Which nodes and which neighbours are wanted.
19 schedulerName string | Name of the scheduler that places the pod.
22 tolerations []Toleration | Taints of nodes that the pod puts up with.
23 hostAliases []HostAlias ~ip | Lines that are added to the pod's hosts file.
24 priorityClassName string | Name of the class that says how important the pod is.
25 priority *int32 | How important the pod is; higher goes first.
26 dnsConfig *PodDNSConfig | Name servers and search domains beyond those of the policy.
28 readinessGates []PodReadinessGate | Conditions that must be true besides the containers being ready.
29 runtimeClassName *string | Name of the runtime that runs the pod.
30 enableServiceLinks *bool | Whether services are told to the containers as environment variables.
31 preemptionPolicy *string | Whether pods of lower priority are removed for this one.
32 overhead {}quantity | What running the pod costs beyond its containers.
33 topologySpreadConstraints []TopologySpreadConstraint ~topologyKey | How pods are spread over zones and nodes.
35 setHostnameAsFQDN *bool | Whether the full name is the host name inside the pod.
36 os *PodOS | The operating system the pod needs.
37 hostUsers *bool | Whether the pod uses the users of its node.
38 schedulingGates []PodSchedulingGate ~name | Names that hold the pod back from being placed until they are removed.
39 resourceClaims []PodResourceClaim ~name retainkeys | Claims on devices that the containers may use.
40 resources *ResourceRequirements | CPU and memory of the whole pod.
41 hostnameOverride *string | Host name inside the pod, whatever the other fields say.
43 schedulingGroup *PodSchedulingGroup | The group of pods that it is placed together with.
type PodSecurityContext | Users, groups and rights of all containers of a pod.
1 seLinuxOptions *SELinuxOptions | SELinux label of the containers.
8 windowsOptions *WindowsSecurityContextOptions | Settings of Windows containers.
2 runAsUser *int64 | Number of the user that the containers run as.
6 runAsGroup *int64 | Number of the group that the containers run as.
3 runAsNonRoot *bool | Whether a container that would run as root is refused.
4 supplementalGroups []int64 | Further groups of the containers' processes.
12 supplementalGroupsPolicy *string | Merge or Strict: whether groups of the image count.
5 fsGroup *int64 | Group that the volumes belong to.
7 sysctls []Sysctl | Kernel parameters of the pod.
9 fsGroupChangePolicy *string | OnRootMismatch or Always: when the group of files is changed.
10 seccompProfile *SeccompProfile | Which system calls are allowed.
11 appArmorProfile *AppArmorProfile | AppArmor profile of the containers.
13 seLinuxChangePolicy *string | Se linux change policy.
type Sysctl | Sysctl.
1 name! string | Name of it.
2 value! string | Value of the parameter.
type Affinity | Which nodes and which neighbours are wanted.
1 nodeAffinity *NodeAffinity | Which nodes are wanted.
2 podAffinity *PodAffinity | Which pods are wanted near by.
3 podAntiAffinity *PodAntiAffinity | Which pods are not wanted near by.
type NodeAffinity | Which nodes are wanted.
1 requiredDuringSchedulingIgnoredDuringExecution *NodeSelector | What must hold when the pod is placed.
2 preferredDuringSchedulingIgnoredDuringExecution []PreferredSchedulingTerm | What is better when the pod is placed.
type NodeSelector | Node selector.
1 nodeSelectorTerms! []NodeSelectorTerm | Terms of which one must hold.
type NodeSelectorTerm | Node selector term.
1 matchExpressions []NodeSelectorRequirement | Requirements that must all hold.
2 matchFields []NodeSelectorRequirement | Requirements on fields of the node.
type NodeSelectorRequirement | Node selector requirement.
1 key! string | The key that is meant.
2 operator! string | How the key is compared with the values.
3 values []string | The values to compare with.
type PreferredSchedulingTerm | Preferred scheduling term.
1 weight! int32 | How much it counts against the others, from 1 to 100.
2 preference! NodeSelectorTerm | Which nodes are better.
type PodAffinity | Which pods are wanted near by.
1 requiredDuringSchedulingIgnoredDuringExecution []PodAffinityTerm | What must hold when the pod is placed.
2 preferredDuringSchedulingIgnoredDuringExecution []WeightedPodAffinityTerm | What is better when the pod is placed.
type PodAffinityTerm | Pod affinity term.
1 labelSelector *LabelSelector | Which pods are counted, by their labels.
2 namespaces []string | Namespaces that are looked at; the pod's own when it is empty.
3 topologyKey! string | Label of nodes; equal values are one place.
4 namespaceSelector *LabelSelector | Which namespaces are looked at, by their labels.
5 matchLabelKeys []string | Labels whose values are taken from the pod itself.
6 mismatchLabelKeys []string | Labels that must differ from the pod's own.
type WeightedPodAffinityTerm | Weighted pod affinity term.
1 weight! int32 | How much it counts against the others, from 1 to 100.
2 podAffinityTerm! PodAffinityTerm | Which pods are meant.
type PodAntiAffinity | Which pods are not wanted near by.
1 requiredDuringSchedulingIgnoredDuringExecution []PodAffinityTerm | What must hold when the pod is placed.
2 preferredDuringSchedulingIgnoredDuringExecution []WeightedPodAffinityTerm | What is better when the pod is placed.
type Toleration | Lets a pod run on nodes with a certain taint.
1 key string | The key that is meant.
2 operator string | How the key is compared with the values.
3 value string | Value of the taint.
4 effect string | NoSchedule, PreferNoSchedule or NoExecute; empty for all.
5 tolerationSeconds *int64 | Seconds that a NoExecute taint is put up with.
type HostAlias | A line of the hosts file.
1 ip! string | The IP address.
2 hostnames []string | Names of the address.
type PodDNSConfig | Pod DNS config.
1 nameservers []string | IP addresses of name servers.
2 searches []string | Domains that short names are looked up in.
3 options []PodDNSConfigOption | Options of the resolver.
type PodDNSConfigOption | Pod DNS config option.
1 name string | Name of it.
2 value *string | Value.
type PodReadinessGate | Pod readiness gate.
1 conditionType! string | The condition that must be true.
type TopologySpreadConstraint | How pods are spread over places.
1 maxSkew! int32 | How much the numbers of two places may differ.
2 topologyKey! string | Label of nodes; equal values are one place.
3 whenUnsatisfiable! string | DoNotSchedule or ScheduleAnyway.
4 labelSelector *LabelSelector | Which pods are counted, by their labels.
5 minDomains *int32 | How many places there must be.
6 nodeAffinityPolicy *string | Honor or Ignore: whether the pod's node affinity counts.
7 nodeTaintsPolicy *string | Honor or Ignore: whether taints of nodes count.
8 matchLabelKeys []string | Labels whose values are taken from the pod itself.
type PodOS | Pod OS.
1 name! string | Name of it.
type PodSchedulingGate | Pod scheduling gate.
1 name! string | Name of it.
type PodResourceClaim | Pod resource claim.
1 name! string | Name of it.
3 resourceClaimName *string | Name of the claim on devices.
4 resourceClaimTemplateName *string | Name of the template that the claim is made from.
type PodSchedulingGroup | Pod scheduling group.
1 podGroupName *string | Pod group name.
type PodStatus | How the pod is doing.
17 observedGeneration int64 | The generation of the spec that this status was made from.
1 phase string | Pending, Running, Succeeded, Failed or Unknown.
2 conditions []PodCondition ~type | What is known of the pod: PodScheduled, Initialized, ContainersReady, Ready.
3 message string | Why, as a sentence for people.
4 reason string | Why, as one word in CamelCase.
11 nominatedNodeName string | The node that is being cleared for the pod.
5 hostIP string | IP address of the node.
16 hostIPs []HostIP ~ip | IP addresses of the node.
6 podIP string | IP address of the pod.
12 podIPs []PodIP ~ip | IP addresses of the pod.
7 startTime *time | When the node took the pod on.
10 initContainerStatuses []ContainerStatus | How each init container is doing.
8 containerStatuses []ContainerStatus | How each container is doing.
9 qosClass string | Guaranteed, Burstable or BestEffort, by requests and limits.
13 ephemeralContainerStatuses []ContainerStatus | How each ephemeral container is doing.
14 resize string | How a change of resources is getting on.
15 resourceClaimStatuses []PodResourceClaimStatus ~name retainkeys | How each claim on devices is doing.
18 extendedResourceClaimStatus *PodExtendedResourceClaimStatus | Extended resource claim status.
19 allocatedResources {}quantity | What is set aside.
20 resources *ResourceRequirements | The resources; * is all.
21 nodeAllocatableResourceClaimStatuses []NodeAllocatableResourceClaimStatus | Node allocatable resource claim statuses.
type PodCondition | One aspect of a pod's state.
1 type! string | Which one of its kind this is.
7 observedGeneration int64 | The generation of the spec that this status was made from.
2 status string | True, False or Unknown.
3 lastProbeTime time | When the condition was last looked at.
4 lastTransitionTime time | When the condition last changed from one status to another.
5 reason string | Why, as one word in CamelCase.
6 message string | Why, as a sentence for people.
type HostIP | An IP address of a node.
1 ip! string | The IP address.
type PodIP | An IP address of a pod.
1 ip! string | The IP address.
type PodResourceClaimStatus | How a pod resource claim is doing.
1 name! string | Name of it.
2 resourceClaimName *string | Name of the claim on devices.
type PodExtendedResourceClaimStatus | How a pod extended resource claim is doing.
1 requestMappings! []ContainerExtendedResourceRequest | Request mappings.
2 resourceClaimName! string | Name of the claim on devices.
type ContainerExtendedResourceRequest | Container extended resource request.
1 containerName! string | Name of the container.
2 resourceName! string | Resource name.
3 requestName! string | Request name.
type NodeAllocatableResourceClaimStatus | How a node allocatable resource claim is doing.
1 resourceClaimName! string | Name of the claim on devices.
2 containers []string | Containers.
3 resources! {}quantity | The resources; * is all.
type PodTemplate kind /v1 | A kept pod template.
1 metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
2 template PodTemplateSpec | The pod that is made from it.
type PodTemplateSpec | The pods that are made: their labels and what they consist of.
1 metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
2 spec PodSpec | What is wanted.
)";

}  // namespace trainyard::server
