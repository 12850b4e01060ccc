// Schemas of the job kinds and what is around them: queues, groups of pods, TensorBoards.
#include "server/schema_text.h"

namespace trainyard::server {

const std::string_view kJobSchemas = R"(
package org.kubeflow.v1
type TFJob kind kubeflow.org/v1 | A TensorFlow training job of chief, parameter servers, workers and evaluator.
- metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
- spec TFJobSpec | The replicas and the rules they run by.
- status JobStatus | How the job is doing; written by the system.
type TFJobSpec | The replicas of a training job and the rules they run by.
- tfReplicaSpecs! {}ReplicaSpec | The replicas by role: Chief, Master, PS, Worker or Evaluator.
- runPolicy RunPolicy | Limits, clean-up, suspension and gang scheduling.
- successPolicy string | When the job has succeeded: empty for the chief or worker 0, or AllWorkers.
- enableDynamicWorker bool | Whether workers may come and go; each is told only of itself and the servers.
- cleanPodPolicy string | Old place of runPolicy.cleanPodPolicy.
- ttlSecondsAfterFinished int32 | Old place of runPolicy.ttlSecondsAfterFinished.
- activeDeadlineSeconds int64 | Old place of runPolicy.activeDeadlineSeconds.
- backoffLimit int32 | Old place of runPolicy.backoffLimit.
type ReplicaSpec | The replicas of one role.
- replicas int32 | How many replicas there are; 1 when it is not given.
- restartPolicy string | Always, OnFailure, Never or ExitCode; the last retries 42 and 129 to 255 without 139.
- template PodTemplateSpec | The pod of a replica; its main container is named tensorflow.
type RunPolicy | Limits, clean-up, suspension and gang scheduling of a job.
- cleanPodPolicy string | Which pods are deleted when the job is finished: All, Running or None.
- ttlSecondsAfterFinished int32 | Seconds after its end when the job is deleted; never when it is not given.
- activeDeadlineSeconds int64 | Seconds from its start after which the job is failed.
- backoffLimit int32 | How many restarts of replicas are allowed before the job is failed.
- schedulingPolicy SchedulingPolicy | How the pods of the job are placed together.
- suspend bool | Whether the job is held: its pods are deleted, and made again when it is resumed.
- managedBy string | Who looks after the job; kubeflow.org/training-operator when it is not given.
type SchedulingPolicy | How the pods of a job are placed together.
- minAvailable int32 | How many pods must fit before any of them starts; all of them by default.
- queue string | Name of the queue; it cannot be changed.
- minResources {}quantity | What must be free before any pod starts; by default the sum of the requests.
- priorityClass string | Name of the class that says how important the job is.
- scheduleTimeoutSeconds int32 | Seconds after which waiting for room is given up.
type JobStatus | How a job is doing.
- conditions []JobCondition | Created, Running, Restarting, Suspended, Succeeded, Failed; the last is the newest.
- replicaStatuses {}ReplicaStatus | How many replicas of each role are active, succeeded, failed.
- startTime time | When the job was taken up.
- completionTime time | When the job was finished.
- lastReconcileTime time | When the job was last looked at.
- trainyard raw | What must be remembered of the job from one look to the next.
type JobCondition | One aspect of a job's state.
- type! string | Created, Running, Restarting, Suspended, Succeeded or Failed.
- status! string | True, False or Unknown.
- reason string | Why, as one word in CamelCase.
- message string | Why, as a sentence for people.
- lastUpdateTime time | When the condition was last written.
- lastTransitionTime time | When the condition last changed from one status to another.
type ReplicaStatus open | How many replicas of a role do what.
- active int32 | How many are running.
- succeeded int32 | How many have succeeded.
- failed int32 | How many have failed.
- labelSelector LabelSelector | Old form of selector.
- selector string | Labels that the pods are found by.

package org.kubeflow.v1beta2
type TFJob kind kubeflow.org/v1beta2 | An older version of TFJob with the fields of v1.
- < org.kubeflow.v1.TFJob
package org.kubeflow.v1beta1
type TFJob kind kubeflow.org/v1beta1 | An older version of TFJob with the fields of v1.
- < org.kubeflow.v1.TFJob
package org.kubeflow.v1alpha2
type TFJob kind kubeflow.org/v1alpha2 | An older version of TFJob with the fields of v1.
- < org.kubeflow.v1.TFJob
package org.kubeflow.v1alpha1
type TFJob | The oldest form of a TFJob. It is read from files; no server has it.
- apiVersion string | Group and version of the object.
- kind string | Kind of the object.
- metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
- spec TFJobSpec | The replicas and the rules they run by.
- status raw | How the job is doing; written by the system.
type TFJobSpec | The replicas of a training job and the rules they run by.
- < org.kubeflow.v1.TFJobSpec
- RuntimeId string | Part of the names of pods, given by the system.
- replicaSpecs []TFReplicaSpec | The replicas, one entry for each role.
- tensorboard raw | The TensorBoard that shows the training.
- tfImage string | Image of the parameter servers that have no template.
- terminationPolicy TerminationPolicy | Whose end is the end of the job.
- schedulerName string | Name of the scheduler.
- cleanupPodPolicy string | Which pods are deleted when the job is finished: All, Running or None.
type TFReplicaSpec | The replicas of one role.
- replicas int32 | How many replicas there are; 1 when it is not given.
- restartPolicy string | Always, OnFailure, Never or ExitCode.
- template PodTemplateSpec | The pod of a replica; its main container is named tensorflow.
- tfPort int32 | Port that the replicas listen on.
- tfReplicaType string | MASTER, PS or WORKER.
- IsDefaultPS bool | Whether the parameter servers run the standard program.
type TerminationPolicy | Whose end is the end of the job.
- chief ChiefSpec | The replica that decides.
type ChiefSpec | The replica that decides.
- replicaName string | Its role.
- replicaIndex int32 | Its index.

package dev.tensorstack.batch.v1beta1
type TensorFlowTrainingJob kind batch.tensorstack.dev/v1beta1 | A TensorFlow training job of the T9k platform.
- metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
- spec TensorFlowTrainingJobSpec | The replicas and the rules they run by.
- status TensorFlowTrainingJobStatus | How the job is doing; written by the system.
type TensorFlowTrainingJobSpec | The replicas of a training job and the rules they run by.
- replicaSpecs! []ReplicaSpec | The replicas, one entry for each type.
- runMode RunMode | Whether the job runs at once, is debugged or is paused.
- runPolicy RunPolicy | Deadline, restarts and clean-up.
- scheduler SchedulePolicy | Which scheduler places the pods.
- tensorboardSpec TensorBoardSpec | The TensorBoard that shows the training.
type ReplicaSpec | The replicas of one type.
- type! string | chief, worker, ps or evaluator.
- replicas int32 | How many replicas there are; 1 when it is not given.
- restartPolicy string | Never, OnFailure, Always or ExitCode; the last retries 130, 137, 138 and 143.
- template PodTemplateSpec | The pod of a replica; its main container is named tensorflow.
type RunPolicy | Deadline, restarts and clean-up of a job.
- activeDeadlineSeconds int64 | Seconds from its start after which the job is failed.
- backoffLimit int32 | How many restarts all replicas together may make.
- cleanUpPolicy string | Which pods are deleted when the job is finished: None, All or Unfinished.
type RunMode | Whether the job runs at once, is debugged or is paused.
- debug DebugMode | Starts the replicas without the training, to look into them.
- pause PauseMode | Holds the job.
type DebugMode | Starts the replicas without the training.
- enabled bool | Whether the job is debugged.
- enable bool | Old spelling of enabled.
- replicaSpecs []DebugSpec | What is run instead, by type.
type DebugSpec | What the replicas of a type run while the job is debugged.
- type! string | Type of the replicas.
- skipInitContainer bool | Whether init containers are left out.
- command []string | What is run instead; sleep inf by default.
type PauseMode | Holds the job.
- enabled bool | Whether the job is paused; it may be changed at any time.
- enable bool | Old spelling of enabled.
- resumeSpecs []ResumeSpec | What is different when the job goes on, by type.
type ResumeSpec | What is different for the replicas of a type when the job goes on.
- type! string | Type of the replicas.
- skipInitContainer bool | Whether init containers are left out.
- command []string | What is run; by default what the template says.
- args []string | Its arguments; by default what the template says.
type SchedulePolicy | Which scheduler places the pods.
- t9kScheduler T9kScheduler | The pods are placed together by the T9k scheduler.
type T9kScheduler | How the T9k scheduler places the pods.
- queue string | Name of the queue.
- priority int32 | How important the job is in its queue, from 0 to 100.
type TensorFlowTrainingJobStatus | How a job is doing.
- phase string | Pending, Running, Paused, Resuming, Succeeded, Failed or Unknown.
- conditions []JobCondition | Initialized, Running, Completed, Failed, ReplicaFailure, Paused.
- tasks []TaskStatus | The replicas of each type.
- aggregate {}int32 | How many replicas are creating, pending, running, succeeded, failed, unknown, deleted.
- backoffCount int32 | How many restarts were made.
- tensorboard raw | How the TensorBoard is doing.
- trainyard raw | What must be remembered of the job from one look to the next.
type JobCondition | One aspect of a job's state.
- type! string | Initialized, Running, Completed, Failed, ReplicaFailure or Paused.
- status! string | True, False or Unknown.
- reason string | Why, as one word in CamelCase.
- message string | Why, as a sentence for people.
- lastTransitionTime time | When the condition last changed from one status to another.
type TaskStatus | The replicas of one type.
- type string | Type of the replicas.
- restartCount int32 | How many restarts they made.
- replicas []ReplicaStatus | Each replica.
type ReplicaStatus open | How a replica is doing.
- name string | Name of its pod.
- uid string | Identity of its pod.
- phase string | Phase of its pod, or Creating, or Deleted.
- containers []ContainerStatus | How its containers are doing.
type ContainerStatus open | How a container of a replica is doing.
- name string | Name of the container.
- state string | Waiting, Running or Terminated.
- exitCode int32 | Exit code, when it has ended.
type TensorBoardSpec open | A TensorBoard that shows a training.
- image string | Image with the tensorboard program.
- trainingLogFilesets []string | Where the logs are, such as t9k://pvc/name/path.
- logDir raw | Where the logs are: pvc, s3 or http.
- resources ResourceRequirements | CPU and memory of it.

package dev.tensorstack.v1beta1
type TensorBoard kind tensorstack.dev/v1beta1 | A TensorBoard that shows the logs of trainings.
- metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
- spec TensorBoardSpec | What it shows and how it runs.
- status TensorBoardStatus | How it is doing; written by the system.
type TensorBoardSpec open | What a TensorBoard shows and how it runs.
- image string | Image with the tensorboard program.
- trainingLogFilesets []string | Where the logs are, such as t9k://pvc/name/path; better use logDir.
- logDir LogDir | Where the logs are.
- resources ResourceRequirements | CPU and memory of it.
- scheduler raw | Which scheduler places its pod.
- suspend bool | Whether it is stopped for now.
- runMode string | Old form of suspend: running or paused.
type LogDir open | Where logs are.
- pvc []PvcLogs | Directories of claims.
- s3 raw | Places in S3 and the secret to read them.
- http raw | Addresses of logs.
type PvcLogs | Directories of one claim.
- name string | Name of the claim.
- subPath []string | Paths inside it.
type TensorBoardStatus open | How a TensorBoard is doing.
- phase string | Initializing, Running or Paused.
- url string | Address to look at it.
- conditions []BoardCondition | Idle and Ready.
- pod raw | Its pod.
type BoardCondition open | One aspect of a TensorBoard's state.
- type! string | Idle or Ready.
- status! string | True, False or Unknown.
- message string | Why, as a sentence for people.
- lastTransitionTime time | When the condition last changed from one status to another.
- lastProbeTime time | When it was last looked at.

package dev.tensorstack.scheduler.v1beta1
type PodGroup kind scheduler.tensorstack.dev/v1beta1 | Pods that the T9k scheduler starts together or not at all.
- metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
- spec PodGroupSpec | Which pods must fit together.
- status raw | How the group is doing; written by the system.
type PodGroupSpec open | Which pods must fit together.
- minMember int32 | How many pods must fit before any starts.
- roles []PodGroupRole | How many of each role must fit.
- queue string | Name of the queue; default when it is not given.
- priority int32 | How important the group is in its queue, from 0 to 100.
- topologyPolicy string | How near together the pods are wanted.
type PodGroupRole | How many pods of a role must fit.
- name string | Name of the role.
- minMember int32 | How many pods of it must fit.
type Queue kind scheduler.tensorstack.dev/v1beta1 | A share of the cluster that workloads wait in line for.
- metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
- spec QueueSpec | What the queue may use, and who may use the queue.
- status raw | How full the queue is; written by the system.
type QueueSpec open | What a queue may use, and who may use it.
- quota raw | The most that all requests together may be.
- requests {}quantity | Old place of quota.requests.
- priority int32 | How important the queue is, from 0 to 100; higher goes first.
- preemptible bool | Whether others may take its resources; true when it is not given.
- closed bool | Whether nothing new is let in.
- maxDuration string | The longest that a pod may run, such as 2d12h.
- resourceShapeProfile string | Which sizes of pods are allowed.
- nodeSelector LabelSelector | Nodes that the queue may use.
- namespaceSelector LabelSelector | Namespaces that may use the queue.

package sh.volcano.batch.v1alpha1
type Job kind batch.volcano.sh/v1alpha1 | A Volcano job: tasks of pods that start together.
- metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
- spec JobSpec | The tasks and the rules they run by.
- status JobStatus | How the job is doing; written by the system.
type JobSpec | The tasks of a job and the rules they run by.
- schedulerName string | Name of the scheduler; volcano when it is not given.
- minAvailable int32 | How many pods must fit before any starts; all of them by default.
- volumes []VolumeSpec | Claims that every pod mounts.
- tasks []TaskSpec | The tasks; there is at least one.
- policies []LifecyclePolicy | What is done about what happens, unless a task has its own.
- plugins {}stringlist | Helpers such as svc, ssh, env and tensorflow, with their arguments.
- runningEstimate string | How long the job is thought to run.
- queue string | Name of the queue; default when it is not given.
- maxRetry int32 | How many times the job is restarted; 3 when it is not given.
- ttlSecondsAfterFinished int32 | Seconds after its end when the job is deleted; never when it is not given.
- priorityClassName string | Name of the class that says how important the job is.
- minSuccess int32 | How many pods must succeed for the job to be completed.
- networkTopology NetworkTopologySpec | How near together the pods must be.
type VolumeSpec | A claim that every pod mounts.
- mountPath! string | Path inside the containers.
- volumeClaimName string | Name of the claim.
- volumeClaim PersistentVolumeClaimSpec | The claim that is made.
type TaskSpec | The pods of one task.
- name string | Name of the task, unique in its job.
- replicas int32 | How many pods there are.
- minAvailable int32 | How many of them must fit before the job starts; all by default.
- template PodTemplateSpec | The pod that is made.
- policies []LifecyclePolicy | What is done about what happens to the task.
- topologyPolicy string | none, best-effort, restricted or single-numa-node.
- maxRetry int32 | How many restarts of containers make the task fail; 3 when it is not given.
- dependsOn DependsOn | Tasks that must be there before this one starts.
- partitionPolicy PartitionPolicySpec | How the pods are cut into partitions.
type LifecyclePolicy | What is done when something happens.
- action string | AbortJob, RestartJob, RestartTask, RestartPod, TerminateJob, CompleteJob and so on.
- event string | What happened: PodFailed, PodEvicted, PodPending, TaskCompleted, TaskFailed, Unknown or *.
- events []string | The same, several of them.
- exitCode int32 | The exit code that is meant, instead of an event.
- timeout string | How long to wait before it is done, such as 5m.
type DependsOn | Tasks that must be there before another starts.
- name []string | Names of the tasks.
- iteration string | any or all of them.
type PartitionPolicySpec | How the pods of a task are cut into partitions.
- totalPartitions int32 | How many partitions there are.
- partitionSize int32 | How many pods each has.
- minPartitions int32 | How many of them must fit.
- networkTopology NetworkTopologySpec | How near together the pods of a partition must be.
type NetworkTopologySpec | How near together pods must be.
- mode string | hard or soft.
- highestTierAllowed int32 | The farthest tier that they may span.
- highestTierName string | The same by its name.
type JobStatus open | How a job is doing.
- state JobState | What the job does now.
- minAvailable int32 | How many pods had to fit.
- taskStatusCount raw | How many pods of each task are in which phase.
- pending int32 | How many pods are pending.
- running int32 | How many pods are running.
- succeeded int32 | How many pods have succeeded.
- failed int32 | How many pods have failed.
- terminating int32 | How many pods are on their way out.
- unknown int32 | How many pods are in no known phase.
- version int32 | Rises with every restart of the whole job.
- retryCount int32 | How many times the job was restarted.
- runningDuration string | How long the job has run.
- controlledResources {}string | What the plugins made.
- conditions []JobCondition | The phases that the job went through.
type JobState | What a job does now.
- phase string | Pending, Running, Restarting, Aborting, Aborted, Completing, Completed, Terminating, Terminated, Failed.
- reason string | Why, as one word in CamelCase.
- message string | Why, as a sentence for people.
- lastTransitionTime time | When it began.
type JobCondition | A phase that a job went through.
- status string | The phase.
- lastTransitionTime time | When it began.

package sh.volcano.bus.v1alpha1
type Command kind bus.volcano.sh/v1alpha1 | Tells a job to do something.
- metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
- action string | What is to be done: AbortJob, ResumeJob, RestartJob and so on.
- target OwnerReference | The job that is told.
- reason string | Why, as one word in CamelCase.
- message string | Why, as a sentence for people.

package sh.volcano.scheduling.v1beta1
type PodGroup kind scheduling.volcano.sh/v1beta1 | Pods that Volcano starts together or not at all.
- metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
- spec PodGroupSpec | Which pods must fit together.
- status raw | How the group is doing; written by the system.
type PodGroupSpec open | Which pods must fit together.
- minMember int32 | How many pods must fit before any starts.
- minTaskMember {}int32 | How many pods of each task must fit.
- queue string | Name of the queue; default when it is not given.
- priorityClassName string | Name of the class that says how important the group is.
- minResources {}quantity | What must be free before any pod starts.
- networkTopology raw | How near together the pods must be.
- subGroupPolicy []raw | Groups within the group.
type Queue kind scheduling.volcano.sh/v1beta1 | A share of the cluster that jobs wait in line for.
- metadata ObjectMeta | Name, labels and the rest that every object has.
- spec QueueSpec | What the queue may use.
- status raw | How full the queue is; written by the system.
type QueueSpec open | What a queue may use.
- weight int32 | Its share against the others, from 1 to 65535.
- capability {}quantity | The most that it may use.
- deserved {}quantity | What it gets when others want it, too.
- guarantee raw | What is kept for it always.
- reclaimable bool | Whether others may take back what is beyond its share.
- priority int32 | How important the queue is.
- parent string | Name of the queue that it is part of.
- type string | What kind of queue it is.
- affinity raw | Groups of nodes that it may use.
- extendClusters []raw | Clusters that its jobs may be sent to.
- dequeueStrategy string | fifo or traverse.

package io.k8s.incubator.scheduling.v1alpha1
type PodGroup kind scheduling.incubator.k8s.io/v1alpha1 | Pods that kube-batch starts together or not at all.
- metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
- spec PodGroupSpec | Which pods must fit together.
- status raw | How the group is doing; written by the system.
type PodGroupSpec open | Which pods must fit together.
- minMember int32 | How many pods must fit before any starts.
- queue string | Name of the queue.
- priorityClassName string | Name of the class that says how important the group is.

package io.x-k8s.scheduling.v1alpha1
type PodGroup kind scheduling.x-k8s.io/v1alpha1 | Pods that the coscheduling plugin starts together or not at all.
- metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
- spec PodGroupSpec | Which pods must fit together.
- status raw | How the group is doing; written by the system.
type PodGroupSpec open | Which pods must fit together.
- minMember int32 | How many pods must fit before any starts.
- minResources {}quantity | What must be free before any pod starts.
- scheduleTimeoutSeconds int32 | Seconds after which waiting for room is given up.

package io.k8s.metrics.pkg.apis.metrics.v1beta1
type PodMetrics kind metrics.k8s.io/v1beta1 | What the containers of a pod use now.
- metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
- timestamp time | When it was measured.
- window string | How long it was measured.
- containers []ContainerMetrics | What each container uses.
type ContainerMetrics | What a container uses.
- name string | Name of the container.
- usage {}quantity | CPU and memory.
type NodeMetrics kind metrics.k8s.io/v1beta1 | What a node uses now.
- metadata ObjectMeta | Name, labels and the rest that every object has.
- timestamp time | When it was measured.
- window string | How long it was measured.
- usage {}quantity | CPU and memory.

package io.k8s.metrics.pkg.apis.metrics.v1
type PodMetrics kind metrics.k8s.io/v1 | What the containers of a pod use now.
- metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
- timestamp time | When it was measured.
- window string | How long it was measured.
- containers []ContainerMetrics | What each container uses.
type ContainerMetrics | What a container uses.
- name string | Name of the container.
- usage {}quantity | CPU and memory.
type NodeMetrics kind metrics.k8s.io/v1 | What a node uses now.
- metadata ObjectMeta | Name, labels and the rest that every object has.
- timestamp time | When it was measured.
- window string | How long it was measured.
- usage {}quantity | CPU and memory.

package io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1
type CustomResourceDefinition kind apiextensions.k8s.io/v1 | Describes a kind of objects that the API is to serve.
- metadata ObjectMeta | Its name is the plural and the group: jobs.example.org.
- spec! CustomResourceDefinitionSpec | What the kind is called and what its objects look like.
- status raw | Whether the kind is served; written by the system.
type CustomResourceDefinitionSpec open | What a kind is called and what its objects look like.
- group! string | Group of the kind.
- names! CustomResourceDefinitionNames | What the kind is called.
- scope! string | Namespaced or Cluster.
- versions! []CustomResourceDefinitionVersion | The versions that the kind has.
- conversion raw | How one version is turned into another.
- preserveUnknownFields bool | Whether fields that are not described are kept.
type CustomResourceDefinitionNames | What a kind is called.
- plural! string | In addresses: jobs.
- singular string | In words: job.
- shortNames []string | In short.
- kind! string | In manifests: Job.
- listKind string | A list of them: JobList.
- categories []string | Groups of kinds that it belongs to, such as all.
type CustomResourceDefinitionVersion open | One version of a kind.
- name! string | Name of the version: v1.
- served! bool | Whether the API serves it.
- storage! bool | Whether objects are kept in it; exactly one is.
- schema raw | What its objects look like, as openAPIV3Schema.
- subresources raw | Whether it has status and scale.
- additionalPrinterColumns []raw | What kubectl get shows.
- deprecated bool | Whether using it gives a warning.
- deprecationWarning string | The warning.
- selectableFields []raw | Fields that can be selected by.
)";

}  // namespace trainyard::server
