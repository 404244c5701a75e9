/**
 * Feature gates of kubelets 1.20 to 1.34, one a line: the name, then its stages, each with the first minor it holds for.
 *
 *     a off, alpha    A on, alpha    B off, beta    b on, beta    G on, stable    g on, stable and locked
 *     d off, deprecated    D on, deprecated    l off, deprecated and locked    x gone
 *
 * 20 also means earlier minors. `g` and `l` refuse the other value. A gate that became stable, and that 1.34 no longer lists,
 * is gone from 1.34 on at the latest; between the two we do not know the minor, and say nothing.
 * The column of 1.20 is checked against the kubelet itself by `npm run test:kubelet`.
 */
export const GATE_LINES = `
APIListChunking b20 g29 x32
APIPriorityAndFairness b20 g29 x34
APIResponseCompression b20
APISelfSubjectReview a26 b27 g28 x31
APIServerIdentity a20 b26
APIServerTracing a22 b27
APIServingWithRoutine a30
AdmissionWebhookMatchConditions a27 b28 g30 x33
AdvancedAuditing G20 x31
AggregatedDiscoveryEndpoint a26 b27 g30 x33
AggregatedDiscoveryRemoveBetaType D33
AllAlpha a20
AllBeta B20
AllowDNSOnlyNodeCSR d31
AllowInsecureBackendProxy b20 g21 x26
AllowInsecureKubeletCertificateSigningRequests d31
AllowOverwriteTerminationGracePeriodSeconds d32
AllowParsingUserUIDFromCertAuth b33
AllowServiceLBStatusOnNonLB d29 l32
AllowUnsafeMalformedObjectDeletion a32
AnonymousAuthConfigurableEndpoints a31 b32 g34
AnyVolumeDataSource a20 b24 g33
AppArmor b20 g31 x33
AppArmorFields b30 g31 x33
AttachVolumeLimit g20 x22
AuthorizeNodeWithSelectors a31 b32 g34
AuthorizeWithSelectors a31 b32 g34
BalanceAttachedNodeVolumes a20 d22 x23
BlockVolume g20 x22
BoundServiceAccountTokenVolume a20 b21 g22 x24
BtreeWatchCache b32 g33
CBORServingAndStorage a32
ClearingNominatedNodeNameAfterBinding b34
CloudControllerManagerWebhook a27
CloudDualStackNodeIPs a27 b29 g30 x32
ClusterTrustBundle a27 B33
ClusterTrustBundleProjection a29 B33
ComponentFlagz a32
ComponentSLIs a26 b27 g32
ComponentStatusz a32
ConcurrentWatchObjectDecode B31
ConfigurableFSGroupPolicy b20 g23 x26
ConsistentHTTPGetHandlers g25 x31
ConsistentListFromCache a28 b31 g34
ContainerCheckpoint a25 b30
ContainerRestartRules a34
ContainerStopSignals a33
ContextualLogging a24 b30
ControllerManagerLeaderMigration a21 b22 g24 x27
CoordinatedLeaderElection a31 B33
CPUManager b20 g26 x33
CPUManagerPolicyAlphaOptions a23
CPUManagerPolicyBetaOptions b23
CPUManagerPolicyOptions a22 b23 g33
CRDValidationRatcheting a28 b30 g33
CRIContainerLogRotation b20 g21 x23
CronJobControllerV2 a20 b21 g22 x24
CronJobsScheduledAnnotation b28 g32
CronJobTimeZone a24 b25 g27 x29
CrossNamespaceVolumeDataSource a26
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
CSIMigrationPortworx a23 B25 b31 g33
CSIMigrationRBD a23 d28 x31
CSIMigrationvSphere B20 b25 g26 x29
CSIMigrationvSphereComplete B20 d22 x23
CSINodeExpandSecret a25 b27 g29 x31
CSINodeInfo g20 x23
CSIServiceAccountToken a20 b21 g22 x25
CSIStorageCapacity a20 b21 g24 x28
CSIVolumeFSGroupPolicy b20 g23 x26
CSIVolumeHealth a21
CSRDuration b22 g24 x26
CustomCPUCFSQuotaPeriod a20
CustomResourceFieldSelectors a30 b31 g32
CustomResourceValidationExpressions a23 b25 g29 x31
DaemonSetUpdateSurge a21 b22 g25 x27
DeclarativeValidation b33
DeclarativeValidationTakeover B33
DefaultHostNetworkHostPortsInPodTemplates d28 x31
DefaultPodTopologySpread b20 g24 x26
DelegateFSGroupToCSIDriver a22 b23 g26 x28
DeploymentReplicaSetTerminatingReplicas a33
DetectCacheInconsistency b34
DevicePluginCDIDevices a28 b29 g31
DevicePlugins b20 g26 x28
DisableAcceleratorUsageMetrics b20 g25 x28
DisableAllocatorDualWrite a31 B33 G34
DisableCPUQuotaWithExclusiveCPUs b33
DisableCloudProviders a22 b29 g31 x34
DisableKubeletCloudCredentialProviders a23 b29 g31 x34
DisableNodeKubeProxyVersion a29 d31 D33
DownwardAPIHugePages a20 B21 b22 g27 x29
DRAAdminAccess a32 b34
DRAConsumableCapacity a34
DRAControlPlaneController a31 x33
DRADeviceBindingConditions a34
DRADeviceTaints a33
DRAExtendedResource a34
DRAPartitionableDevices a33
DRAPrioritizedList a33 b34
DRAResourceClaimDeviceStatus a32 b33
DRASchedulerFilterTimeout b34
DryRun G20 x28
DynamicKubeletConfig b20 d22 l24 x26
DynamicResourceAllocation a26 B32 G34
EfficientWatchResumption a20 b21 g24 x33
ElasticIndexedJob b27 g31 x34
EndpointSlice b20 g21 x25
EndpointSliceNodeName a20 g21 x25
EndpointSliceProxying b20 g22 x25
EndpointSliceTerminatingCondition a20 b22 g26 x28
EnvFiles a34
EphemeralContainers a20 b23 g25 x27
EvenPodsSpread g20 x22
EventedPLEG a26 B27 a30
ExecProbeTimeout G20
ExpandCSIVolumes b20 g24 x27
ExpandInUsePersistentVolumes b20 g24 x27
ExpandPersistentVolumes b20 g24 x27
ExpandedDNSConfig a22 b26 g28 x30
ExperimentalHostUserNamespaceDefaulting B20 d28 x30
ExternalPolicyForExternalIP g20 x23
ExternalServiceAccountTokenSigner a32 b34
GRPCContainerProbe a23 b24 g27 x29
GenericEphemeralVolume a20 b21 g23 x25
GitRepoVolumeDriver d33
GracefulNodeShutdown a20 b21
GracefulNodeShutdownBasedOnPodPriority a23 b24
HPAConfigurableTolerance a33
HPAContainerMetrics a20 b27 g30 x32
HPAScaleToZero a20
HonorPVReclaimPolicy a23 b31 g33
HostnameOverride a34
HugePageStorageMediumSize b20 g22 x25
HyperVContainer d20 x21
IPTablesOwnershipCleanup a25 b27 g28 x30
IPv6DualStack a20 b21 g23 x25
IdentifyPodOS a23 b24 g25 x27
ImageMaximumGCAge a29 b30
ImageVolume a31 B33
ImmutableEphemeralVolumes b20 g21 x25
InPlacePodVerticalScaling a27 b33
InPlacePodVerticalScalingAllocatedStatus a32 d33
InPlacePodVerticalScalingExclusiveCPUs a32
InPlacePodVerticalScalingExclusiveMemory a34
InTreePluginAWSUnregister a21 x31
InTreePluginAzureDiskUnregister a21 x31
InTreePluginAzureFileUnregister a21 x31
InTreePluginGCEUnregister a21 x31
InTreePluginOpenStackUnregister a21 x31
InTreePluginPortworxUnregister a23
InTreePluginRBDUnregister a23 d28 x31
InTreePluginvSphereUnregister a21 x31
IndexedJob a21 b22 g24 x26
IngressClassNamespacedParams a21 b22 g23 x25
JobBackoffLimitPerIndex a28 b29 g33
JobManagedBy a30 b32
JobMutableNodeSchedulingDirectives b23 g27 x29
JobPodFailurePolicy a25 b26 g31 x34
JobPodReplacementPolicy a28 b29 g34
JobReadyPods a23 b24 g29 x31
JobSuccessPolicy a30 b31 g33
JobTrackingWithFinalizers a22 B23 b25 g26 x28
KMSv1 D28 d29
KMSv2 a25 b27 g29 x32
KMSv2KDF B28 g29 x32
KubeProxyDrainingTerminatingNodes a28 b30 g31 x33
KubeletCgroupDriverFromCRI a28 b31 g34
KubeletCrashLoopBackOffMax a32
KubeletCredentialProviders a20 b24 g26 x28
KubeletEnsureSecretPulledImages a33
KubeletFineGrainedAuthz a32 b33
KubeletInUserNamespace a22
KubeletPSI a33 b34
KubeletPodResources b20 g28 x30
KubeletPodResourcesDynamicResources a27 b34
KubeletPodResourcesGet a27 b34
KubeletPodResourcesGetAllocatable a21 b23 g28 x30
KubeletPodResourcesListUseActivePods D34
KubeletRegistrationGetOnExistsOnly d32
KubeletSeparateDiskGC a29 b31
KubeletServiceAccountTokenForCredentialProviders a33 b34
KubeletTracing a25 b27 g34
LegacyNodeRoleBehavior b20 l21 x23
LegacyServiceAccountTokenCleanUp a28 b29 g30 x32
LegacyServiceAccountTokenNoAutoGeneration b24 g26 x29
LegacyServiceAccountTokenTracking a26 b27 g28 x30
LegacySidecarContainers d33
ListFromCacheSnapshot a33 b34
LoadBalancerIPMode a29 b30 g32
LocalStorageCapacityIsolation b20 g25 x27
LocalStorageCapacityIsolationFSQuotaMonitoring a20 B31
LogarithmicScaleDown a21 b22 g31
LoggingAlphaOptions a24
LoggingBetaOptions b24
MatchLabelKeysInPodAffinity a29 b31 g33
MatchLabelKeysInPodTopologySpread a25 b27
MatchLabelKeysInPodTopologySpreadSelectorMerge b34
MaxUnavailableStatefulSet a24
MemoryManager a21 b22 g32
MemoryQoS a22
MinDomainsInPodTopologySpread a24 B25 b27 g30 x32
MinimizeIPTablesRestore a26 b27 g28 x30
MixedProtocolLBService a20 b24 g26 x28
MultiCIDRRangeAllocator a25 x31
MultiCIDRServiceAllocator a27 B31 G33 g34
MutableCSINodeAllocatableCount a33 B34
MutableScaleDownPodsCost a34
MutatingAdmissionPolicy a32 B34
NFTablesProxyMode a29 b31 g33
NamespaceDefaultLabelName b21 g22 x24
NetworkPolicyEndPort a21 b22 g25 x27
NetworkPolicyStatus a24 x28
NewVolumeManagerReconstruction b27 g30 x32
NodeDisruptionExclusion b20 g21 x23
NodeInclusionPolicyInPodTopologySpread a25 b26 g33
NodeLease g20 x24
NodeLogQuery a27 B30
NodeOutOfServiceVolumeDetach a24 b26 g28 x32
NodeSwap a22 B28 b30 g34
NominatedNodeNameForExpectation a34
NonPreemptingPriority b20 g24 x26
OpenAPIEnums a23 b24
OpenAPIV3 a23 b24 g27 x29
OrderedNamespaceDeletion B30 b33 g34
PDBUnhealthyPodEvictionPolicy a26 b27 g31 x34
PersistentVolumeLastPhaseTransitionTime a28 b29 g31 x33
PodAffinityNamespaceSelector a21 b22 g24 x26
PodAndContainerStatsFromCRI a23
PodCertificateRequest a34
PodDeletionCost a21 b22
PodDisruptionBudget b20 g21 x26
PodDisruptionConditions a25 b26 g31 x34
PodHasNetworkCondition a25 x28
PodHostIPs a28 b29 g30 x32
PodIndexLabel b28 g32
PodLevelResources a32 b34
PodLifecycleSleepAction a29 b30 g34
PodLifecycleSleepActionAllowZero a32 b33 g34
PodLogsQuerySplitStreams a32
PodObservedGenerationTracking a33 b34
PodOverhead b20 g24 x26
PodReadyToStartContainersCondition a28 b29
PodSchedulingReadiness a26 b27 g30
PodSecurity a22 b23 g25 x28
PodTopologyLabelsAdmission a33
PortForwardWebsockets a30 b31
PreferNominatedNode a21 b22 g24 x26
PreferSameTrafficDistribution a33 b34
PreventStaticPodAPIReferences b34
ProbeTerminationGracePeriod a21 B22 b25 g28 x30
ProcMountType a20 B31 b33
ProxyTerminatingEndpoints a22 b26 g28 x30
QOSReserved a20
ReadWriteOncePod a22 b27 g29 x31
RecoverVolumeExpansionFailure a23 b32 g34
RecursiveReadOnlyMounts a30 b31 g33
ReduceDefaultCrashLoopBackOffDecay a33
RelaxedDNSSearchValidation a32 b33 g34
RelaxedEnvironmentVariableValidation a30 b32 g34
RelaxedServiceNameValidation a34
ReloadKubeletServerCertificateFile b31
RemainingItemCount b20 g29 x32
RemoteRequestHeaderUID a32 b33
RemoveSelfLink b20 g24 x30
ResilientWatchCacheInitialization b31 g34
ResourceHealthStatus a31
RetroactiveDefaultStorageClass a25 b26 g28 x29
RetryGenerateName a30 b31 g32
RootCAConfigMap b20 g21 x23
RotateKubeletClientCertificate g20 x22
RotateKubeletServerCertificate b20
RunAsGroup b20 g21 x23
RuntimeClass g20 x25
RuntimeClassInImageCriApi a29
SCTPSupport g20 x23
SELinuxChangePolicy a32 b33
SELinuxMount a30 B33
SELinuxMountReadWriteOncePod a25 B27 b28
SchedulerAsyncAPICalls b34
SchedulerAsyncPreemption a32 b33
SchedulerPopFromBackoffQ b33
SchedulerQueueingHints B28 b32 g34
SeccompDefault a22 b25 g27 x29
SecurityContextDeny a27 x30
SelectorIndex g20 x26
SeparateCacheWatchRPC b28 d33
SeparateTaintEvictionController b29 g34
ServerSideApply b20 g22 x32
ServerSideFieldValidation a23 b25 g27 x32
ServiceAccountIssuerDiscovery b20 g21 x24
ServiceAccountNodeAudienceRestriction B32 b33
ServiceAccountTokenJTI a29 b30 g32
ServiceAccountTokenNodeBinding a29 b31 g33
ServiceAccountTokenNodeBindingValidation a29 b30 g32
ServiceAccountTokenPodNodeInfo a29 b30 g32
ServiceAppProtocol g20 x23
ServiceIPStaticSubrange a24 b25 g26 x28
ServiceInternalTrafficPolicy a21 b22 g26 x28
ServiceLBNodePortControl a20 b22 g24 x26
ServiceLoadBalancerClass a21 b22 g24 x26
ServiceNodeExclusion b20 g21 x23
ServiceNodePortStaticSubrange a27 b28 g29 x31
ServiceTopology a20 x23
ServiceTrafficDistribution a30 b31 g33
SetHostnameAsFQDN b20 g22 x25
SidecarContainers a28 b29 g33
SizeBasedListCostEstimate b34
SizeMemoryBackedVolumes a20 b22 g32
SkipReadOnlyValidationGCE a28 d29 x31
StableLoadBalancerNodeSet b27 g30 x32
StartupProbe g20 x24
StatefulSetAutoDeletePVC a23 b27 g32
StatefulSetMinReadySeconds a22 b23 g25 x27
StatefulSetStartOrdinal a26 b27 g31 x34
StorageCapacityScoring a33
StorageNamespaceIndex b30 D33
StorageObjectInUseProtection G20 x25
StorageVersionAPI a20
StorageVersionHash b20
StorageVersionMigrator a30
StreamingCollectionEncodingToJSON b33 g34
StreamingCollectionEncodingToProtobuf b33 g34
StreamingProxyRedirects D20 d22 x25
StrictCostEnforcementForVAP B30 g32
StrictCostEnforcementForWebhooks B30 g32
StrictIPCIDRValidation a33
StructuredAuthenticationConfiguration a29 b30 g34
StructuredAuthenticationConfigurationEgressSelector b34
StructuredAuthorizationConfiguration a29 b30 g32
SupplementalGroupsPolicy a31 b33
SupportNodePidsLimit g20 x24
SupportPodPidsLimit g20 x24
SuspendJob a21 b22 g24 x26
Sysctls b20 g21 x23
SystemdWatchdog b32
TTLAfterFinished a20 b21 g23 x25
TokenRequest g20 x22
TokenRequestProjection g20 x22
TokenRequestServiceAccountUIDValidation b34
TopologyAwareHints a21 B23 b24 g33
TopologyManager b20 g27 x29
TopologyManagerPolicyAlphaOptions a26
TopologyManagerPolicyBetaOptions B26 b28
TopologyManagerPolicyOptions a26 b28 G32
TranslateStreamCloseWebsocketRequests a29 b30
UnauthenticatedHTTP2DOSMitigation B28 b29
UnknownVersionInteroperabilityProxy a28
UserNamespacesPodSecurityStandards a29
UserNamespacesStatelessPodsSupport a25 x28
UserNamespacesSupport a28 B30 b33
ValidateProxyRedirects b20 D22 x25
ValidatingAdmissionPolicy a26 B28 g30 x32
VolumeAttributesClass a29 B31 g34
VolumeCapacityPriority a21 x33
VolumePVCDataSource g20 x22
VolumeSnapshotDataSource g20 x23
VolumeSubpath G20 x25
WarningHeaders b20 g22 x25
WatchBookmark g20 x34
WatchCacheInitializationPostStartHook B31
WatchFromStorageWithoutResourceVersion B27 l33
WatchList a27 b32 B33 b34
WatchListClient a30 B31
WinDSR a20 b33 g34
WinOverlay b20 g34
WindowsCPUAndMemoryAffinity a32
WindowsEndpointSliceProxying a20 b21 g22 x25
WindowsGMSA g20 x21
WindowsGracefulNodeShutdown a32
WindowsHostNetwork A26 d33
WindowsHostProcessContainers a22 b23 g26 x28
WindowsRunAsUserName g20 x21
ZeroLimitedNominalConcurrencyShares B29 b30 g30 x33
`;
