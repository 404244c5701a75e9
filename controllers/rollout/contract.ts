import type { Millis } from '../../base/clock.ts';
import type { MaybeSource, SpecSource } from '../../agent/checkpoint/source.ts';
import type { ClusterFacts } from './cluster/places.ts';
import type { Fleet } from './fleet.ts';
import type { RolloutNode, Standing } from './node.ts';
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

/** What the controller knows of kubelet configurations. Pure, and cheap to ask again. */
export interface KubeletConfigs {
  /** Why a kubelet of this version would reject the configuration: at most a few sentences; empty: it would not. */
  rejects(revision: Readonly<ConfigMap>, kubeletConfigKey: string, kubeletVersion: string): readonly string[];
  /** Fields that differ and need a drained node. @param from - absent: what the node uses is not known, and every such field that is set counts */
  needsDrain(from: Keyed | undefined, to: Keyed | undefined, kubeletVersion: string): readonly string[];
}

/** A kubelet configuration: one key of a ConfigMap. */
export interface Keyed {
  map: Readonly<ConfigMap>;
  key: string;
}

/** Where the drain of a node stands, as far as this process has taken it. @member isHeld - it may last: evictions are refused, or what it asks fails */
export type DrainState = { at: 'draining'; why: string; isHeld?: boolean } | { at: 'drained' } | { at: 'failed'; error: string };

/** What a node was drained for: what became of it says nothing of another revision, of another attempt, or of a Node that was made again under its name. */
export interface DrainFor {
  /** Name; absent: its local configuration. */
  revision: string | undefined;
  attempt: number;
  /** Of the Node. */
  uid?: string | undefined;
}

/** All that a plan is made of: one rollout, as the caches have it now. */
export interface Facts {
  rules: Rules;
  now: Millis;
  /** The ConfigMap that spec names; absent: it is not there. */
  source: Readonly<ConfigMap> | undefined;
  /** Copies that this rollout made. */
  revisions: readonly Readonly<ConfigMap>[];
  /** Whether a ConfigMap beside the source has this name, and is none of these. @default none does */
  isTaken?: (name: string) => boolean;
  /** Whether any node of the cluster, selected or not, is assigned this ConfigMap, runs it, or goes back to it. */
  isUsed: (configMap: string) => boolean;
  /** Nodes that it selects and no older rollout does. */
  fleet: Pick<Fleet, 'size' | 'get' | 'groups' | 'conflicts'>;
  /** @default the cluster has no budget of its own */
  cluster?: ClusterFacts | undefined;
  configs: KubeletConfigs;
  /** The ConfigMap that a node uses; absent: its local configuration, or one that is not there any more. */
  payloadOf: (source: MaybeSource) => Readonly<ConfigMap> | undefined;
  /** By node. */
  drains: ReadonlyMap<string, DrainState & DrainFor>;
  window: WindowState;
  /** Absent: not asked yet. */
  gates: readonly GateResult[] | undefined;
  /** Of the caches that it was read from. */
  versions?: Required<Omit<Touches, 'nodes'>>;
  /** What this process knows of the touches that the status names. @default it wrote them a moment ago */
  touches?: Pick<KnownTouches, 'mayArrive' | 'isOld'>;
  /** What the last look could not write, and why: by object, as {@link objectOf} names it. @default nothing */
  unwritten?: ReadonlyMap<string, string> | undefined;
  /** Times that the wall clock jumped over. @default none */
  gaps?: readonly ClockGap[];
}

/** A node and where it stands. */
export interface Placed {
  node: RolloutNode;
  standing: Standing;
}

/**
 * How a revision is written in the spec of a node.
 * @param revision - absent: local
 * @param copies - the revision among them; of one that is not there the key that spec names is the best guess
 */
export function specOf(rules: Rules, revision: string | undefined, copies: readonly Readonly<ConfigMap>[]): SpecSource | null {
  if (revision === undefined) return null;
  const { namespace, kubeletConfigKey } = rules.configMap;
  const copy = copies.find(({ metadata }) => metadata.name === revision);
  return { namespace, name: revision, kubeletConfigKey: copy === undefined ? kubeletConfigKey : keyOf(copy, kubeletConfigKey) };
}

export type Action =
  | { do: 'create-revision'; revision: ConfigMap }
  /** It becomes the newest: nodes go back to it. */
  | { do: 'number-revision'; revision: Readonly<ConfigMap>; number: number }
  /** Agents that condemned it try it again: the annotation dkc.dev/retry has a new value. */
  | { do: 'retry-revision'; revision: Readonly<ConfigMap>; retry: string }
  | { do: 'delete-revision'; revision: Readonly<ConfigMap> }
  /** @member revision - name; absent: local */
  | { do: 'assign'; node: RolloutNode; revision: string | undefined }
  /** It is cordoned and its pods are evicted; the next plan assigns what it was drained for. */
  | { do: 'drain'; node: RolloutNode; revision: string | undefined }
  /** Its Node says that it comes next. */
  | { do: 'plan-maintenance'; node: RolloutNode }
  /** The clock was set back: the time of its deadline begins again. */
  | { do: 'restart-deadline'; node: RolloutNode }
  /** What this rollout left on the Node goes: conditions, the record of a drain, its cordon. */
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
  /** For people: what it waits for, or does. */
  text: string;
  waitsFor?: string | undefined;
  progress?: Progress;
  /** Where nodes stand on their way to the revision. */
  groups?: Groups;
  actions?: readonly Action[];
  wakeUps?: readonly WakeUp[];
  asksGates?: boolean;
  /** It would touch a node, if there were a place for it in the cluster. */
  waitsForPlace?: boolean;
}
