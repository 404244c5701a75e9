/** What a pod can mount. Notation: openapi/notation.ts. */
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
