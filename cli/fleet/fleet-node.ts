import { isJsonObject } from '../../kube/api/json.ts';
import type { MaybeSource, Source, SpecSource } from '../../agent/checkpoint/source.ts';
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
/** A status.config error of ours has at most 80 characters; whoever may write a Node's status writes what they like. */
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
