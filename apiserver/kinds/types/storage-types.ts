/** Persistent volumes, claims, storage classes and what drivers report. Notation: openapi/notation.ts. */
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
  tokenRequests [TokenRequest] @21; requiresRepublish* flag @21; seLinuxMount* flag @27
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
