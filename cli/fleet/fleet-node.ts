import { sameSource, type MaybeSource, type Source, type SpecSource } from '../../agent/checkpoint/source.ts';
import { isJsonObject } from '../../kube/api/json.ts';
import type { KubeObject } from '../../kube/api/object.ts';

/** A node as the fleet sees it, whatever object carries its assignment. */
export interface FleetNode {
  node: string;
  carrier: 'node' | 'nodeconfig';
  /** What it is told to use; null: local. */
  wanted: SpecSource | null;
  /** Whether an agent (or an old kubelet) has ever reported. */
  reports: boolean;
  assigned: MaybeSource;
  active: MaybeSource;
  lastKnownGood: MaybeSource;
  error: string | null;
}

/** Reads `Node.spec.configSource` and `Node.status.config`; what has not their shape counts as absent. */
export function fleetNode(node: KubeObject): FleetNode {
  const spec = member(node, 'spec');
  const config = member(member(node, 'status'), 'config');
  const error = config?.['error'];
  return {
    node: node.metadata.name ?? '',
    carrier: 'node',
    wanted: specSource(member(member(spec, 'configSource'), 'configMap')),
    reports: config !== undefined,
    assigned: source(member(member(config, 'assigned'), 'configMap')),
    active: source(member(member(config, 'active'), 'configMap')),
    lastKnownGood: source(member(member(config, 'lastKnownGood'), 'configMap')),
    error: typeof error === 'string' && error !== '' ? error : null,
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

export function sameSpec(a: SpecSource | null, b: SpecSource | null): boolean {
  if (a === null || b === null) return a === b;
  return a.namespace === b.namespace && a.name === b.name && a.kubeletConfigKey === b.kubeletConfigKey;
}

/** Where a node stands on its way to what it is told. */
export type Standing = 'local' | 'settled' | 'pending' | 'error' | 'silent';

export function standingOf(node: FleetNode): Standing {
  if (!node.reports) return node.wanted === null ? 'local' : 'silent';
  if (node.error !== null) return 'error';
  if (!sameSpec(node.wanted, node.assigned) || !sameSource(node.assigned, node.active)) return 'pending';
  return node.wanted === null ? 'local' : 'settled';
}
