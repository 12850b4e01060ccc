// Schemas of volumes and claims.
#include "server/schema_text.h"

namespace trainyard::server {

const std::string_view kVolumeSchemas = R"(
package io.k8s.api.core.v1
type Volume | Storage that the containers of a pod may mount.
1 name! string | Name of the volume, unique in its pod.
2 < VolumeSource
type VolumeSource | Where the files of a volume come from.
1 hostPath *HostPathVolumeSource | A file or directory of the node.
2 emptyDir *EmptyDirVolumeSource | An empty directory that lives as long as the pod.
3 gcePersistentDisk *GCEPersistentDiskVolumeSource | A disk of Google Cloud.
4 awsElasticBlockStore *AWSElasticBlockStoreVolumeSource | A disk of AWS.
5 gitRepo *GitRepoVolumeSource | A git repository; no longer used.
6 secret *SecretVolumeSource | Files made from a secret.
7 nfs *NFSVolumeSource | A directory of an NFS server.
8 iscsi *ISCSIVolumeSource | An iSCSI disk.
9 glusterfs *GlusterfsVolumeSource | A GlusterFS volume.
10 persistentVolumeClaim *PersistentVolumeClaimVolumeSource | A persistent volume that was claimed.
11 rbd *RBDVolumeSource | A Ceph block device.
12 flexVolume *FlexVolumeSource | A volume of a Flex driver.
13 cinder *CinderVolumeSource | A disk of OpenStack.
14 cephfs *CephFSVolumeSource | A CephFS directory.
15 flocker *FlockerVolumeSource | Flocker.
16 downwardAPI *DownwardAPIVolumeSource | Files made from fields of the pod.
17 fc *FCVolumeSource | A Fibre Channel disk.
18 azureFile *AzureFileVolumeSource | A file share of Azure.
19 configMap *ConfigMapVolumeSource | Files made from a config map.
20 vsphereVolume *VsphereVirtualDiskVolumeSource | A disk of vSphere.
21 quobyte *QuobyteVolumeSource | Quobyte.
22 azureDisk *AzureDiskVolumeSource | A disk of Azure.
23 photonPersistentDisk *PhotonPersistentDiskVolumeSource | Photon persistent disk.
26 projected *ProjectedVolumeSource | Several sources in one directory.
24 portworxVolume *PortworxVolumeSource | Portworx volume.
25 scaleIO *ScaleIOVolumeSource | Scale IO.
27 storageos *StorageOSVolumeSource | Storageos.
28 csi *CSIVolumeSource | A volume of a CSI driver that lives as long as the pod.
29 ephemeral *EphemeralVolumeSource | A claim that is made for the pod and lives as long.
30 image *ImageVolumeSource | The files of an image.
type HostPathVolumeSource | A file or directory of the node.
1 path! string | Path on the node.
2 type *string | What must be there: Directory, DirectoryOrCreate, File, FileOrCreate, Socket and so on.
type EmptyDirVolumeSource | An empty directory that lives as long as the pod.
1 medium string | Memory for a directory in memory; empty for the disk.
2 sizeLimit *quantity | The most that it may hold.
type GCEPersistentDiskVolumeSource | GCE persistent disk volume source.
1 pdName! string | Pd name.
2 fsType string | The file system of the volume, such as ext4.
3 partition int32 | Number of the partition, when the volume has several.
4 readOnly bool | Whether it is mounted for reading alone.
type AWSElasticBlockStoreVolumeSource | AWS elastic block store volume source.
1 volumeID! string | Identity of the volume with its provider.
2 fsType string | The file system of the volume, such as ext4.
3 partition int32 | Number of the partition, when the volume has several.
4 readOnly bool | Whether it is mounted for reading alone.
type GitRepoVolumeSource | Git repo volume source.
1 repository! string | Address of the repository.
2 revision string | Revision.
3 directory string | Directory.
type SecretVolumeSource | Files made from a secret.
1 secretName string | Name of the secret.
2 items []KeyToPath | Which keys go to which files; all of them when it is empty.
3 defaultMode *int32 | Permission bits of the files that are made, unless an item has its own.
4 optional *bool | Whether it may be missing.
type KeyToPath | A key and the file that it becomes.
1 key! string | The key that is taken.
2 path! string | Path of the file below the mount.
3 mode *int32 | Permission bits of the file.
type NFSVolumeSource | NFS volume source.
1 server! string | Address of the NFS server.
2 path! string | Path of it.
3 readOnly bool | Whether it is mounted for reading alone.
type ISCSIVolumeSource | ISCSI volume source.
1 targetPortal! string | Target portal.
2 iqn! string | Iqn.
3 lun! int32 | Lun.
4 iscsiInterface string | Iscsi interface.
5 fsType string | The file system of the volume, such as ext4.
6 readOnly bool | Whether it is mounted for reading alone.
7 portals []string | Portals.
8 chapAuthDiscovery bool | Chap auth discovery.
11 chapAuthSession bool | Chap auth session.
10 secretRef *LocalObjectReference | The secret with the credentials.
12 initiatorName *string | Initiator name.
type GlusterfsVolumeSource | Glusterfs volume source.
1 endpoints! string | Endpoints.
2 path! string | Path of it.
3 readOnly bool | Whether it is mounted for reading alone.
type PersistentVolumeClaimVolumeSource | A persistent volume that was claimed.
1 claimName! string | Name of the claim in the pod's namespace.
2 readOnly bool | Whether it is mounted for reading alone.
type RBDVolumeSource | RBD volume source.
1 monitors! []string | Monitors.
2 image! string | Image.
3 fsType string | The file system of the volume, such as ext4.
4 pool string | Pool.
5 user string | Name of the user.
6 keyring string | Keyring.
7 secretRef *LocalObjectReference | The secret with the credentials.
8 readOnly bool | Whether it is mounted for reading alone.
type FlexVolumeSource | Flex volume source.
1 driver! string | Name of the driver.
2 fsType string | The file system of the volume, such as ext4.
3 secretRef *LocalObjectReference | The secret with the credentials.
4 readOnly bool | Whether it is mounted for reading alone.
5 options {}string | Options of it.
type CinderVolumeSource | Cinder volume source.
1 volumeID! string | Identity of the volume with its provider.
2 fsType string | The file system of the volume, such as ext4.
3 readOnly bool | Whether it is mounted for reading alone.
4 secretRef *LocalObjectReference | The secret with the credentials.
type CephFSVolumeSource | Ceph FS volume source.
1 monitors! []string | Monitors.
2 path string | Path of it.
3 user string | Name of the user.
4 secretFile string | Secret file.
5 secretRef *LocalObjectReference | The secret with the credentials.
6 readOnly bool | Whether it is mounted for reading alone.
type FlockerVolumeSource | Flocker volume source.
1 datasetName string | Dataset name.
2 datasetUUID string | Dataset UUID.
type DownwardAPIVolumeSource | Downward API volume source.
1 items []DownwardAPIVolumeFile | Which keys go to which files; all of them when it is empty.
2 defaultMode *int32 | Permission bits of the files that are made, unless an item has its own.
type DownwardAPIVolumeFile | Downward API volume file.
1 path! string | Path of it.
2 fieldRef *ObjectFieldSelector | A field of the pod, such as metadata.labels.
3 resourceFieldRef *ResourceFieldSelector | A request or limit of a container.
4 mode *int32 | Permission bits of the file.
type FCVolumeSource | FC volume source.
1 targetWWNs []string | Target WW ns.
2 lun *int32 | Lun.
3 fsType string | The file system of the volume, such as ext4.
4 readOnly bool | Whether it is mounted for reading alone.
5 wwids []string | Wwids.
type AzureFileVolumeSource | Azure file volume source.
1 secretName! string | Name of the secret.
2 shareName! string | Share name.
3 readOnly bool | Whether it is mounted for reading alone.
type ConfigMapVolumeSource | Files made from a config map.
1 < LocalObjectReference
2 items []KeyToPath | Which keys go to which files; all of them when it is empty.
3 defaultMode *int32 | Permission bits of the files that are made, unless an item has its own.
4 optional *bool | Whether it may be missing.
type VsphereVirtualDiskVolumeSource | Vsphere virtual disk volume source.
1 volumePath! string | Volume path.
2 fsType string | The file system of the volume, such as ext4.
3 storagePolicyName string | Storage policy name.
4 storagePolicyID string | Storage policy ID.
type QuobyteVolumeSource | Quobyte volume source.
1 registry! string | Registry.
2 volume! string | Volume.
3 readOnly bool | Whether it is mounted for reading alone.
4 user string | Name of the user.
5 group string | Group.
6 tenant string | Tenant.
type AzureDiskVolumeSource | Azure disk volume source.
1 diskName! string | Disk name.
2 diskURI! string | Disk URI.
3 cachingMode *string | Caching mode.
4 fsType *string | The file system of the volume, such as ext4.
5 readOnly *bool | Whether it is mounted for reading alone.
6 kind *string | Kind of the object.
type PhotonPersistentDiskVolumeSource | Photon persistent disk volume source.
1 pdID! string | Pd ID.
2 fsType string | The file system of the volume, such as ext4.
type ProjectedVolumeSource | Several sources in one directory.
1 sources []VolumeProjection | The sources, later ones on top.
2 defaultMode *int32 | Permission bits of the files that are made, unless an item has its own.
type VolumeProjection | One of several sources of a directory.
1 secret *SecretProjection | Files made from a secret.
2 downwardAPI *DownwardAPIProjection | Files made from fields of the pod.
3 configMap *ConfigMapProjection | Files made from a config map.
4 serviceAccountToken *ServiceAccountTokenProjection | A token of the service account.
5 clusterTrustBundle *ClusterTrustBundleProjection | Certificates of authorities.
6 podCertificate *PodCertificateProjection | A certificate of the pod's own.
type SecretProjection | Secret projection.
1 < LocalObjectReference
2 items []KeyToPath | Which keys go to which files; all of them when it is empty.
4 optional *bool | Whether it may be missing.
type DownwardAPIProjection | Downward API projection.
1 items []DownwardAPIVolumeFile | Which keys go to which files; all of them when it is empty.
type ConfigMapProjection | Config map projection.
1 < LocalObjectReference
2 items []KeyToPath | Which keys go to which files; all of them when it is empty.
4 optional *bool | Whether it may be missing.
type ServiceAccountTokenProjection | Service account token projection.
1 audience string | Who the token is for.
2 expirationSeconds *int64 | Seconds that the token is good for.
3 path! string | Path of it.
type ClusterTrustBundleProjection | Cluster trust bundle projection.
1 name *string | Name of it.
2 signerName *string | Signer name.
3 labelSelector *LabelSelector | Which pods are counted, by their labels.
5 optional *bool | Whether it may be missing.
4 path! string | Path of it.
type PodCertificateProjection | Pod certificate projection.
1 signerName string | Signer name.
2 keyType string | Key type.
3 maxExpirationSeconds *int32 | Max expiration seconds.
4 credentialBundlePath string | Credential bundle path.
5 keyPath string | Key path.
6 certificateChainPath string | Certificate chain path.
7 userAnnotations {}string | User annotations.
type PortworxVolumeSource | Portworx volume source.
1 volumeID! string | Identity of the volume with its provider.
2 fsType string | The file system of the volume, such as ext4.
3 readOnly bool | Whether it is mounted for reading alone.
type ScaleIOVolumeSource | Scale IO volume source.
1 gateway! string | Gateway.
2 system! string | System.
3 secretRef! *LocalObjectReference | The secret with the credentials.
4 sslEnabled bool | Ssl enabled.
5 protectionDomain string | Protection domain.
6 storagePool string | Storage pool.
7 storageMode string | Storage mode.
8 volumeName string | Volume name.
9 fsType string | The file system of the volume, such as ext4.
10 readOnly bool | Whether it is mounted for reading alone.
type StorageOSVolumeSource | Storage OS volume source.
1 volumeName string | Volume name.
2 volumeNamespace string | Volume namespace.
3 fsType string | The file system of the volume, such as ext4.
4 readOnly bool | Whether it is mounted for reading alone.
5 secretRef *LocalObjectReference | The secret with the credentials.
type CSIVolumeSource | CSI volume source.
1 driver! string | Name of the driver.
2 readOnly *bool | Whether it is mounted for reading alone.
3 fsType *string | The file system of the volume, such as ext4.
4 volumeAttributes {}string | What the driver is told.
5 nodePublishSecretRef *LocalObjectReference | Node publish secret ref.
type EphemeralVolumeSource | Ephemeral volume source.
1 volumeClaimTemplate *PersistentVolumeClaimTemplate | The claim that is made.
type PersistentVolumeClaimTemplate | Persistent volume claim template.
1 metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
2 spec PersistentVolumeClaimSpec | What is wanted.
type PersistentVolumeClaimSpec | What is wanted of a persistent volume claim.
1 accessModes []string | ReadWriteOnce, ReadOnlyMany, ReadWriteMany or ReadWriteOncePod.
4 selector *LabelSelector | Which volumes may be bound, by their labels.
2 resources VolumeResourceRequirements | How much storage is wanted.
3 volumeName string | Name of the volume that is bound.
5 storageClassName *string | Name of the class of storage.
6 volumeMode *string | Filesystem or Block.
7 dataSource *TypedLocalObjectReference | What the volume is filled from.
8 dataSourceRef *TypedObjectReference | What the volume is filled from, of any kind.
9 volumeAttributesClassName *string | Name of the class of attributes.
type VolumeResourceRequirements | Volume resource requirements.
1 limits {}quantity | The most that may be given.
2 requests {}quantity | The least that is needed: storage.
type ImageVolumeSource | Image volume source.
1 reference string | Name of the image.
2 pullPolicy string | Always, IfNotPresent or Never.
type PersistentVolumeClaim kind /v1 | A request for storage that outlives pods.
1 metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
2 spec PersistentVolumeClaimSpec | What is wanted.
3 status PersistentVolumeClaimStatus | What is there now; written by the system.
type PersistentVolumeClaimStatus | How a persistent volume claim is doing.
1 phase string | Pending, Bound or Lost.
2 accessModes []string | How the volume may be mounted.
3 capacity {}quantity | How much storage there is.
4 conditions []PersistentVolumeClaimCondition ~type | What is known of its state, one entry for each type.
5 allocatedResources {}quantity | What is set aside.
7 allocatedResourceStatuses {}string | Allocated resource statuses.
8 currentVolumeAttributesClassName *string | Current volume attributes class name.
9 modifyVolumeStatus *ModifyVolumeStatus | Modify volume status.
type PersistentVolumeClaimCondition | One aspect of the state of a persistent volume claim.
1 type! string | Which one of its kind this is.
2 status string | True, False or Unknown.
3 lastProbeTime time | When the condition was last looked at.
4 lastTransitionTime time | When the condition last changed from one status to another.
5 reason string | Why, as one word in CamelCase.
6 message string | Why, as a sentence for people.
type ModifyVolumeStatus | How a modify volume is doing.
1 targetVolumeAttributesClassName string | Target volume attributes class name.
2 status string | What is there now; written by the system.
type PersistentVolume kind /v1 | Storage that was made and can be claimed.
1 metadata ObjectMeta | Name, namespace, labels and the rest that every object has.
2 spec PersistentVolumeSpec | What is wanted.
3 status PersistentVolumeStatus | What is there now; written by the system.
type PersistentVolumeSpec | What is wanted of a persistent volume.
1 capacity {}quantity | How much storage there is.
2 < PersistentVolumeSource
3 accessModes []string | How the volume may be mounted.
4 claimRef *ObjectReference | The claim that it is bound to.
5 persistentVolumeReclaimPolicy string | Retain, Delete or Recycle: what follows when it is released.
6 storageClassName string | Name of the class of storage.
7 mountOptions []string | Options of the mount.
8 volumeMode *string | Filesystem or Block.
9 nodeAffinity *VolumeNodeAffinity | Nodes that can reach the volume.
10 volumeAttributesClassName *string | Volume attributes class name.
type PersistentVolumeSource | Persistent volume source.
1 gcePersistentDisk *GCEPersistentDiskVolumeSource | A disk of Google Cloud.
2 awsElasticBlockStore *AWSElasticBlockStoreVolumeSource | A disk of AWS.
3 hostPath *HostPathVolumeSource | A directory of the node.
4 glusterfs *GlusterfsPersistentVolumeSource | A GlusterFS volume.
5 nfs *NFSVolumeSource | A directory of an NFS server.
6 rbd *RBDPersistentVolumeSource | A Ceph block device.
7 iscsi *ISCSIPersistentVolumeSource | An iSCSI disk.
8 cinder *CinderPersistentVolumeSource | A disk of OpenStack.
9 cephfs *CephFSPersistentVolumeSource | A CephFS directory.
10 fc *FCVolumeSource | A Fibre Channel disk.
11 flocker *FlockerVolumeSource | Flocker.
12 flexVolume *FlexPersistentVolumeSource | A volume of a Flex driver.
13 azureFile *AzureFilePersistentVolumeSource | A file share of Azure.
14 vsphereVolume *VsphereVirtualDiskVolumeSource | A disk of vSphere.
15 quobyte *QuobyteVolumeSource | Quobyte.
16 azureDisk *AzureDiskVolumeSource | A disk of Azure.
17 photonPersistentDisk *PhotonPersistentDiskVolumeSource | Photon persistent disk.
18 portworxVolume *PortworxVolumeSource | Portworx volume.
19 scaleIO *ScaleIOPersistentVolumeSource | Scale IO.
20 local *LocalVolumeSource | A disk or directory of one node.
21 storageos *StorageOSPersistentVolumeSource | Storageos.
22 csi *CSIPersistentVolumeSource | A volume of a CSI driver.
type GlusterfsPersistentVolumeSource | Glusterfs persistent volume source.
1 endpoints! string | Endpoints.
2 path! string | Path of it.
3 readOnly bool | Whether it is mounted for reading alone.
4 endpointsNamespace *string | Endpoints namespace.
type RBDPersistentVolumeSource | RBD persistent volume source.
1 monitors! []string | Monitors.
2 image! string | Image.
3 fsType string | The file system of the volume, such as ext4.
4 pool string | Pool.
5 user string | Name of the user.
6 keyring string | Keyring.
7 secretRef *SecretReference | The secret with the credentials.
8 readOnly bool | Whether it is mounted for reading alone.
type ISCSIPersistentVolumeSource | ISCSI persistent volume source.
1 targetPortal! string | Target portal.
2 iqn! string | Iqn.
3 lun! int32 | Lun.
4 iscsiInterface string | Iscsi interface.
5 fsType string | The file system of the volume, such as ext4.
6 readOnly bool | Whether it is mounted for reading alone.
7 portals []string | Portals.
8 chapAuthDiscovery bool | Chap auth discovery.
11 chapAuthSession bool | Chap auth session.
10 secretRef *SecretReference | The secret with the credentials.
12 initiatorName *string | Initiator name.
type CinderPersistentVolumeSource | Cinder persistent volume source.
1 volumeID! string | Identity of the volume with its provider.
2 fsType string | The file system of the volume, such as ext4.
3 readOnly bool | Whether it is mounted for reading alone.
4 secretRef *SecretReference | The secret with the credentials.
type CephFSPersistentVolumeSource | Ceph FS persistent volume source.
1 monitors! []string | Monitors.
2 path string | Path of it.
3 user string | Name of the user.
4 secretFile string | Secret file.
5 secretRef *SecretReference | The secret with the credentials.
6 readOnly bool | Whether it is mounted for reading alone.
type FlexPersistentVolumeSource | Flex persistent volume source.
1 driver! string | Name of the driver.
2 fsType string | The file system of the volume, such as ext4.
3 secretRef *SecretReference | The secret with the credentials.
4 readOnly bool | Whether it is mounted for reading alone.
5 options {}string | Options of it.
type AzureFilePersistentVolumeSource | Azure file persistent volume source.
1 secretName! string | Name of the secret.
2 shareName! string | Share name.
3 readOnly bool | Whether it is mounted for reading alone.
4 secretNamespace *string | Secret namespace.
type ScaleIOPersistentVolumeSource | Scale IO persistent volume source.
1 gateway! string | Gateway.
2 system! string | System.
3 secretRef! *SecretReference | The secret with the credentials.
4 sslEnabled bool | Ssl enabled.
5 protectionDomain string | Protection domain.
6 storagePool string | Storage pool.
7 storageMode string | Storage mode.
8 volumeName string | Volume name.
9 fsType string | The file system of the volume, such as ext4.
10 readOnly bool | Whether it is mounted for reading alone.
type LocalVolumeSource | Local volume source.
1 path! string | Path of it.
2 fsType *string | The file system of the volume, such as ext4.
type StorageOSPersistentVolumeSource | Storage OS persistent volume source.
1 volumeName string | Volume name.
2 volumeNamespace string | Volume namespace.
3 fsType string | The file system of the volume, such as ext4.
4 readOnly bool | Whether it is mounted for reading alone.
5 secretRef *ObjectReference | The secret with the credentials.
type CSIPersistentVolumeSource | CSI persistent volume source.
1 driver! string | Name of the driver.
2 volumeHandle! string | Identity of the volume with its driver.
3 readOnly bool | Whether it is mounted for reading alone.
4 fsType string | The file system of the volume, such as ext4.
5 volumeAttributes {}string | What the driver is told.
6 controllerPublishSecretRef *SecretReference | Controller publish secret ref.
7 nodeStageSecretRef *SecretReference | Node stage secret ref.
8 nodePublishSecretRef *SecretReference | Node publish secret ref.
9 controllerExpandSecretRef *SecretReference | Controller expand secret ref.
10 nodeExpandSecretRef *SecretReference | Node expand secret ref.
type VolumeNodeAffinity | Volume node affinity.
1 required *NodeSelector | Requirements on the nodes.
type PersistentVolumeStatus | How a persistent volume is doing.
1 phase string | Pending, Available, Bound, Released or Failed.
2 message string | Why, as a sentence for people.
3 reason string | Why, as one word in CamelCase.
4 lastPhaseTransitionTime *time | When the phase last changed.
)";

}  // namespace trainyard::server
