/**
 * Feature gates that need other ones, by the first minor whose kubelet asks for it: one that is on while a gate that it needs is off keeps
 * a kubelet from 1.35 on from starting. Upstream's tables have more pairs; those whose second gate is locked on can never be broken.
 * The columns of 1.35 and 1.36 are checked against the kubelet itself by `npm run test:kubelet`; 1.37 is that of 1.36 with what the release notes name.
 */
const DEPENDENCIES: readonly (readonly [gate: string, since: number, needs: string])[] = [
  ['ClusterTrustBundleProjection', 35, 'ClusterTrustBundle'],
  ['CompositePodGroup', 37, 'GenericWorkload TopologyAwareWorkloadScheduling'],
  ['DeclarativeValidationTakeover', 35, 'DeclarativeValidation'],
  ['DRADeviceBindingConditions', 35, 'DRAResourceClaimDeviceStatus'],
  ['DRADeviceTaintRules', 35, 'DRADeviceTaints'],
  ['DRAResourceClaimGranularStatusAuthorization', 36, 'DRAResourceClaimDeviceStatus'],
  ['DRAWorkloadResourceClaims', 36, 'GenericWorkload'],
  ['ExtendWebSocketsToKubelet', 36, 'NodeDeclaredFeatures'],
  ['GangScheduling', 35, 'GenericWorkload'],
  ['GracefulNodeShutdownBasedOnPodPriority', 35, 'GracefulNodeShutdown'],
  ['InPlacePodLevelResourcesVerticalScaling', 35, 'NodeDeclaredFeatures PodLevelResources'],
  ['InPlacePodVerticalScalingInitContainers', 36, 'NodeDeclaredFeatures'],
  ['MatchLabelKeysInPodTopologySpreadSelectorMerge', 35, 'MatchLabelKeysInPodTopologySpread'],
  ['PodLevelResourceManagers', 36, 'PodLevelResources'],
  ['ProcMountType', 35, 'UserNamespacesSupport'],
  ['ResourceHealthStatusMessage', 36, 'ResourceHealthStatus'],
  ['RestartAllContainersOnContainerExits', 35, 'ContainerRestartRules NodeDeclaredFeatures'],
  ['StaleControllerConsistencyDaemonSet', 36, 'AtomicFIFO'],
  ['StaleControllerConsistencyJob', 36, 'AtomicFIFO'],
  ['StaleControllerConsistencyReplicaSet', 36, 'AtomicFIFO'],
  ['StaleControllerConsistencyStatefulSet', 36, 'AtomicFIFO'],
  ['StorageVersionAPI', 35, 'APIServerIdentity'],
  ['TopologyAwareWorkloadScheduling', 36, 'GenericWorkload'],
  ['UnknownVersionInteroperabilityProxy', 35, 'APIServerIdentity'],
  ['UserNamespacesHostNetworkSupport', 35, 'UserNamespacesSupport'],
  ['UserNamespacesHostNetworkSupport', 36, 'NodeDeclaredFeatures'],
  ['WindowsGracefulNodeShutdown', 35, 'GracefulNodeShutdown'],
  ['WorkloadAwarePreemption', 36, 'GangScheduling'],
  ['WorkloadWithJob', 36, 'GenericWorkload'],
];

/** A gate and one that it needs. */
export interface Dependency {
  readonly gate: string;
  readonly needs: string;
}

/** Which gates need which others for a kubelet 1.`minor` to start. None before 1.35. */
export function dependenciesOf(minor: number): readonly Dependency[] {
  return DEPENDENCIES.filter(([, since]) => since <= minor).flatMap(([gate, , needs]) =>
    needs.split(' ').map((one) => ({ gate, needs: one })),
  );
}
