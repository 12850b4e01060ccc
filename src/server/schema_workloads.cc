// Schemas of workloads and what schedules them.
#include "server/schema_text.h"

namespace trainyard::server {

const std::string_view kWorkloadSchemas = R"(
package io.k8s.api.apps.v1
type Deployment kind apps/v1 | Keeps a number of equal pods, and replaces them step by step. Here it is kept, not acted on.
1 metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
2 spec DeploymentSpec | What is wanted.
3 status DeploymentStatus | What is there now; written by the system.
type DeploymentSpec | What is wanted of a deployment.
1 replicas *int32 | How many pods there are to be.
2 selector! *LabelSelector | Which pods are meant, by their labels.
3 template! PodTemplateSpec | The pod that is made from it.
4 strategy DeploymentStrategy retainkeys | How old pods are replaced by new ones.
5 minReadySeconds int32 | How many seconds a pod must be ready to count as available.
6 revisionHistoryLimit *int32 | How many old revisions are kept to go back to.
7 paused bool | Whether changes wait.
9 progressDeadlineSeconds *int32 | Seconds in which there must be progress.
type DeploymentStrategy | Deployment strategy.
1 type string | Which one of its kind this is.
2 rollingUpdate *RollingUpdateDeployment | How many pods are replaced at once.
type RollingUpdateDeployment | Rolling update deployment.
1 maxUnavailable *intorstring | How many pods may be missing.
2 maxSurge *intorstring | How many pods may be there beyond the number.
type DeploymentStatus | How a deployment is doing.
1 observedGeneration int64 | The generation of the spec that this status was made from.
2 replicas int32 | How many pods there are to be.
3 updatedReplicas int32 | How many pods are made from the newest template.
7 readyReplicas int32 | How many pods are ready.
4 availableReplicas int32 | How many pods have been ready for long enough.
5 unavailableReplicas int32 | How many pods are missing or not available.
9 terminatingReplicas *int32 | How many pods are on their way out.
6 conditions []DeploymentCondition ~type | What is known of its state, one entry for each type.
8 collisionCount *int32 | How many names of children clashed so far.
type DeploymentCondition | One aspect of the state of a deployment.
1 type! string | Which one of its kind this is.
2 status string | True, False or Unknown.
6 lastUpdateTime time | When the condition was last written.
7 lastTransitionTime time | When the condition last changed from one status to another.
4 reason string | Why, as one word in CamelCase.
5 message string | Why, as a sentence for people.
type ReplicaSet kind apps/v1 | Keeps a number of equal pods. Here it is kept, not acted on.
1 metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
2 spec ReplicaSetSpec | What is wanted.
3 status ReplicaSetStatus | What is there now; written by the system.
type ReplicaSetSpec | What is wanted of a replica set.
1 replicas *int32 | How many pods there are to be.
4 minReadySeconds int32 | How many seconds a pod must be ready to count as available.
2 selector! *LabelSelector | Which pods are meant, by their labels.
3 template PodTemplateSpec | The pod that is made from it.
type ReplicaSetStatus | How a replica set is doing.
1 replicas! int32 | How many pods there are to be.
2 fullyLabeledReplicas int32 | How many pods carry all labels of the template.
4 readyReplicas int32 | How many pods are ready.
5 availableReplicas int32 | How many pods have been ready for long enough.
7 terminatingReplicas *int32 | How many pods are on their way out.
3 observedGeneration int64 | The generation of the spec that this status was made from.
6 conditions []ReplicaSetCondition ~type | What is known of its state, one entry for each type.
type ReplicaSetCondition | One aspect of the state of a replica set.
1 type! string | Which one of its kind this is.
2 status string | True, False or Unknown.
3 lastTransitionTime time | When the condition last changed from one status to another.
4 reason string | Why, as one word in CamelCase.
5 message string | Why, as a sentence for people.
type StatefulSet kind apps/v1 | Keeps pods with names and storage of their own. Here it is kept, not acted on.
1 metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
2 spec StatefulSetSpec | What is wanted.
3 status StatefulSetStatus | What is there now; written by the system.
type StatefulSetSpec | What is wanted of a stateful set.
1 replicas *int32 | How many pods there are to be.
2 selector! *LabelSelector | Which pods are meant, by their labels.
3 template! PodTemplateSpec | The pod that is made from it.
4 volumeClaimTemplates []PersistentVolumeClaim | Claims that are made for each pod.
5 serviceName string | Name of the service that its pods are reached by.
6 podManagementPolicy string | OrderedReady or Parallel.
7 updateStrategy StatefulSetUpdateStrategy | How old pods are replaced by new ones.
8 revisionHistoryLimit *int32 | How many old revisions are kept to go back to.
9 minReadySeconds int32 | How many seconds a pod must be ready to count as available.
10 persistentVolumeClaimRetentionPolicy *StatefulSetPersistentVolumeClaimRetentionPolicy | When its claims are deleted.
11 ordinals *StatefulSetOrdinals | How its pods are numbered.
type StatefulSetUpdateStrategy | Stateful set update strategy.
1 type string | Which one of its kind this is.
2 rollingUpdate *RollingUpdateStatefulSetStrategy | How many pods are replaced at once.
type RollingUpdateStatefulSetStrategy | Rolling update stateful set strategy.
1 partition *int32 | Number of the partition, when the volume has several.
2 maxUnavailable *intorstring | How many pods may be missing.
type StatefulSetPersistentVolumeClaimRetentionPolicy | Stateful set persistent volume claim retention policy.
1 whenDeleted string | Retain or Delete, when the set is deleted.
2 whenScaled string | Retain or Delete, when a pod is taken away.
type StatefulSetOrdinals | Stateful set ordinals.
1 start int32 | Number of the first pod.
type StatefulSetStatus | How a stateful set is doing.
1 observedGeneration int64 | The generation of the spec that this status was made from.
2 replicas! int32 | How many pods there are to be.
3 readyReplicas int32 | How many pods are ready.
4 currentReplicas int32 | How many pods are made from the current revision.
5 updatedReplicas int32 | How many pods are made from the newest template.
6 currentRevision string | Name of the current revision.
7 updateRevision string | Name of the newest revision.
9 collisionCount *int32 | How many names of children clashed so far.
10 conditions []StatefulSetCondition ~type | What is known of its state, one entry for each type.
11 availableReplicas int32 | How many pods have been ready for long enough.
type StatefulSetCondition | One aspect of the state of a stateful set.
1 type! string | Which one of its kind this is.
2 status string | True, False or Unknown.
3 lastTransitionTime time | When the condition last changed from one status to another.
4 reason string | Why, as one word in CamelCase.
5 message string | Why, as a sentence for people.
type DaemonSet kind apps/v1 | Keeps one pod on every node. Here it is kept, not acted on.
1 metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
2 spec DaemonSetSpec | What is wanted.
3 status DaemonSetStatus | What is there now; written by the system.
type DaemonSetSpec | What is wanted of a daemon set.
1 selector! *LabelSelector | Which pods are meant, by their labels.
2 template! PodTemplateSpec | The pod that is made from it.
3 updateStrategy DaemonSetUpdateStrategy | How old pods are replaced by new ones.
4 minReadySeconds int32 | How many seconds a pod must be ready to count as available.
6 revisionHistoryLimit *int32 | How many old revisions are kept to go back to.
type DaemonSetUpdateStrategy | Daemon set update strategy.
1 type string | Which one of its kind this is.
2 rollingUpdate *RollingUpdateDaemonSet | How many pods are replaced at once.
type RollingUpdateDaemonSet | Rolling update daemon set.
1 maxUnavailable *intorstring | How many pods may be missing.
2 maxSurge *intorstring | How many pods may be there beyond the number.
type DaemonSetStatus | How a daemon set is doing.
1 currentNumberScheduled! int32 | How many nodes run the pod and should.
2 numberMisscheduled! int32 | How many nodes run the pod and should not.
3 desiredNumberScheduled! int32 | How many nodes should run the pod.
4 numberReady! int32 | How many of the pods are ready.
5 observedGeneration int64 | The generation of the spec that this status was made from.
6 updatedNumberScheduled int32 | How many nodes run the newest pod.
7 numberAvailable int32 | How many of the pods are available.
8 numberUnavailable int32 | How many of the pods are not available.
9 collisionCount *int32 | How many names of children clashed so far.
10 conditions []DaemonSetCondition ~type | What is known of its state, one entry for each type.
type DaemonSetCondition | One aspect of the state of a daemon set.
1 type! string | Which one of its kind this is.
2 status string | True, False or Unknown.
3 lastTransitionTime time | When the condition last changed from one status to another.
4 reason string | Why, as one word in CamelCase.
5 message string | Why, as a sentence for people.

package io.k8s.api.batch.v1
type Job kind batch/v1 | Runs pods until a number of them have succeeded.
1 metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
2 spec JobSpec | What is wanted.
3 status JobStatus | What is there now; written by the system.
type JobSpec | What is wanted of a job.
1 parallelism *int32 | How many pods may run at once.
2 completions *int32 | How many pods must succeed.
3 activeDeadlineSeconds *int64 | Seconds that the job may take.
11 podFailurePolicy *PodFailurePolicy | What failures of pods mean, by exit code and condition.
16 successPolicy *SuccessPolicy | When the job counts as succeeded.
7 backoffLimit *int32 | How many failures are made up for.
12 backoffLimitPerIndex *int32 | How many failures of one index are made up for.
13 maxFailedIndexes *int32 | How many indexes may fail.
4 selector *LabelSelector | Which pods are meant, by their labels.
5 manualSelector *bool | Whether the selector is given by hand.
6 template! PodTemplateSpec | The pod that is made from it.
8 ttlSecondsAfterFinished *int32 | Seconds after its end when the job is deleted.
9 completionMode *string | NonIndexed or Indexed.
10 suspend *bool | Whether the job is held.
14 podReplacementPolicy *string | When a replacement is made: TerminatingOrFailed or Failed.
15 managedBy *string | Who looks after the job.
type PodFailurePolicy | Pod failure policy.
1 rules! []PodFailurePolicyRule | The rights.
type PodFailurePolicyRule | Pod failure policy rule.
1 action! string | FailJob, FailIndex, Ignore or Count.
2 onExitCodes *PodFailurePolicyOnExitCodesRequirement | Exit codes that are meant.
3 onPodConditions []PodFailurePolicyOnPodConditionsPattern | Conditions of the pod that are meant.
type PodFailurePolicyOnExitCodesRequirement | Pod failure policy on exit codes requirement.
1 containerName *string | Name of the container.
2 operator! string | How the key is compared with the values.
3 values! []int32 | The values to compare with.
type PodFailurePolicyOnPodConditionsPattern | Pod failure policy on pod conditions pattern.
1 type! string | Which one of its kind this is.
2 status string | True, False or Unknown.
type SuccessPolicy | Success policy.
1 rules! []SuccessPolicyRule | The rights.
type SuccessPolicyRule | Success policy rule.
1 succeededIndexes *string | Indexes that must succeed.
2 succeededCount *int32 | How many indexes must succeed.
type JobStatus | How a job is doing.
1 conditions []JobCondition ~type | What is known of its state, one entry for each type.
2 startTime *time | When the job was taken up.
3 completionTime *time | When the job succeeded.
4 active int32 | How many pods are not finished.
5 succeeded int32 | How many pods succeeded.
6 failed int32 | How many pods failed.
11 terminating *int32 | How many pods are on their way out.
7 completedIndexes string | Indexes that succeeded.
10 failedIndexes *string | Indexes that failed.
8 uncountedTerminatedPods *UncountedTerminatedPods | Pods that ended and are not counted yet.
9 ready *int32 | How many pods are ready.
type JobCondition | One aspect of the state of a job.
1 type! string | Which one of its kind this is.
2 status string | True, False or Unknown.
3 lastProbeTime time | When the condition was last looked at.
4 lastTransitionTime time | When the condition last changed from one status to another.
5 reason string | Why, as one word in CamelCase.
6 message string | Why, as a sentence for people.
type UncountedTerminatedPods | Uncounted terminated pods.
1 succeeded []string | Succeeded.
2 failed []string | Failed.
type CronJob kind batch/v1 | Makes a job at certain times.
1 metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
2 spec CronJobSpec | What is wanted.
3 status CronJobStatus | What is there now; written by the system.
type CronJobSpec | What is wanted of a cron job.
1 schedule! string | When, in the five fields of cron.
8 timeZone *string | Time zone of the schedule.
2 startingDeadlineSeconds *int64 | Seconds that a job may be late.
3 concurrencyPolicy string | Allow, Forbid or Replace when the last job is still there.
4 suspend *bool | Whether no jobs are made.
5 jobTemplate! JobTemplateSpec | The job that is made.
6 successfulJobsHistoryLimit *int32 | How many succeeded jobs are kept.
7 failedJobsHistoryLimit *int32 | How many failed jobs are kept.
type JobTemplateSpec | What is wanted of a job template.
1 metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
2 spec JobSpec | What is wanted.
type CronJobStatus | How a cron job is doing.
1 active []ObjectReference | Jobs that are not finished.
4 lastScheduleTime *time | When a job was last made.
5 lastSuccessfulTime *time | When a job last succeeded.

package io.k8s.api.autoscaling.v1
type Scale kind autoscaling/v1 | The number of replicas of something that can be scaled.
1 metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
2 spec ScaleSpec | What is wanted.
3 status ScaleStatus | What is there now; written by the system.
type ScaleSpec | What is wanted of a scale.
1 replicas int32 | How many are wanted.
type ScaleStatus | How a scale is doing.
1 replicas! int32 | How many there are.
2 selector string | Labels that the pods are found by.

package io.k8s.api.scheduling.v1
type PriorityClass kind scheduling.k8s.io/v1 | A name for how important pods are.
1 metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
2 value int32 | How important; higher goes first.
3 globalDefault bool | Whether it is meant for pods that name no class.
4 description string | What it is for.
5 preemptionPolicy *string | PreemptLowerPriority or Never.

package io.k8s.api.coordination.v1
type Lease kind coordination.k8s.io/v1 | Says who holds something, and for how long.
1 metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
2 spec LeaseSpec | What is wanted.
type LeaseSpec | What is wanted of a lease.
1 holderIdentity *string | Who holds it.
2 leaseDurationSeconds *int32 | Seconds that it lasts without being renewed.
3 acquireTime *microtime | When the holder got it.
4 renewTime *microtime | When the holder last renewed it.
5 leaseTransitions *int32 | How many times it changed hands.
6 strategy *string | How the holder is chosen.
7 preferredHolder *string | Who should get it next.
)";

}  // namespace trainyard::server
