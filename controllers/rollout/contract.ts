import type { Millis } from '../../base/clock.ts';
import type { MaybeSource, SpecSource } from '../../agent/checkpoint/source.ts';
import type { ClusterFacts } from './cluster/budget.ts';
import type { Fleet } from './fleet.ts';
import type { RolloutNode, RolloutState } from './node.ts';
import { type ConfigMap, keyOf } from './revision.ts';
import type { ClockGap } from './clock-gaps.ts';
import type { GateResult } from './gates/contract.ts';
import type { Rules } from './rules.ts';
import type { Phase, Touches } from './types.ts';
import type { KnownTouches } from './touches.ts';
import type { WindowState } from './windows.ts';
import type { Groups } from './grouping.ts';
import type { Progress } from './progress.ts';
import type { WakeUp } from '../common/reconcile.ts';

/** Checks of kubelet configurations. Pure, and cheap to repeat. */
export interface KubeletConfigs {
  /** Why a kubelet of this version would reject the configuration: at most a few sentences; empty: it would not. */
  rejects(revision: Readonly<ConfigMap>, kubeletConfigKey: string, kubeletVersion: string): readonly string[];
  /** Fields that differ and need a drained node. @param from - absent: the node's configuration is unknown, and every such field that is set counts */
  needsDrain(from: Keyed | undefined, to: Keyed | undefined, kubeletVersion: string): readonly string[];
}

/** A kubelet configuration: one key of a ConfigMap. */
export interface Keyed {
  map: Readonly<ConfigMap>;
  key: string;
}

/** The state of a node's drain, as far as this process knows. @member isHeld - the drain may last: evictions are rejected, or requests fail */
export type DrainState = { at: 'draining'; why: string; isHeld?: boolean } | { at: 'drained' } | { at: 'failed'; error: string };

/** What a node was drained for: the state does not apply to another revision, another attempt, or a Node that was created again under the same name. */
export interface DrainFor {
  /** Name; absent: the node's local configuration. */
  revision: string | undefined;
  attempt: number;
  /** Of the Node. */
  uid?: string | undefined;
}

/** Everything that a plan is computed from: one rollout, as the caches have it now. */
export interface Facts {
  rules: Rules;
  now: Millis;
  /** The ConfigMap that spec names; absent: not found. */
  source: Readonly<ConfigMap> | undefined;
  /** Copies that this rollout made. */
  revisions: readonly Readonly<ConfigMap>[];
  /** Whether a ConfigMap of this name exists in the source's namespace and is not one of `revisions`. @default none does */
  isTaken?: (name: string) => boolean;
  /** Whether any node of the cluster, selected or not, is assigned this ConfigMap, runs it, or would fall back to it. */
  isUsed: (configMap: string) => boolean;
  /** Nodes that this rollout selects and no older one does. */
  fleet: Pick<Fleet, 'size' | 'get' | 'groups' | 'conflicts'>;
  /** @default no budget for the whole cluster */
  cluster?: ClusterFacts | undefined;
  configs: KubeletConfigs;
  /** The ConfigMap that a node uses; absent: the node's local configuration, or a deleted ConfigMap. */
  payloadOf: (source: MaybeSource) => Readonly<ConfigMap> | undefined;
  /** By node. */
  drains: ReadonlyMap<string, DrainState & DrainFor>;
  window: WindowState;
  /** Absent: not checked yet. */
  gates: readonly GateResult[] | undefined;
  /** Of the caches that these facts were read from. */
  versions?: Required<Omit<Touches, 'nodes'>>;
  /** What this process knows about the touches in the status. @default it wrote them a moment ago */
  touches?: Pick<KnownTouches, 'mayArrive' | 'isOld'>;
  /** Objects that the last reconcile could not write, and why: by name as of {@link objectOf}. @default none */
  unwritten?: ReadonlyMap<string, string> | undefined;
  /** Times that the wall clock jumped over. @default none */
  gaps?: readonly ClockGap[];
}

/** A node and where it stands. */
export interface Placed {
  node: RolloutNode;
  state: RolloutState;
}

/**
 * How a revision is written in the spec of a node.
 * @param revision - absent: local
 * @param copies - may include the revision; for a missing one the key in spec is the best guess
 */
export function specOf(rules: Rules, revision: string | undefined, copies: readonly Readonly<ConfigMap>[]): SpecSource | null {
  if (revision === undefined) return null;
  const { namespace, kubeletConfigKey } = rules.configMap;
  const copy = copies.find(({ metadata }) => metadata.name === revision);
  return { namespace, name: revision, kubeletConfigKey: copy === undefined ? kubeletConfigKey : keyOf(copy, kubeletConfigKey) };
}

export type Action =
  | { do: 'create-revision'; revision: ConfigMap }
  /** Makes the revision the newest: nodes go back to it. */
  | { do: 'number-revision'; revision: Readonly<ConfigMap>; number: number }
  /** Makes agents retry a revision that they condemned: the annotation dkc.dev/retry gets a new value. */
  | { do: 'retry-revision'; revision: Readonly<ConfigMap>; retry: string }
  | { do: 'delete-revision'; revision: Readonly<ConfigMap> }
  /** @member revision - name; absent: local */
  | { do: 'assign'; node: RolloutNode; revision: string | undefined }
  /** Cordons the node and evicts its pods; a later plan assigns the revision. */
  | { do: 'drain'; node: RolloutNode; revision: string | undefined }
  /** Announces on the Node that it comes next. */
  | { do: 'plan-maintenance'; node: RolloutNode }
  /** The clock was set: the deadline of the node starts again. */
  | { do: 'restart-deadline'; node: RolloutNode }
  /** Removes what this rollout left on the Node: conditions, the record of a drain, the cordon. */
  | { do: 'give-back'; node: RolloutNode };

/** The object that an action writes, for people. */
export function objectOf(action: Action): string {
  if (!('node' in action)) return `ConfigMap ${action.revision.metadata.namespace}/${action.revision.metadata.name}`;
  const { node: name, carrier } = action.node;
  const isOfCarrier = action.do === 'assign' || action.do === 'restart-deadline';
  return `${isOfCarrier && carrier !== 'node' ? 'NodeConfig' : 'Node'} ${name}`;
}

/** The result of a plan, before it is written as a status. */
export interface Decision {
  phase: Phase;
  /** In CamelCase, for conditions and events. */
  reason: string;
  /** For people: what the rollout waits for, or does. */
  text: string;
  waitsFor?: string | undefined;
  progress?: Progress;
  /** Where nodes stand on their way to the revision. */
  groups?: Groups;
  actions?: readonly Action[];
  wakeUps?: readonly WakeUp[];
  needsGates?: boolean;
  /** The rollout would touch a node if there were a place for it in the cluster. */
  waitsForPlace?: boolean;
}
