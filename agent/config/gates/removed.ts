/**
 * Feature gates that were removed by 1.32, in the notation of `table.ts`. A gate that became stable, and that 1.32 no longer lists, was removed in
 * 1.32 at the latest; where the exact minor is unknown, the table says that kubelets before 1.32 have it.
 */
export const REMOVED_GATE_LINES = `
AdvancedAuditing G20 x31
AllowInsecureBackendProxy b20 g21 x26
APIPriorityAndFairness b20 g29 x32
APISelfSubjectReview a26 b27 g28 x31
AttachVolumeLimit g20 x22
BalanceAttachedNodeVolumes a20 d22 x23
BlockVolume g20 x22
BoundServiceAccountTokenVolume a20 b21 g22 x24
CloudDualStackNodeIPs a27 b29 g30 x32
ConfigurableFSGroupPolicy b20 g23 x26
ConsistentHTTPGetHandlers g25 x31
ControllerManagerLeaderMigration a21 b22 g24 x27
CRIContainerLogRotation b20 g21 x23
CronJobControllerV2 a20 b21 g22 x24
CronJobTimeZone a24 b25 g27 x29
CSIBlockVolume g20 x22
CSIDriverRegistry g20 x22
CSIInlineVolume b20 g25 x27
CSIMigration b20 g25 x27
CSIMigrationAWS B20 b23 g25 x27
CSIMigrationAWSComplete a20 d21 x22
CSIMigrationAzureDisk B20 b23 g24 x27
CSIMigrationAzureDiskComplete a20 d21 x22
CSIMigrationAzureFile a20 B21 b24 g26 x30
CSIMigrationAzureFileComplete a20 d21 x22
CSIMigrationGCE B20 b23 g25 x28
CSIMigrationGCEComplete a20 d21 x22
CSIMigrationOpenStack B20 b21 g24 x26
CSIMigrationOpenStackComplete a20 d21 x22
CSIMigrationRBD a23 d28 x31
CSIMigrationvSphere B20 b25 g26 x29
CSIMigrationvSphereComplete B20 d22 x23
CSINodeExpandSecret a25 b27 g29 x31
CSINodeInfo g20 x23
CSIServiceAccountToken a20 b21 g22 x25
CSIStorageCapacity a20 b21 g24 x28
CSIVolumeFSGroupPolicy b20 g23 x26
CSRDuration b22 g24 x26
CustomResourceValidationExpressions a23 b25 g29 x31
DaemonSetUpdateSurge a21 b22 g25 x27
DefaultHostNetworkHostPortsInPodTemplates d28 x31
DefaultPodTopologySpread b20 g24 x26
DelegateFSGroupToCSIDriver a22 b23 g26 x28
DevicePlugins b20 g26 x28
DisableAcceleratorUsageMetrics b20 g25 x28
DownwardAPIHugePages a20 B21 b22 g27 x29
DRAControlPlaneController a31 x32
DryRun G20 x28
DynamicKubeletConfig b20 d22 l24 x26
EndpointSlice b20 g21 x25
EndpointSliceNodeName a20 g21 x25
EndpointSliceProxying b20 g22 x25
EndpointSliceTerminatingCondition a20 b22 g26 x28
EphemeralContainers a20 b23 g25 x27
EvenPodsSpread g20 x22
ExpandCSIVolumes b20 g24 x27
ExpandedDNSConfig a22 b26 g28 x30
ExpandInUsePersistentVolumes b20 g24 x27
ExpandPersistentVolumes b20 g24 x27
ExperimentalHostUserNamespaceDefaulting B20 d28 x30
ExternalPolicyForExternalIP g20 x23
GenericEphemeralVolume a20 b21 g23 x25
GRPCContainerProbe a23 b24 g27 x29
HPAContainerMetrics a20 b27 g30 x32
HugePageStorageMediumSize b20 g22 x25
HyperVContainer d20 x21
IdentifyPodOS a23 b24 g25 x27
ImmutableEphemeralVolumes b20 g21 x25
IndexedJob a21 b22 g24 x26
IngressClassNamespacedParams a21 b22 g23 x25
InTreePluginAWSUnregister a21 x31
InTreePluginAzureDiskUnregister a21 x31
InTreePluginAzureFileUnregister a21 x31
InTreePluginGCEUnregister a21 x31
InTreePluginOpenStackUnregister a21 x31
InTreePluginRBDUnregister a23 d28 x31
InTreePluginvSphereUnregister a21 x31
IPTablesOwnershipCleanup a25 b27 g28 x30
IPv6DualStack a20 b21 g23 x25
JobMutableNodeSchedulingDirectives b23 g27 x29
JobReadyPods a23 b24 g29 x31
JobTrackingWithFinalizers a22 B23 b25 g26 x28
KMSv2 a25 b27 g29 x32
KMSv2KDF B28 g29 x32
KubeletCredentialProviders a20 b24 g26 x28
KubeletPodResources b20 g28 x30
KubeletPodResourcesGetAllocatable a21 b23 g28 x30
LegacyNodeRoleBehavior b20 l21 x23
LegacyServiceAccountTokenCleanUp a28 b29 g30 x32
LegacyServiceAccountTokenNoAutoGeneration b24 g26 x29
LegacyServiceAccountTokenTracking a26 b27 g28 x30
LocalStorageCapacityIsolation b20 g25 x27
MinDomainsInPodTopologySpread a24 B25 b27 g30 x32
MinimizeIPTablesRestore a26 b27 g28 x30
MixedProtocolLBService a20 b24 g26 x28
MultiCIDRRangeAllocator a25 x31
NamespaceDefaultLabelName b21 g22 x24
NetworkPolicyEndPort a21 b22 g25 x27
NetworkPolicyStatus a24 x28
NewVolumeManagerReconstruction b27 g30 x32
NodeDisruptionExclusion b20 g21 x23
NodeLease g20 x24
NodeOutOfServiceVolumeDetach a24 b26 g28 x32
NonPreemptingPriority b20 g24 x26
OpenAPIV3 a23 b24 g27 x29
PodAffinityNamespaceSelector a21 b22 g24 x26
PodDisruptionBudget b20 g21 x26
PodHasNetworkCondition a25 x28
PodHostIPs a28 b29 g30 x32
PodOverhead b20 g24 x26
PodSecurity a22 b23 g25 x28
PreferNominatedNode a21 b22 g24 x26
ProbeTerminationGracePeriod a21 B22 b25 g28 x30
ProxyTerminatingEndpoints a22 b26 g28 x30
ReadWriteOncePod a22 b27 g29 x31
RemoveSelfLink b20 g24 x30
RetroactiveDefaultStorageClass a25 b26 g28 x29
RootCAConfigMap b20 g21 x23
RotateKubeletClientCertificate g20 x22
RunAsGroup b20 g21 x23
RuntimeClass g20 x25
SCTPSupport g20 x23
SeccompDefault a22 b25 g27 x29
SecurityContextDeny a27 x30
SelectorIndex g20 x26
ServerSideApply b20 g22 x32
ServerSideFieldValidation a23 b25 g27 x32
ServiceAccountIssuerDiscovery b20 g21 x24
ServiceAppProtocol g20 x23
ServiceInternalTrafficPolicy a21 b22 g26 x28
ServiceIPStaticSubrange a24 b25 g26 x28
ServiceLBNodePortControl a20 b22 g24 x26
ServiceLoadBalancerClass a21 b22 g24 x26
ServiceNodeExclusion b20 g21 x23
ServiceNodePortStaticSubrange a27 b28 g29 x31
ServiceTopology a20 x23
SetHostnameAsFQDN b20 g22 x25
SkipReadOnlyValidationGCE a28 d29 x31
StableLoadBalancerNodeSet b27 g30 x32
StartupProbe g20 x24
StatefulSetMinReadySeconds a22 b23 g25 x27
StorageObjectInUseProtection G20 x25
StreamingProxyRedirects D20 d22 x25
SupportNodePidsLimit g20 x24
SupportPodPidsLimit g20 x24
SuspendJob a21 b22 g24 x26
Sysctls b20 g21 x23
TokenRequest g20 x22
TokenRequestProjection g20 x22
TopologyManager b20 g27 x29
TTLAfterFinished a20 b21 g23 x25
UserNamespacesStatelessPodsSupport a25 x28
ValidateProxyRedirects b20 D22 x25
ValidatingAdmissionPolicy a26 B28 g30 x32
VolumePVCDataSource g20 x22
VolumeSnapshotDataSource g20 x23
VolumeSubpath G20 x25
WarningHeaders b20 g22 x25
WindowsEndpointSliceProxying a20 b21 g22 x25
WindowsGMSA g20 x21
WindowsHostProcessContainers a22 b23 g26 x28
WindowsRunAsUserName g20 x21
ZeroLimitedNominalConcurrencyShares B29 b30 g30 x32
`;
