/**
 * Feature gates of kubelets from 1.32 on, one per line: the name, then its stages, each with its first minor.
 *
 *     a off, alpha    A on, alpha    B off, beta    b on, beta    G on, stable    g on, stable and locked
 *     d off, deprecated    D on, deprecated    l, L the same, and locked    x removed
 *
 * 20 also means earlier minors. `g`, `l` and `L` reject the other value. `removed.ts` has the gates that were removed by 1.32.
 * The columns of 1.20 and of 1.32 to 1.36 are checked against the kubelet itself by `npm run test:kubelet`, and `npm run gates` prints
 * the differences to a kubelet. For the versions in between, the first minor of a stage is from the release notes.
 *
 * 1.37 is from release notes and documentation alone, which list no locks: a gate that became stable there is taken as unlocked, except
 * two whose lock is documented, and a gate that they do not name is as in 1.36. New gates of unknown stage are taken as alpha.
 */
export const GATE_LINES = `
AdmissionWebhookMatchConditions a27 b28 g30 x33
AggregatedDiscoveryEndpoint a26 b27 g30 x33
AggregatedDiscoveryRemoveBetaType D33 L35
AllAlpha a20
AllBeta B20
AllowDNSOnlyNodeCSR d31
AllowInsecureKubeletCertificateSigningRequests d31
AllowOverwriteTerminationGracePeriodSeconds d32 l35
AllowParsingUserUIDFromCertAuth b33
AllowServiceExternalIPs G36
AllowServiceLBStatusOnNonLB d29 l32 x35
AllowUnsafeMalformedObjectDeletion a32 b37
AnonymousAuthConfigurableEndpoints a31 b32 g34
AnyVolumeDataSource a20 b24 g33 x37
APIListChunking b20 g29 x33
APIResponseCompression b20
APIServerIdentity a20 b26
APIServerTracing a22 b27 g34 x37
APIServerWebhookAuthenticationToken a37
APIServingWithRoutine a30
AppArmor b20 g31 x33
AppArmorFields b30 g31 x33
AtomicFIFO b36
AtomicWriteVolumeUserFields a37
AuthorizeNodeWithSelectors a31 b32 g34
AuthorizePodWebsocketUpgradeCreatePermission b35
AuthorizeWithSelectors a31 b32 g34
BtreeWatchCache b32 g33 x37
CBORServingAndStorage a32
ChangeContainerStatusOnKubeletRestart d35
ClearingNominatedNodeNameAfterBinding a34 b35
ClientsAllowCARotation b36
ClientsAllowCBOR a32
ClientsAllowTLSCacheGC b36
ClientsPreferCBOR a32
CloudControllerManagerWatchBasedRoutesReconciliation a35
CloudControllerManagerWebhook a27
ClusterTrustBundle a27 B33 G37
ClusterTrustBundleProjection a29 B33 G37
ComponentFlagz a32 b36
ComponentSLIs a26 b27 g32 x35
ComponentStatusz a32 b36
CompositePodGroup a37
ConcurrentWatchObjectDecode B31 b37
ConsistentListFromCache a28 b31 g34 x37
ConstrainedImpersonation a35 b36
ContainerCheckpoint a25 b30
ContainerRestartRules a34 b35
ContainerStopSignals a33
ContextualLogging a24 b30
ControllerManagerReleaseLeaderElectionLockOnExit a36
CoordinatedLeaderElection a31 B33
CPUManager b20 g26 x33
CPUManagerPolicyAlphaOptions a23
CPUManagerPolicyBetaOptions b23
CPUManagerPolicyOptions a22 b23 g33
CRDObservedGenerationTracking B35 b36
CRDValidationRatcheting a28 b30 g33
CRIListStreaming a36
CronJobsScheduledAnnotation b28 g32 x35
CrossNamespaceVolumeDataSource a26
CSIMigrationPortworx a23 B25 b31 g33 x36
CSIServiceAccountTokenSecrets b35 g36
CSIVolumeHealth a21
CustomCPUCFSQuotaPeriod a20 G36
CustomResourceFieldSelectors a30 b31 g32
DeclarativeValidation b33 g36
DeclarativeValidationBeta b36
DeclarativeValidationTakeover B33 d36 l37
DefaultPodSysctls a37
DeploymentReplicaSetTerminatingReplicas a33 b35
DetectCacheInconsistency b34
DevicePluginCDIDevices a28 b29 g31 x34
DisableAllocatorDualWrite a31 B33 G34 g35
DisableCloudProviders a22 b29 g31 x33
DisableCPUQuotaWithExclusiveCPUs b33 D36
DisableKubeletCloudCredentialProviders a23 b29 g31 x33
DisableNodeKubeProxyVersion a29 d31 D33 L36
DRAAdminAccess a32 b34 g36
DRAConsumableCapacity a34 b36
DRADerivedAttributes a37
DRADeviceBindingConditions a34 b36
DRADeviceCompatibilityGroups a37
DRADeviceTaintRules a35 B36 G37
DRADeviceTaints a33 b36 G37
DRAExtendedResource a34 b36 G37
DRAListTypeAttributes a36
DRANodeAllocatableResources a36
DRAOptionalNodeOperations a37
DRAPartitionableDevices a33 b36
DRAPartitionableDevicesType a37
DRAPrioritizedList a33 b34 G36
DRAResourceClaimDeviceStatus a32 b33 G37
DRAResourceClaimGranularStatusAuthorization b36
DRAResourcePoolStatus a36
DRASchedulerFilterTimeout b34
DRAWorkloadResourceClaims a36 B37
DynamicResourceAllocation a26 B32 G34 g35
EfficientWatchResumption a20 b21 g24 x33
ElasticIndexedJob b27 g31 x34
EmptyDirVolumeMode a37
EnvFiles a34 b35
EtcdRangeStream b37
EventedPLEG a26 B27 a30
EvictionRequestAPI a37
ExcludeAdmissionWebhookVirtualResources b37
ExecProbeTimeout G20 g35
ExtendWebSocketsToKubelet b36
ExternalServiceAccountTokenSigner a32 b34 g36
GangScheduling a35 x37
GenericWorkload a35 B37
GitRepoVolumeDriver d33 l36
GracefulNodeShutdown a20 b21
GracefulNodeShutdownBasedOnPodPriority a23 b24
GRPCContainerProbeTLS a37
H2CContainerProbe a37
HonorPVReclaimPolicy a23 b31 g33 x36
HostnameOverride a34 b35 g37
HPAConfigurableTolerance a33 b35 g37
HPAScaleToZero a20 b37
HugepageAwareEviction b37
ImageMaximumGCAge a29 b30 g35
ImageVolume a31 B33 b35 g36
ImageVolumeWithDigest a36
InformerResourceVersion a32 G35
InOrderInformers b33 g36
InOrderInformersBatchProcess b35
InPlacePodLevelResourcesVerticalScaling a35 b36
InPlacePodVerticalScaling a27 b33 g35
InPlacePodVerticalScalingAllocatedStatus a32 d33 x36
InPlacePodVerticalScalingExclusiveCPUs a32
InPlacePodVerticalScalingExclusiveMemory a34
InPlacePodVerticalScalingInitContainers b36 G37
InPlacePodVerticalScalingMemoryBackedVolumes a37
InPlacePodVerticalScalingSchedulerPreemption a37
InterPodAffinityHostnameFastPath a37
InTreePluginPortworxUnregister a23 x36
JobBackoffLimitPerIndex a28 b29 g33
JobManagedBy a30 b32 g35
JobPodFailurePolicy a25 b26 g31 x33
JobPodReplacementPolicy a28 b29 g34
JobSuccessPolicy a30 b31 g33
KMSv1 D28 d29
KubeletAllocatedPodsEndpoint a37
KubeletCgroupDriverFromCRI a28 b31 g34
KubeletCrashLoopBackOffMax a32 b35
KubeletEnsureSecretPulledImages a33 b35
KubeletFineGrainedAuthz a32 b33 g36
KubeletInUserNamespace a22 b37
KubeletPodResourcesDynamicResources a27 b34 g36
KubeletPodResourcesGet a27 b34 g36
KubeletPodResourcesListUseActivePods D34
KubeletPSI a33 b34 g36
KubeletRegistrationGetOnExistsOnly d32
KubeletSeparateDiskGC a29 b31
KubeletServiceAccountTokenForCredentialProviders a33 b34
KubeletTracing a25 b27 g34
KubeProxyDrainingTerminatingNodes a28 b30 g31 x33
KubeProxyIPVS D37
KubeProxyNFTablesLocalhostNodePorts a37
LegacySidecarContainers d33 x34
ListFromCacheSnapshot a33 b34
LoadBalancerIPMode a29 b30 g32 x35
LocalStorageCapacityIsolationFSQuotaMonitoring a20 B31
LogarithmicScaleDown a21 b22 g31
LoggingAlphaOptions a24
LoggingBetaOptions b24
ManifestBasedAdmissionControlConfig a36 b37
MatchLabelKeysInPodAffinity a29 b31 g33
MatchLabelKeysInPodTopologySpread a25 b27
MatchLabelKeysInPodTopologySpreadSelectorMerge b34
MaxUnavailableStatefulSet a24 B35 b37
MemoryManager a21 b22 g32 x36
MemoryQoS a22 b37
MultiCIDRServiceAllocator a27 B31 G33 g34
MutableCSINodeAllocatableCount a33 B34 b35 g36
MutablePodResourcesForSuspendedJobs a35 b36
MutablePVNodeAffinity a35
MutableSchedulingDirectivesForSuspendedJobs a35 b36
MutatingAdmissionPolicy a32 B34 G36
NativeHistograms a36 b37
NFTablesProxyMode a29 b31 g33
NodeDeclaredFeatures a35 b36 G37
NodeInclusionPolicyInPodTopologySpread a25 b26 g33
NodeLifecycleConditions a37
NodeLogQuery a27 B30 g36
NodeSwap a22 B28 b30 g34
NominatedNodeNameForExpectation a34 b35
OpenAPIEnums a23 b24
OpportunisticBatching b35
OrderedNamespaceDeletion B30 b33 g34 x37
PDBUnhealthyPodEvictionPolicy a26 b27 g31 x33
PersistentVolumeClaimUnusedSinceTime a36 b37
PersistentVolumeLastPhaseTransitionTime a28 b29 g31 x33
PLEGOnDemandRelist b36 G37
PodAndContainerStatsFromCRI a23 B37
PodCertificateRequest a34 B35 G37
PodDeletionCost a21 b22
PodDisruptionConditions a25 b26 g31 x34
PodGroupPreemptionPolicy a37
PodIndexLabel b28 g32 x35
PodLevelResourceManagers a36 B37
PodLevelResources a32 b34
PodLifecycleSleepAction a29 b30 g34
PodLifecycleSleepActionAllowZero a32 b33 g34
PodLogsQuerySplitStreams a32
PodObservedGenerationTracking a33 b34 g35
PodReadyToStartContainersCondition a28 b29 G37
PodsAPI a36 b37
PodSchedulingReadiness a26 b27 g30
PodTopologyLabelsAdmission a33 b35
PortForwardWebsockets a30 b31
PreferSameTrafficDistribution a33 b34 g35
PreventStaticPodAPIReferences b34 x37
ProbeHostPodSecurityStandards g34 x35
ProcMountType a20 B31 b33 g36
QOSReserved a20
RecoverVolumeExpansionFailure a23 b32 g34
RecursiveReadOnlyMounts a30 b31 g33
ReduceDefaultCrashLoopBackOffDecay a33
RelaxedDNSSearchValidation a32 b33 g34 x37
RelaxedEnvironmentVariableValidation a30 b32 g34
RelaxedServiceNameValidation a34 b36 G37
ReloadKubeletClientCAFile b36
ReloadKubeletServerCertificateFile b31
RemainingItemCount b20 g29 x33
RemoteRequestHeaderUID a32 b33
ResilientWatchCacheInitialization b31 g34 x37
ResourceHealthStatus a31 b36
ResourceHealthStatusMessage b36
RestartAllContainersOnContainerExits a35 b36
RetryGenerateName a30 b31 g32 x37
RotateKubeletServerCertificate b20
RuntimeClassInImageCriApi a29
SchedulerAsyncAPICalls B34
SchedulerAsyncPreemption a32 b33
SchedulerPopFromBackoffQ b33
SchedulerPreQueueingHints a37
SchedulerQueueingHints B28 b32 g34
SELinuxChangePolicy a32 b33 g36
SELinuxMount a30 B33 G37
SELinuxMountGAReadiness a36
SELinuxMountReadWriteOncePod a25 B27 b28 g36
SeparateCacheWatchRPC b28 d33 l36
SeparateTaintEvictionController b29 g34
ServiceAccountNodeAudienceRestriction B32 b33
ServiceAccountTokenJTI a29 b30 g32
ServiceAccountTokenNodeBinding a29 b31 g33
ServiceAccountTokenNodeBindingValidation a29 b30 g32
ServiceAccountTokenPodNodeInfo a29 b30 g32
ServiceCIDRStatusFieldWiping D36
ServiceTrafficDistribution a30 b31 g33 x36
ShardedListAndWatch a36
SidecarContainers a28 b29 g33 x37
SizeBasedListCostEstimate b34
SizeMemoryBackedVolumes a20 b22 g32 x35
StaleControllerConsistencyDaemonSet b36
StaleControllerConsistencyJob b36
StaleControllerConsistencyReplicaSet b36
StaleControllerConsistencyStatefulSet b36
StatefulSetAutoDeletePVC a23 b27 g32 x35
StatefulSetRecreateStrategy a37
StatefulSetSemanticRevisionComparison b34
StatefulSetStartOrdinal a26 b27 g31 x34
StorageCapacityScoring a33 b37
StorageNamespaceIndex b30 D33
StorageVersionAPI a20
StorageVersionHash b20
StorageVersionMigrator a30 B35
StreamingCollectionEncodingToJSON b33 g34 x37
StreamingCollectionEncodingToProtobuf b33 g34 x37
StrictCostEnforcementForVAP B30 g32 x35
StrictCostEnforcementForWebhooks B30 g32 x35
StrictIPCIDRValidation a33 b36
StructuredAuthenticationConfiguration a29 b30 g34
StructuredAuthenticationConfigurationEgressSelector b34
StructuredAuthenticationConfigurationJWKSMetrics b35
StructuredAuthorizationConfiguration a29 b30 g32 x36
SupplementalGroupsPolicy a31 b33 g35
SystemdWatchdog b32 g35
TaintTolerationComparisonOperators a35
TokenRequestServiceAccountUIDValidation b34
TopologyAwareHints a21 B23 b24 g33 x36
TopologyAwareWorkloadScheduling a36
TopologyManagerPolicyAlphaOptions a26
TopologyManagerPolicyBetaOptions B26 b28
TopologyManagerPolicyOptions a26 b28 G32 g36
TranslateStreamCloseWebsocketRequests a29 b30
UnauthenticatedHTTP2DOSMitigation B28 b29
UnknownVersionInteroperabilityProxy a28 b36
UnlockWhileProcessingFIFO b36
UserNamespacesHostNetworkSupport a35
UserNamespacesPodSecurityStandards a29 x35
UserNamespacesSupport a28 B30 b33 g36
VolumeAttributesClass a29 B31 G34 g36
VolumeBindMountOptions a37
VolumeCapacityPriority a21 x33
VolumeLimitScaling a35 b37
WatchBookmark g20 x33
WatchCacheInitializationPostStartHook B31 b36 G37
WatchFromStorageWithoutResourceVersion B27 l33 x36
WatchList a27 b32 B33 b34
WatchListClient a30 B31 b35
WindowsCPUAndMemoryAffinity a32
WindowsGracefulNodeShutdown a32 b34
WindowsHostNetwork A26 d33
WinDSR a20 b33 g34
WinOverlay b20 g34
WorkloadAwarePreemption a36 x37
WorkloadWithJob a36
`;
