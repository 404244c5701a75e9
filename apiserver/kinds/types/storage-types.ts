/** Types of volumes of pods, persistent volumes, claims, storage classes and objects of drivers. Notation: openapi/schema.ts. */
export const storageTypes = `
core.v1.PersistentVolume
  spec+ PersistentVolumeSpec; status+ PersistentVolumeStatus
core.v1.PersistentVolumeClaim
  kind text; apiVersion text; metadata+ ObjectMeta; spec+ PersistentVolumeClaimSpec; status+ PersistentVolumeClaimStatus
storage.v1.StorageClass
  provisioner! text; parameters {text}; reclaimPolicy* text; mountOptions [text]; allowVolumeExpansion* flag; volumeBindingMode* text;
  allowedTopologies [TopologySelectorTerm]
storage.v1.CSINode
  spec! CSINodeSpec
storage.v1.CSIDriver
  spec! CSIDriverSpec
storage.v1.VolumeAttachment
  spec! VolumeAttachmentSpec; status+ VolumeAttachmentStatus
core.v1.PersistentVolumeSpec
  capacity {quantity}; gcePersistentDisk* GCEPersistentDiskVolumeSource; awsElasticBlockStore* AWSElasticBlockStoreVolumeSource;
  hostPath* HostPathVolumeSource; glusterfs* GlusterfsPersistentVolumeSource; nfs* NFSVolumeSource; rbd* RBDPersistentVolumeSource;
  iscsi* ISCSIPersistentVolumeSource; cinder* CinderPersistentVolumeSource; cephfs* CephFSPersistentVolumeSource; fc* FCVolumeSource;
  flocker* FlockerVolumeSource; flexVolume* FlexPersistentVolumeSource; azureFile* AzureFilePersistentVolumeSource;
  vsphereVolume* VsphereVirtualDiskVolumeSource; quobyte* QuobyteVolumeSource; azureDisk* AzureDiskVolumeSource;
  photonPersistentDisk* PhotonPersistentDiskVolumeSource; portworxVolume* PortworxVolumeSource; scaleIO* ScaleIOPersistentVolumeSource;
  local* LocalVolumeSource; storageos* StorageOSPersistentVolumeSource; csi* CSIPersistentVolumeSource; accessModes [text];
  claimRef* ObjectReference; persistentVolumeReclaimPolicy text; storageClassName text; mountOptions [text]; volumeMode* text;
  nodeAffinity* VolumeNodeAffinity; volumeAttributesClassName* text @34
core.v1.PersistentVolumeStatus
  phase text; message text; reason text; lastPhaseTransitionTime* time @29
core.v1.PersistentVolumeClaimSpec
  accessModes [text]; selector* LabelSelector; resources+ ResourceRequirements; volumeName text; storageClassName* text;
  volumeMode* text; dataSource* TypedLocalObjectReference; dataSourceRef* TypedObjectReference @24; volumeAttributesClassName* text @34
core.v1.PersistentVolumeClaimStatus
  phase text; accessModes [text]; capacity {quantity}; conditions [PersistentVolumeClaimCondition] by type;
  allocatedResources {quantity} @32; allocatedResourceStatuses {text} @32; currentVolumeAttributesClassName* text @34
core.v1.TopologySelectorTerm
  matchLabelExpressions [TopologySelectorLabelRequirement]
storage.v1.CSINodeSpec
  drivers! [CSINodeDriver] by name
storage.v1.CSIDriverSpec
  attachRequired* flag; podInfoOnMount* flag; volumeLifecycleModes [text]; storageCapacity* flag @21; fsGroupPolicy* text;
  tokenRequests [TokenRequest] @21; requiresRepublish* flag @21; seLinuxMount* flag @27;
  preventPodSchedulingIfMissing* flag @37
storage.v1.VolumeAttachmentSpec
  attacher! text; source! VolumeAttachmentSource; nodeName! text
storage.v1.VolumeAttachmentStatus
  attached! flag; attachmentMetadata {text}; attachError* VolumeError; detachError* VolumeError
core.v1.GCEPersistentDiskVolumeSource
  pdName! text; fsType text; partition int32; readOnly flag
core.v1.GlusterfsPersistentVolumeSource
  endpoints! text; path! text; readOnly flag; endpointsNamespace* text
core.v1.RBDPersistentVolumeSource
  monitors! [text]; image! text; fsType text; pool text; user text; keyring text; secretRef* SecretReference; readOnly flag
core.v1.ISCSIPersistentVolumeSource
  targetPortal! text; iqn! text; lun! int32; iscsiInterface text; fsType text; readOnly flag; portals [text]; chapAuthDiscovery flag;
  chapAuthSession flag; secretRef* SecretReference; initiatorName* text
core.v1.CinderPersistentVolumeSource
  volumeID! text; fsType text; readOnly flag; secretRef* SecretReference
core.v1.CephFSPersistentVolumeSource
  monitors! [text]; path text; user text; secretFile text; secretRef* SecretReference; readOnly flag
core.v1.FlexPersistentVolumeSource
  driver! text; fsType text; secretRef* SecretReference; readOnly flag; options {text}
core.v1.AzureFilePersistentVolumeSource
  secretName! text; shareName! text; readOnly flag; secretNamespace* text
core.v1.PhotonPersistentDiskVolumeSource
  pdID! text; fsType text
core.v1.ScaleIOPersistentVolumeSource
  gateway! text; system! text; secretRef!* SecretReference; sslEnabled flag; protectionDomain text; storagePool text; storageMode text;
  volumeName text; fsType text; readOnly flag
core.v1.StorageOSPersistentVolumeSource
  volumeName text; volumeNamespace text; fsType text; readOnly flag; secretRef* ObjectReference
core.v1.CSIPersistentVolumeSource
  driver! text; volumeHandle! text; readOnly flag; fsType text; volumeAttributes {text}; controllerPublishSecretRef* SecretReference;
  nodeStageSecretRef* SecretReference; nodePublishSecretRef* SecretReference; controllerExpandSecretRef* SecretReference;
  nodeExpandSecretRef* SecretReference @27
core.v1.VolumeNodeAffinity
  required* NodeSelector
core.v1.TypedLocalObjectReference
  apiGroup* text; kind! text; name! text
core.v1.PersistentVolumeClaimCondition
  type! text; status! text; lastProbeTime+ time; lastTransitionTime+ time; reason text; message text
core.v1.TopologySelectorLabelRequirement
  key! text; values! [text]
storage.v1.CSINodeDriver
  name! text; nodeID! text; topologyKeys+ [text]; allocatable* VolumeNodeResources
storage.v1.TokenRequest
  audience! text; expirationSeconds* int64
storage.v1.VolumeAttachmentSource
  persistentVolumeName* text; inlineVolumeSpec* PersistentVolumeSpec
storage.v1.VolumeError
  time+ time; message text
storage.v1.VolumeNodeResources
  count* int32
core.v1.TypedObjectReference
  apiGroup* text; kind! text; name! text; namespace* text
`;

/** Types of volumes that a pod can mount. Notation: openapi/schema.ts. */
export const volumeTypes = `
core.v1.Volume
  name! text; hostPath* HostPathVolumeSource; emptyDir* EmptyDirVolumeSource; gcePersistentDisk* GCEPersistentDiskVolumeSource;
  awsElasticBlockStore* AWSElasticBlockStoreVolumeSource; gitRepo* GitRepoVolumeSource; secret* SecretVolumeSource;
  nfs* NFSVolumeSource; iscsi* ISCSIVolumeSource; glusterfs* GlusterfsVolumeSource;
  persistentVolumeClaim* PersistentVolumeClaimVolumeSource; rbd* RBDVolumeSource; flexVolume* FlexVolumeSource;
  cinder* CinderVolumeSource; cephfs* CephFSVolumeSource; flocker* FlockerVolumeSource; downwardAPI* DownwardAPIVolumeSource;
  fc* FCVolumeSource; azureFile* AzureFileVolumeSource; configMap* ConfigMapVolumeSource; vsphereVolume* VsphereVirtualDiskVolumeSource;
  quobyte* QuobyteVolumeSource; azureDisk* AzureDiskVolumeSource; photonPersistentDisk* PhotonPersistentDiskVolumeSource;
  projected* ProjectedVolumeSource; portworxVolume* PortworxVolumeSource; scaleIO* ScaleIOVolumeSource;
  storageos* StorageOSVolumeSource; csi* CSIVolumeSource; ephemeral* EphemeralVolumeSource @21; image* ImageVolumeSource @35
core.v1.AWSElasticBlockStoreVolumeSource
  volumeID! text; fsType text; partition int32; readOnly flag
core.v1.HostPathVolumeSource
  path! text; type* text
core.v1.NFSVolumeSource
  server! text; path! text; readOnly flag
core.v1.FCVolumeSource
  targetWWNs [text]; lun* int32; fsType text; readOnly flag; wwids [text]
core.v1.FlockerVolumeSource
  datasetName text; datasetUUID text
core.v1.VsphereVirtualDiskVolumeSource
  volumePath! text; fsType text; storagePolicyName text; storagePolicyID text
core.v1.QuobyteVolumeSource
  registry! text; volume! text; readOnly flag; user text; group text; tenant text
core.v1.AzureDiskVolumeSource
  diskName! text; diskURI! text; cachingMode* text; fsType* text; readOnly* flag; kind* text
core.v1.PortworxVolumeSource
  volumeID! text; fsType text; readOnly flag
core.v1.LocalVolumeSource
  path! text; fsType* text
core.v1.EmptyDirVolumeSource
  medium text; sizeLimit* quantity
core.v1.GitRepoVolumeSource
  repository! text; revision text; directory text
core.v1.SecretVolumeSource
  secretName text; items [KeyToPath]; defaultMode* int32; optional* flag
core.v1.ISCSIVolumeSource
  targetPortal! text; iqn! text; lun! int32; iscsiInterface text; fsType text; readOnly flag; portals [text]; chapAuthDiscovery flag;
  chapAuthSession flag; secretRef* LocalObjectReference; initiatorName* text
core.v1.GlusterfsVolumeSource
  endpoints! text; path! text; readOnly flag
core.v1.PersistentVolumeClaimVolumeSource
  claimName! text; readOnly flag
core.v1.RBDVolumeSource
  monitors! [text]; image! text; fsType text; pool text; user text; keyring text; secretRef* LocalObjectReference; readOnly flag
core.v1.FlexVolumeSource
  driver! text; fsType text; secretRef* LocalObjectReference; readOnly flag; options {text}
core.v1.CinderVolumeSource
  volumeID! text; fsType text; readOnly flag; secretRef* LocalObjectReference
core.v1.CephFSVolumeSource
  monitors! [text]; path text; user text; secretFile text; secretRef* LocalObjectReference; readOnly flag
core.v1.DownwardAPIVolumeSource
  items [DownwardAPIVolumeFile]; defaultMode* int32
core.v1.AzureFileVolumeSource
  secretName! text; shareName! text; readOnly flag
core.v1.ConfigMapVolumeSource
  name text; items [KeyToPath]; defaultMode* int32; optional* flag
core.v1.ProjectedVolumeSource
  sources+ [VolumeProjection]; defaultMode* int32
core.v1.ScaleIOVolumeSource
  gateway! text; system! text; secretRef!* LocalObjectReference; sslEnabled flag; protectionDomain text; storagePool text;
  storageMode text; volumeName text; fsType text; readOnly flag
core.v1.StorageOSVolumeSource
  volumeName text; volumeNamespace text; fsType text; readOnly flag; secretRef* LocalObjectReference
core.v1.CSIVolumeSource
  driver! text; readOnly* flag; fsType* text; volumeAttributes {text}; nodePublishSecretRef* LocalObjectReference
core.v1.EphemeralVolumeSource
  volumeClaimTemplate* PersistentVolumeClaimTemplate; readOnly flag
core.v1.SecretReference
  name text; namespace text
core.v1.KeyToPath
  key! text; path! text; mode* int32
core.v1.DownwardAPIVolumeFile
  path! text; fieldRef* ObjectFieldSelector; resourceFieldRef* ResourceFieldSelector; mode* int32
core.v1.VolumeProjection
  secret* SecretProjection; downwardAPI* DownwardAPIProjection; configMap* ConfigMapProjection;
  serviceAccountToken* ServiceAccountTokenProjection
core.v1.PersistentVolumeClaimTemplate
  metadata+ ObjectMeta; spec! PersistentVolumeClaimSpec
core.v1.SecretProjection
  name text; items [KeyToPath]; optional* flag
core.v1.DownwardAPIProjection
  items [DownwardAPIVolumeFile]
core.v1.ConfigMapProjection
  name text; items [KeyToPath]; optional* flag
core.v1.ServiceAccountTokenProjection
  audience text; expirationSeconds* int64; path! text
core.v1.ImageVolumeSource
  reference text; pullPolicy text
`;
