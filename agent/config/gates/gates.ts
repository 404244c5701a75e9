import type { JsonObject, KubeletVersion } from '../contract.ts';
import { isObject, own } from '../decode/document.ts';
import { REMOVED_GATE_LINES } from './removed.ts';
import { GATE_LINES } from './table.ts';

export type GateStage = 'alpha' | 'beta' | 'stable' | 'deprecated';

export interface Gate {
  readonly name: string;
  readonly stage: GateStage;
  readonly default: boolean;
  /** The kubelet rejects any value but the default. */
  readonly locked: boolean;
}

/** The letters of the table. */
export const STAGES: Readonly<Record<string, Omit<Gate, 'name'>>> = {
  a: { stage: 'alpha', default: false, locked: false },
  A: { stage: 'alpha', default: true, locked: false },
  B: { stage: 'beta', default: false, locked: false },
  b: { stage: 'beta', default: true, locked: false },
  G: { stage: 'stable', default: true, locked: false },
  g: { stage: 'stable', default: true, locked: true },
  d: { stage: 'deprecated', default: false, locked: false },
  D: { stage: 'deprecated', default: true, locked: false },
  l: { stage: 'deprecated', default: false, locked: true },
  L: { stage: 'deprecated', default: true, locked: true },
};

/** All lines of the tables, including those of removed gates. */
export const gateLines: readonly string[] = `${GATE_LINES.trim()}\n${REMOVED_GATE_LINES.trim()}`.split('\n');

const tables = new Map<number, ReadonlyMap<string, Gate>>();

/** The gates of a kubelet 1.`minor` by the table, by name. */
export function gatesOf(minor: number): ReadonlyMap<string, Gate> {
  const ready = tables.get(minor);
  if (ready !== undefined) return ready;
  const table = new Map<string, Gate>();
  for (const line of gateLines) {
    const [name = '', ...steps] = line.split(' ');
    const step = steps.findLast((step) => Number(step.slice(1)) <= minor);
    const stage = STAGES[step?.charAt(0) ?? 'x'];
    if (stage !== undefined) table.set(name, { name, ...stage });
  }
  tables.set(minor, table);
  return table;
}

export type KnownGates = ReadonlyMap<string, { default: boolean; stage: string }>;

/** The gate from the kubelet's --help (more accurate, but without stable gates), else from the table. */
export function gateNamed(name: string, version: KubeletVersion, knownGates?: KnownGates): Gate | undefined {
  const ours = gatesOf(version.minor).get(name);
  const theirs = knownGates?.get(name);
  if (theirs === undefined) return ours;
  const stage = /alpha/i.test(theirs.stage) ? 'alpha' : /beta/i.test(theirs.stage) ? 'beta' : (ours?.stage ?? 'stable');
  return { name, stage, default: theirs.default, locked: false };
}

/**
 * Which gates are on under a configuration: its own featureGates over `flags`, over the defaults of the version.
 * AllAlpha and AllBeta count as the kubelet counts them: for every gate that is not set by name.
 * @param flags - gates from the command line
 * @returns a function that tells whether a gate is on; an unknown gate is off
 */
export function enabledGates(
  config: JsonObject,
  version: KubeletVersion,
  flags?: ReadonlyMap<string, boolean>,
  knownGates?: KnownGates,
): (name: string) => boolean {
  const given = own(config, 'featureGates');
  const set = isObject(given) ? given : {};
  const value = (name: string): boolean | undefined => {
    const listed = own(set, name);
    return typeof listed === 'boolean' ? listed : flags?.get(name);
  };
  return (name) => {
    const gate = gateNamed(name, version, knownGates);
    const named = value(name);
    if (named !== undefined) return gate?.locked === true ? gate.default : named;
    const whole = gate?.stage === 'alpha' ? value('AllAlpha') : gate?.stage === 'beta' ? value('AllBeta') : undefined;
    return whole ?? gate?.default ?? false;
  };
}

/**
 * Feature gates that need other gates, by the first minor with the dependency: from 1.35 on a kubelet does not start with a gate on whose dependency is
 * off. Upstream's tables have more pairs; those whose second gate is locked on can never be broken.
 * The columns of 1.35 and 1.36 are checked against the kubelet itself by `npm run test:kubelet`; 1.37 is 1.36 with the changes in the release notes.
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

/** A gate and a gate that it needs. */
interface Dependency {
  readonly gate: string;
  readonly needs: string;
}

/** The dependencies that a kubelet 1.`minor` requires to start. None before 1.35. */
export function dependenciesOf(minor: number): readonly Dependency[] {
  return DEPENDENCIES.filter(([, since]) => since <= minor).flatMap(([gate, , needs]) =>
    needs.split(' ').map((one) => ({ gate, needs: one })),
  );
}
