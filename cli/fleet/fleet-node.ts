import { sameSource, type SpecSource, type MaybeSource, type Source } from '../../agent/checkpoint/source.ts';
import { statusErrors } from '../../agent/status/errors.ts';
import { span } from '../node/spoken.ts';
import { isJsonObject } from '../../kube/api/json.ts';
import type { Millis } from '../../base/clock.ts';
import type { KubeObject } from '../../kube/api/object.ts';

/** A node as the fleet sees it, whatever object carries its assignment. */
export interface FleetNode {
  node: string;
  carrier: 'node' | 'nodeconfig';
  /** What its spec assigns; null: local. */
  wanted: SpecSource | null;
  /** Whether an agent (or an old kubelet) has ever reported a config. */
  reports: boolean;
  /** What the agent's annotation says; null where there is none. */
  agent: AgentNote | null;
  assigned: MaybeSource;
  active: MaybeSource;
  lastKnownGood: MaybeSource;
  error: string | null;
  /** The Ready condition; null where the kubelet has never reported one. */
  ready: boolean | null;
  /** As the kubelet reports it: `v1.30.1`; '' where it has not. */
  kubeletVersion: string;
}

/** The annotation that an agent keeps on its Node. */
export interface AgentNote {
  version: string;
  /** The running trial; `endsAtMs` (wall clock) is when it ends if all goes well from now on. */
  trial: { endsAtMs: number | null } | null;
}

/** The annotation `dkc.dev/agent`: `{"version": "0.1.0", "trial": {"endsAt": "RFC 3339"} | null}`. */
export const AGENT_ANNOTATION = 'dkc.dev/agent';
/** An annotation may have 256 KiB; the agent's own is below 100 characters. */
const MAX_ANNOTATION = 1_000;
/** A status.config error of ours has at most 80 characters; those who may write a Node's status writes what they like. */
const MAX_ERROR = 1_000;

/** Reads `Node.spec.configSource`, `Node.status.config` and the agent's annotation; what has not their shape counts as absent. */
export function fleetNode(node: KubeObject): FleetNode {
  const spec = member(node, 'spec');
  const status = member(node, 'status');
  const config = member(status, 'config');
  const error = config?.['error'];
  return {
    node: node.metadata.name ?? '',
    carrier: 'node',
    wanted: specSource(member(member(spec, 'configSource'), 'configMap')),
    reports: config !== undefined,
    agent: agentNote(node.metadata.annotations?.[AGENT_ANNOTATION]),
    assigned: source(member(member(config, 'assigned'), 'configMap')),
    active: source(member(member(config, 'active'), 'configMap')),
    lastKnownGood: source(member(member(config, 'lastKnownGood'), 'configMap')),
    error: typeof error === 'string' && error !== '' ? error.slice(0, MAX_ERROR) : null,
    ready: readyCondition(status?.['conditions']),
    kubeletVersion: text(member(status, 'nodeInfo') ?? {}, 'kubeletVersion'),
  };
}

type Raw = Readonly<Record<string, unknown>>;

function member(of: Raw | undefined, name: string): Raw | undefined {
  const value = of?.[name];
  return isJsonObject(value) ? value : undefined;
}

const text = (of: Raw, name: string): string => {
  const value = of[name];
  return typeof value === 'string' ? value : '';
};

function specSource(raw: Raw | undefined): SpecSource | null {
  return raw ? { namespace: text(raw, 'namespace'), name: text(raw, 'name'), kubeletConfigKey: text(raw, 'kubeletConfigKey') } : null;
}

function source(raw: Raw | undefined): Source | null {
  if (!raw) return null;
  return {
    namespace: text(raw, 'namespace'),
    name: text(raw, 'name'),
    uid: text(raw, 'uid'),
    resourceVersion: text(raw, 'resourceVersion'),
    kubeletConfigKey: text(raw, 'kubeletConfigKey'),
  };
}

/** An annotation that is there but cannot be read still says that there is an agent. */
function agentNote(annotation: unknown): AgentNote | null {
  if (typeof annotation !== 'string' || annotation === '') return null;
  const note = annotation.length > MAX_ANNOTATION ? undefined : parsed(annotation);
  if (!isJsonObject(note)) return { version: '', trial: null };
  const trial = member(note, 'trial');
  const endsAtMs = Date.parse(text(trial ?? {}, 'endsAt'));
  return { version: text(note, 'version').slice(0, 40), trial: trial ? { endsAtMs: Number.isNaN(endsAtMs) ? null : endsAtMs } : null };
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function readyCondition(conditions: unknown): boolean | null {
  if (!Array.isArray(conditions)) return null;
  const ready = conditions.find((one: unknown) => isJsonObject(one) && one['type'] === 'Ready') as Raw | undefined;
  return ready ? ready['status'] === 'True' : null;
}

export function sameSpec(a: SpecSource | null, b: SpecSource | null): boolean {
  if (a === null || b === null) return a === b;
  return a.namespace === b.namespace && a.name === b.name && a.kubeletConfigKey === b.kubeletConfigKey;
}

/** Where a node stands on its way to what its spec assigns (design 7). */
export const fleetStates = ['trusted', 'trial', 'pending', 'refused', 'condemned', 'fell-back', 'error', 'local', 'no-agent'] as const;
export type FleetState = (typeof fleetStates)[number];

/**
 * no-agent    nothing has ever reported for this node
 * condemned   the config failed its trial, or an admin rolled it back
 * refused     the agent rejected the config before any restart; the previous one still runs
 * fell-back   the assigned config could not be used at boot; another one runs
 * error       the assignment cannot be followed: a ConfigMap that is missing or not readable, a damaged record
 * pending     the spec has changed and the node is on its way
 * trial       it runs what the spec assigns and has not proved it yet
 */
export function fleetState(node: FleetNode): FleetState {
  if (!node.reports && node.agent === null) return 'no-agent';
  if (node.error !== null) return failedState(node, node.error);
  if (!sameSpec(node.wanted, node.assigned) || !sameSource(node.assigned, node.active)) return 'pending';
  if (node.wanted === null) return 'local';
  return sameSource(node.assigned, node.lastKnownGood) ? 'trusted' : 'trial';
}

function failedState(node: FleetNode, error: string): FleetState {
  switch (error) {
    case statusErrors.failedTrial:
    case statusErrors.rolledBack:
      return 'condemned';
    case statusErrors.load:
    case statusErrors.validate:
      // A refused config is never written down as assigned, so what is assigned still runs.
      return sameSource(node.assigned, node.active) ? 'refused' : 'fell-back';
    default:
      return 'error';
  }
}

/** Whether `dkc nodes --check` is content with it. */
export const isSettled = (state: FleetState): boolean => state === 'trusted' || state === 'local';

/** For people: the state, with the time that a trial has left where the agent tells it. */
export function stateText(node: FleetNode, now: Millis): string {
  const state = fleetState(node);
  const left = state === 'trial' ? trialLeft(node, now) : undefined;
  return left === undefined ? state : `${state} (${left} left)`;
}

/** `8m12s`; undefined where the agent does not tell, or the time is over and its verdict on the way. */
export function trialLeft({ agent }: FleetNode, now: Millis): string | undefined {
  const endsAt = agent?.trial?.endsAtMs ?? undefined;
  return endsAt === undefined || endsAt - now < 1_000 ? undefined : span(endsAt - now);
}

/** What the spec says, with the uid and resourceVersion that the node reports for it; null where it has not reported them. */
export interface AssignedSource extends SpecSource {
  uid: string | null;
  resourceVersion: string | null;
}

export function assignedSource({ wanted, assigned }: FleetNode): AssignedSource | null {
  if (wanted === null) return null;
  const known = sameSpec(wanted, assigned) ? assigned : null;
  const { namespace, name, kubeletConfigKey } = wanted;
  return { namespace, name, uid: known?.uid ?? null, resourceVersion: known?.resourceVersion ?? null, kubeletConfigKey };
}
