import { type MaybeSource, type Source, type SpecSource, specSourceProblems } from '../checkpoint/source.ts';
import type { Json } from '../config/contract.ts';
import type { ConfigStatus } from './node-config-state.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import type { Wanted } from '../sync/plan.ts';

/** Node.spec.configSource and Node.status.config, read and written (spec 2). Pure. */

/** @param namespace - the only namespace this agent may read; '' allows any */
export function wantedOf(configSource: unknown, namespace: string): Wanted {
  if (configSource === undefined || configSource === null) return { at: 'local' };
  const configMap = record(configSource)?.['configMap'];
  if (configMap === undefined || configMap === null) return { at: 'no-source' };
  return wantedConfigMap(configMap, 'spec.configSource.configMap', namespace);
}

/** @param path - of `configMap` in its object, for messages @param namespace - as above */
export function wantedConfigMap(configMap: unknown, path: string, namespace: string): Wanted {
  const fields = record(configMap);
  if (!fields) return { at: 'invalid', problem: `${path} is not an object` };
  const text = (name: string): string => (typeof fields[name] === 'string' ? fields[name] : '');
  const spec: SpecSource = { namespace: text('namespace'), name: text('name'), kubeletConfigKey: text('kubeletConfigKey') };
  const problems = specSourceProblems(spec);
  if (problems.length > 0) return { at: 'invalid', problem: problems.map((problem) => `${path}.${problem}`).join('; ') };
  if (namespace !== '' && spec.namespace !== namespace) {
    return {
      at: 'forbidden',
      problem: `namespace ${spec.namespace} is not ${namespace}, the only one that --configmap-namespace lets this agent read`,
    };
  }
  return { at: 'source', spec };
}

/** `status.config` as upstream writes it: absent members for local, no error when there is none. */
export function configStatus(picture: ConfigStatus): Record<string, Json> {
  const { assigned, active, lastKnownGood, error } = picture;
  const member = (name: string, source: MaybeSource): Record<string, Json> =>
    source === null ? {} : { [name]: { configMap: sourceJson(source) } };
  return {
    ...member('assigned', assigned),
    ...member('active', active),
    ...member('lastKnownGood', lastKnownGood),
    ...(error === null ? {} : { error }),
  };
}

function sourceJson({ namespace, name, uid, resourceVersion, kubeletConfigKey }: Source): Json {
  return { namespace, name, uid, resourceVersion, kubeletConfigKey };
}

/** The annotation by which the fleet view knows that a node has an agent, and of its trial. */
export const AGENT_ANNOTATION = 'dkc.dev/agent';

/**
 * `{"version":"0.1.0","trial":{"endsAt":"2026-03-01T00:10:00Z"}}`, or `"trial":null`
 * @param isOnlyWord - no status tells of this node: the note has what `status.config` would have, as `config`, unless that is empty
 */
export function agentNote(picture: ConfigStatus, version: string, isOnlyWord = false): string {
  const { trial } = picture;
  const config = isOnlyWord ? configStatus(picture) : {};
  return JSON.stringify({
    version,
    trial: trial ? { endsAt: trial.endsAt } : null,
    ...(Object.keys(config).length > 0 ? { config } : {}),
  });
}

/**
 * The patch of a Node to this picture, annotation and all; undefined when nothing differs. A Node's status takes annotations, too.
 * @param isOnlyWord - as above
 */
export function nodePatch(
  { metadata, status }: Pick<KubeObject, 'metadata'> & { status?: { config?: unknown } },
  picture: ConfigStatus,
  version: string,
  isOnlyWord = false,
): Record<string, Json> | undefined {
  const config = configPatch(status?.config, picture);
  const note = agentNote(picture, version, isOnlyWord);
  const isNoted = metadata.annotations?.[AGENT_ANNOTATION] === note;
  if (!config && isNoted) return undefined;
  return { ...(isNoted ? {} : { metadata: { annotations: { [AGENT_ANNOTATION]: note } } }), ...config };
}

/**
 * The patch from what the Node says to what it should say; undefined when nothing differs. Members that go are sent as null.
 * @param seen - `status.config` as last seen; undefined when the field is absent, which differs from `{}` (local config in use)
 */
export function configPatch(seen: unknown, picture: ConfigStatus): Record<string, Json> | undefined {
  const config = memberPatch(seen, configStatus(picture));
  return config && { status: { config } };
}

/** The members of `wanted` that `seen` has not, and null for those that only `seen` has; undefined when nothing differs. */
export function memberPatch(seen: unknown, wanted: Readonly<Record<string, Json>>): Record<string, Json> | undefined {
  const old = record(seen) ?? {};
  const changed = Object.entries(wanted).filter(([name, value]) => canonical(old[name]) !== canonical(value));
  const gone = Object.keys(old).filter((name) => !(name in wanted) && old[name] !== null);
  if (seen !== undefined && seen !== null && changed.length === 0 && gone.length === 0) return undefined;
  return { ...Object.fromEntries(changed), ...Object.fromEntries(gone.map((name) => [name, null])) };
}

/**
 * Whether the server kept what `patch` wrote. Members that someone else wrote meanwhile are not compared: that is a conflict of two writers, not a
 * server that drops fields.
 */
export function keeps(seen: unknown, patch: Record<string, Json>): boolean {
  const sent = record(record(patch['status'])?.['config']);
  return !sent || keepsMembers(seen, sent); // an annotation alone says nothing of these fields
}

/** Whether `seen` has every member that a merge patch sets. */
export function keepsMembers(seen: unknown, sent: Readonly<Record<string, unknown>>): boolean {
  const now = record(seen);
  return now !== undefined && Object.entries(sent).every(([name, value]) => value === null || canonical(now[name]) === canonical(value));
}

/** The order in which a server prints members says nothing. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, at: unknown) => {
    const fields = record(at);
    return fields ? Object.fromEntries(Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1))) : at;
  });
}

function record(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
}
