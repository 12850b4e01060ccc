// Schemas of containers.
#include "server/schema_text.h"

namespace trainyard::server {

const std::string_view kContainerSchemas = R"(
package io.k8s.api.core.v1
type Container | A program that runs inside a pod, with its image, environment and limits.
1 name! string | Name of the container, unique in its pod.
2 image string | Image that the container runs.
3 command []string | The program and its first arguments; by default the image's entrypoint.
4 args []string | Arguments of the program; by default the image's own.
5 workingDir string | Directory that the program starts in.
6 ports []ContainerPort ~containerPort | Ports that the container listens on.
19 envFrom []EnvFromSource | Config maps and secrets whose keys become environment variables.
7 env []EnvVar ~name | Environment variables.
8 resources ResourceRequirements | CPU, memory and devices that are requested and allowed.
23 resizePolicy []ContainerResizePolicy | What a change of resources does to the container.
24 restartPolicy *string | When this container is started again; Always makes an init container a sidecar.
25 restartPolicyRules []ContainerRestartRule | Exit codes that decide whether this container is started again.
9 volumeMounts []VolumeMount ~mountPath | Volumes and where the container sees them.
21 volumeDevices []VolumeDevice ~devicePath | Block devices that the container sees.
10 livenessProbe *Probe | Tells when the container must be started again.
11 readinessProbe *Probe | Tells when the container may be talked to.
22 startupProbe *Probe | Tells when the container has started; other probes wait for it.
12 lifecycle *Lifecycle | What is done after the start and before the stop.
13 terminationMessagePath string | File whose text is taken as the container's last words.
20 terminationMessagePolicy string | File, or FallbackToLogsOnError to take the end of the log.
14 imagePullPolicy string | Always, IfNotPresent or Never.
15 securityContext *SecurityContext | User, group and rights of the container.
16 stdin bool | Whether the container keeps a standard input to attach to.
17 stdinOnce bool | Whether standard input ends with the first who attached.
18 tty bool | Whether the container has a terminal.
type ContainerPort | A port that a container listens on.
1 name string | Name of the port, to be used by services.
2 hostPort int32 | Port of the node that leads to it.
3 containerPort! int32 | Number of the port inside the pod.
4 protocol string | TCP, UDP or SCTP.
5 hostIP string | Address of the node that the host port is bound to.
type EnvFromSource | Config map or secret whose keys become environment variables.
1 prefix string | Text put in front of each name.
2 configMapRef *ConfigMapEnvSource | The config map.
3 secretRef *SecretEnvSource | The secret.
type ConfigMapEnvSource | Config map env source.
1 < LocalObjectReference
2 optional *bool | Whether it may be missing.
type SecretEnvSource | Secret env source.
1 < LocalObjectReference
2 optional *bool | Whether it may be missing.
type EnvVar | An environment variable.
1 name! string | Name of the variable.
2 value string | Its value; $(NAME) stands for variables that were set before.
3 valueFrom *EnvVarSource | Where the value is taken from.
type EnvVarSource | Where the value of a variable is taken from.
1 fieldRef *ObjectFieldSelector | A field of the pod, such as metadata.name or status.podIP.
2 resourceFieldRef *ResourceFieldSelector | A request or limit of a container.
3 configMapKeyRef *ConfigMapKeySelector | A key of a config map.
4 secretKeyRef *SecretKeySelector | A key of a secret.
5 fileKeyRef *FileKeySelector | A key of a file in a volume.
type ConfigMapKeySelector | Config map key selector.
1 < LocalObjectReference
2 key! string | The key that is meant.
3 optional *bool | Whether it may be missing.
type SecretKeySelector | Secret key selector.
1 < LocalObjectReference
2 key! string | The key that is meant.
3 optional *bool | Whether it may be missing.
type FileKeySelector | File key selector.
1 volumeName! string | Volume name.
2 path! string | Path of it.
3 key! string | The key that is meant.
4 optional *bool | Whether it may be missing.
type ResourceRequirements | What a container needs and what it may use.
1 limits {}quantity | The most that may be used.
2 requests {}quantity | What is set aside; by default the limits.
3 claims []ResourceClaim | Claims on devices that are used.
type ResourceClaim | Resource claim.
1 name! string | Name of it.
2 request string | Request.
type ContainerResizePolicy | Container resize policy.
1 resourceName! string | Resource name.
2 restartPolicy! string | Restart policy.
type ContainerRestartRule | Container restart rule.
1 action string | Restart, to start the container again.
2 exitCodes *ContainerRestartRuleOnExitCodes | Exit codes that are meant.
type ContainerRestartRuleOnExitCodes | Container restart rule on exit codes.
1 operator string | How the key is compared with the values.
2 values []int32 | The values to compare with.
type VolumeMount | A volume and where a container sees it.
1 name! string | Name of a volume of the pod.
2 readOnly bool | Whether it is mounted for reading alone.
7 recursiveReadOnly *string | Whether mounts below it are for reading alone, too.
3 mountPath! string | Path inside the container.
4 subPath string | Path inside the volume that is mounted instead of its root.
5 mountPropagation *string | Whether later mounts are seen on the other side.
6 subPathExpr string | The same, with $(NAME) of the environment put in.
type VolumeDevice | Volume device.
1 name! string | Name of it.
2 devicePath! string | Path of the device inside the container.
type Probe | A question that is asked again and again to learn how a container is.
1 < ProbeHandler
2 initialDelaySeconds int32 | Seconds to wait after the start.
3 timeoutSeconds int32 | Seconds after which no answer is a failure.
4 periodSeconds int32 | Seconds from one question to the next.
5 successThreshold int32 | How many good answers in a row are needed.
6 failureThreshold int32 | How many bad answers in a row are a failure.
7 terminationGracePeriodSeconds *int64 | Seconds to stop in when the probe failed.
type ProbeHandler | Probe handler.
1 exec *ExecAction | A command that must end with 0.
2 httpGet *HTTPGetAction | A page that must be answered with 200 to 399.
3 tcpSocket *TCPSocketAction | A port that must accept a connection.
4 grpc *GRPCAction | A gRPC health service that must say it serves.
type ExecAction | A command that is run.
1 command []string | The program and its arguments; there is no shell.
type HTTPGetAction | A page that is asked for.
1 path string | Path of the page.
2 port! intorstring | Number of the port.
3 host string | Host to ask; by default the pod's address.
4 scheme string | HTTP or HTTPS.
5 httpHeaders []HTTPHeader | Headers of the request.
type HTTPHeader | HTTP header.
1 name! string | Name of it.
2 value! string | Value of the header.
type TCPSocketAction | A port that is connected to.
1 port! intorstring | Number of the port.
2 host string | Host to connect to; by default the pod's address.
type GRPCAction | GRPC action.
1 port! int32 | Number of the port.
2 service *string | Name of the service that is asked for.
type Lifecycle | What is done after the start and before the stop.
1 postStart *LifecycleHandler | Done right after the container was started.
2 preStop *LifecycleHandler | Done before the container is told to stop.
3 stopSignal *string | The signal that tells the container to stop.
type LifecycleHandler | Lifecycle handler.
1 exec *ExecAction | A command that is run.
2 httpGet *HTTPGetAction | A page that is asked for.
3 tcpSocket *TCPSocketAction | No longer used.
4 sleep *SleepAction | Seconds to wait.
type SleepAction | Sleep action.
1 seconds! int64 | How many seconds.
type SecurityContext | User, group and rights of a container.
1 capabilities *Capabilities | Linux capabilities that are added and dropped.
2 privileged *bool | Whether the container has all rights of its node.
3 seLinuxOptions *SELinuxOptions | SELinux label of the container.
10 windowsOptions *WindowsSecurityContextOptions | Settings of Windows containers.
4 runAsUser *int64 | Number of the user that the container runs as.
8 runAsGroup *int64 | Number of the group that the container runs as.
5 runAsNonRoot *bool | Whether running as root is refused.
6 readOnlyRootFilesystem *bool | Whether the container's own files cannot be changed.
7 allowPrivilegeEscalation *bool | Whether a process may gain more rights than its parent.
9 procMount *string | How /proc is mounted.
11 seccompProfile *SeccompProfile | Which system calls are allowed.
12 appArmorProfile *AppArmorProfile | AppArmor profile of the container.
type Capabilities | Linux capabilities that are added and dropped.
1 add []string | Capabilities that are added.
2 drop []string | Capabilities that are taken away.
type SELinuxOptions | SE linux options.
1 user string | Name of the user.
2 role string | Role.
3 type string | Which one of its kind this is.
4 level string | Level.
type WindowsSecurityContextOptions | Windows security context options.
1 gmsaCredentialSpecName *string | Gmsa credential spec name.
2 gmsaCredentialSpec *string | Gmsa credential spec.
3 runAsUserName *string | Run as user name.
4 hostProcess *bool | Host process.
type SeccompProfile | Seccomp profile.
1 type! string | Which one of its kind this is.
2 localhostProfile *string | Name of a profile that is on the node.
type AppArmorProfile | App armor profile.
1 type! string | Which one of its kind this is.
2 localhostProfile *string | Name of a profile that is on the node.
type EphemeralContainer | A container added to a running pod to look into it.
1 < EphemeralContainerCommon
2 targetContainerName string | The container whose processes it sees.
type EphemeralContainerCommon | A container added to a running pod to look into it.
1 name! string | Name of the container, unique in its pod.
2 image string | Image that the container runs.
3 command []string | The program and its first arguments; by default the image's entrypoint.
4 args []string | Arguments of the program; by default the image's own.
5 workingDir string | Directory that the program starts in.
6 ports []ContainerPort ~containerPort | Ports that the container listens on.
19 envFrom []EnvFromSource | Config maps and secrets whose keys become environment variables.
7 env []EnvVar ~name | Environment variables.
8 resources ResourceRequirements | CPU, memory and devices that are requested and allowed.
23 resizePolicy []ContainerResizePolicy | What a change of resources does to the container.
24 restartPolicy *string | When this container is started again; Always makes an init container a sidecar.
25 restartPolicyRules []ContainerRestartRule | Exit codes that decide whether this container is started again.
9 volumeMounts []VolumeMount ~mountPath | Volumes and where the container sees them.
21 volumeDevices []VolumeDevice ~devicePath | Block devices that the container sees.
10 livenessProbe *Probe | Tells when the container must be started again.
11 readinessProbe *Probe | Tells when the container may be talked to.
22 startupProbe *Probe | Tells when the container has started; other probes wait for it.
12 lifecycle *Lifecycle | What is done after the start and before the stop.
13 terminationMessagePath string | File whose text is taken as the container's last words.
20 terminationMessagePolicy string | File, or FallbackToLogsOnError to take the end of the log.
14 imagePullPolicy string | Always, IfNotPresent or Never.
15 securityContext *SecurityContext | User, group and rights of the container.
16 stdin bool | Whether the container keeps a standard input to attach to.
17 stdinOnce bool | Whether standard input ends with the first who attached.
18 tty bool | Whether the container has a terminal.
type ContainerStatus | How a container is doing.
1 name! string | Name of the container.
2 state ContainerState | What it does now.
3 lastState ContainerState | How its last run ended.
4 ready! bool | Whether it may be talked to.
5 restartCount! int32 | How many times it was started again.
6 image! string | Image that it runs.
7 imageID! string | Digest of the image.
8 containerID string | Identity of the container with its runtime.
9 started *bool | Whether it has started.
10 allocatedResources {}quantity | What is set aside.
11 resources *ResourceRequirements | The resources; * is all.
12 volumeMounts []VolumeMountStatus ~mountPath | Volumes that are mounted.
13 user *ContainerUser | Name of the user.
14 allocatedResourcesStatus []ResourceStatus ~name | Allocated resources status.
15 stopSignal *string | The signal that tells it to stop.
type ContainerState | Waiting, running or terminated.
1 waiting *ContainerStateWaiting | It is not running yet.
2 running *ContainerStateRunning | It is running.
3 terminated *ContainerStateTerminated | It has ended.
type ContainerStateWaiting | Why a container is not running yet.
1 reason string | Why, as one word in CamelCase.
2 message string | Why, as a sentence for people.
type ContainerStateRunning | Since when a container is running.
1 startedAt time | When it started.
type ContainerStateTerminated | How a container ended.
1 exitCode! int32 | Exit code of the program.
2 signal int32 | Signal that ended it.
3 reason string | Completed, Error, OOMKilled or another word.
4 message string | Why, as a sentence for people.
5 startedAt time | When it started.
6 finishedAt time | When it ended.
7 containerID string | Identity of the container with its runtime.
type VolumeMountStatus | How a volume mount is doing.
1 name! string | Name of it.
2 mountPath! string | Mount path.
3 readOnly bool | Whether it is mounted for reading alone.
4 recursiveReadOnly *string | Recursive read only.
5 volumeStatus *VolumeStatus | Volume status.
type VolumeStatus | How a volume is doing.
1 image *ImageVolumeStatus | Image.
type ImageVolumeStatus | How an image volume is doing.
1 imageRef string | Image ref.
type ContainerUser | Container user.
1 linux *LinuxContainerUser | Linux.
type LinuxContainerUser | Linux container user.
1 uid! int64 | Identity of the object, unique over all time.
2 gid! int64 | Gid.
3 supplementalGroups []int64 | Supplemental groups.
type ResourceStatus | How a resource is doing.
1 name! string | Name of it.
2 resources []ResourceHealth | The resources; * is all.
type ResourceHealth | Resource health.
1 resourceID! string | Resource ID.
2 health string | Health.
6 message *string | Why, as a sentence for people.
)";

}  // namespace trainyard::server
