import { isJsonObject, type JsonObject } from '../../kube/api/json.ts';
import type { KubeObject, OwnerReference } from '../../kube/api/object.ts';
import type { Source, SpecSource } from '../../agent/checkpoint/source.ts';
import type { AgentNote, Carrier, FleetNode } from './fleet-node.ts';
import type { ServerFacts } from './server-facts.ts';

/** The annotation `dkc.dev/agent`: `{"version": "0.1.0", "trial": {"endsAt": "RFC 3339"} | null}`, and `config` as in `status` when no status has it. */
export const AGENT_ANNOTATION = 'dkc.dev/agent';
/** An annotation may have 256 KiB; the agent's own is below 100 characters, or has three sources with names of up to 253. */
const MAX_ANNOTATION = 4_000;
/** Errors of the agent have at most 80 characters; other writers of a status may write anything. */
const MAX_ERROR = 1_000;

type Serves = Pick<ServerFacts, 'servesNodeConfigs' | 'hasConfigSource'>;
const onlyConfigSource: Serves = { servesNodeConfigs: false, hasConfigSource: true };

/**
 * Reads a node from its Node and its NodeConfig; malformed parts count as absent.
 * A NodeConfig takes precedence. Without one the Node is read where it has an assignment already, so that a cluster can move node by node.
 * @param config - undefined: there is none
 */
export function fleetNode(node: KubeObject, config?: KubeObject, serves: Serves = onlyConfigSource): FleetNode {
  const [spec, status] = [member(node, 'spec'), member(node, 'status')];
  const carrier = carrierOf(spec, status, config, serves);
  const isOwn = carrier === 'nodeconfig';
  const note = agentNote(node.metadata.annotations?.[AGENT_ANNOTATION]);
  // Until the agent has found its new NodeConfig, its report on the Node is the current one.
  const reported = (isOwn ? member(config, 'status') : undefined) ?? member(status, 'config') ?? member(note, 'config');
  const error = reported?.['error'];
  return {
    node: node.metadata.name ?? '',
    ...(node.metadata.uid === undefined ? {} : { uid: node.metadata.uid }),
    ...(config ? { owners: ownersOf(config) } : {}),
    carrier,
    wanted: isOwn ? (config ? wantedOf(config, 'nodeconfig') : null) : wantedOf(node, 'node'),
    reports: reported !== undefined,
    ...(config && reported && isBehind(config) ? { isBehind: true } : {}),
    agent:
      reporter(member(config, 'status')) ??
      (note ? { version: text(note, 'version').slice(0, 40), trial: trialOf(member(note, 'trial')) } : null),
    assigned: source(member(member(reported, 'assigned'), 'configMap')),
    active: source(member(member(reported, 'active'), 'configMap')),
    lastKnownGood: source(member(member(reported, 'lastKnownGood'), 'configMap')),
    error: typeof error === 'string' && error !== '' ? error.slice(0, MAX_ERROR) : null,
    ready: readyCondition(conditionsOf(node)),
    ...driftReason(conditionsOf(config)),
    kubeletVersion: text(member(status, 'nodeInfo') ?? {}, 'kubeletVersion'),
  };
}

/** What the spec of a Node or a NodeConfig assigns; null: local. */
export function wantedOf(object: KubeObject, carrier: 'node' | 'nodeconfig'): SpecSource | null {
  const spec = member(object, 'spec');
  const raw = member(carrier === 'node' ? member(spec, 'configSource') : spec, 'configMap');
  return raw ? { namespace: text(raw, 'namespace'), name: text(raw, 'name'), kubeletConfigKey: text(raw, 'kubeletConfigKey') } : null;
}

/**
 * The ConfigMaps that a Node or a NodeConfig names: in its spec, and as assigned, active and last known good. A node that has both objects is read from
 * each. Pure.
 */
export function configMapsNamedIn(object: KubeObject): Pick<SpecSource, 'namespace' | 'name'>[] {
  const isNode = object.kind === 'Node';
  const status = member(object, 'status');
  const reported = isNode ? member(status, 'config') : status;
  const named = ['assigned', 'active', 'lastKnownGood'].map((one) => source(member(member(reported, one), 'configMap')));
  return [wantedOf(object, isNode ? 'node' : 'nodeconfig'), ...named].filter((one) => one !== null);
}

/** The part of a Node that {@link fleetNode} reads. */
export function keptOfNode({ apiVersion, kind, metadata, ...rest }: KubeObject): KubeObject {
  const { name, uid, resourceVersion, annotations } = metadata;
  const kept = { name, uid, resourceVersion, annotations: { [AGENT_ANNOTATION]: annotations?.[AGENT_ANNOTATION] } };
  const status = member(rest, 'status');
  const { config, conditions, nodeInfo } = status ?? {};
  const spec = { configSource: member(rest, 'spec')?.['configSource'] };
  return { apiVersion, kind, metadata: kept, spec, status: { config, conditions, nodeInfo } } as KubeObject;
}

/** The part of a NodeConfig that {@link fleetNode} reads. */
export function keptOfConfig({ apiVersion, kind, metadata, spec, status }: KubeObject): KubeObject {
  const { name, uid, resourceVersion, generation, ownerReferences } = metadata;
  const { conditions, ...others } = isJsonObject(status) ? status : {};
  const said = { ...others, conditions: [conditionOf('Drifted', conditions)].filter((one) => one !== undefined) };
  const kept = { name, uid, resourceVersion, generation, ownerReferences };
  return { apiVersion, kind, metadata: kept, spec, ...(isJsonObject(status) ? { status: said } : {}) } as KubeObject;
}

function carrierOf(spec: Raw | undefined, status: Raw | undefined, config: KubeObject | undefined, serves: Serves): Carrier {
  if (config) return 'nodeconfig';
  const { servesNodeConfigs, hasConfigSource } = serves;
  // A later server keeps the fields of old Nodes; once cleared they are gone for good.
  const isAssigned = member(spec, 'configSource') !== undefined || (hasConfigSource && member(status, 'config') !== undefined);
  if (isAssigned) return 'node';
  return servesNodeConfigs ? 'nodeconfig' : hasConfigSource ? 'node' : null;
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

function ownersOf({ metadata }: KubeObject): readonly OwnerReference[] {
  return Array.isArray(metadata.ownerReferences) ? metadata.ownerReferences.filter((one: unknown) => isJsonObject(one)) : [];
}

/** Whether the status of a NodeConfig is about an older generation of its spec. */
function isBehind(config: KubeObject): boolean {
  const observed = member(config, 'status')?.['observedGeneration'];
  return typeof observed !== 'number' || observed < (config.metadata.generation ?? 0);
}

/** The agent as the status of a NodeConfig reports it. */
function reporter(status: Raw | undefined): AgentNote | null {
  const version = text(status ?? {}, 'agentVersion');
  return version === '' ? null : { version: version.slice(0, 40), trial: trialOf(member(status, 'trial')) };
}

/** An invalid annotation still shows that there is an agent. */
function agentNote(annotation: unknown): Raw | undefined {
  if (typeof annotation !== 'string' || annotation === '') return undefined;
  const note = annotation.length > MAX_ANNOTATION ? undefined : parsed(annotation);
  return isJsonObject(note) ? note : {};
}

function trialOf(trial: Raw | undefined): AgentNote['trial'] {
  if (!trial) return null;
  const endsAtMs = Date.parse(text(trial, 'endsAt'));
  return { endsAtMs: Number.isNaN(endsAtMs) ? null : endsAtMs };
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function readyCondition(conditions: unknown): boolean | null {
  const ready = conditionOf('Ready', conditions);
  return ready ? ready['status'] === 'True' : null;
}

/** Longest reason that is shown, in characters. */
const MAX_REASON = 100;

function driftReason(conditions: unknown): Pick<FleetNode, 'drift'> {
  const drifted = conditionOf('Drifted', conditions);
  return drifted?.['status'] === 'True' ? { drift: text(drifted, 'reason').slice(0, MAX_REASON) } : {};
}

/** `status.conditions` of an object, unchecked. */
export const conditionsOf = (object: Readonly<KubeObject> | undefined): unknown => member(object, 'status')?.['conditions'];

/** The condition of a type; undefined where there is none. */
export function conditionOf(type: string, conditions: unknown): JsonObject | undefined {
  return Array.isArray(conditions)
    ? conditions.find((one: unknown): one is JsonObject => isJsonObject(one) && one['type'] === type)
    : undefined;
}
