import { type MaybeSource, type Source, type SpecSource, specSourceProblems } from '../checkpoint/source.ts';
import type { Json } from '../config/contract.ts';
import type { ConfigStatus } from './node-config-state.ts';
import { fieldsOf, isJsonObject, jsonEqual } from '../../kube/api/json.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import type { Wanted } from '../sync/plan.ts';

/** Node.spec.configSource and Node.status.config, read and written. Pure. */

/** @param namespace - the only namespace this agent may read; '' allows any */
export function wantedOf(configSource: unknown, namespace: string): Wanted {
  if (configSource === undefined || configSource === null) return { at: 'local' };
  const configMap = fieldsOf(configSource)['configMap'];
  if (configMap === undefined || configMap === null) return { at: 'no-source' };
  return wantedConfigMap(configMap, 'spec.configSource.configMap', namespace);
}

/** @param path - path of `configMap` in its object, for messages @param namespace - as in {@link wantedOf} */
export function wantedConfigMap(configMap: unknown, path: string, namespace: string): Wanted {
  if (!isJsonObject(configMap)) return { at: 'invalid', problem: `${path} is not an object` };
  const text = (name: string): string => (typeof configMap[name] === 'string' ? configMap[name] : '');
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

/** The annotation that shows the fleet view that a node has an agent, and its trial. */
export const AGENT_ANNOTATION = 'dkc.dev/agent';

/**
 * `{"version":"0.1.0","trial":{"endsAt":"2026-03-01T00:10:00Z"}}`, or `"trial":null`
 * @param isOnlyStatus - no object has a status for this node: the annotation has the members of `status.config` as `config`, unless there are none
 */
export function agentNote(picture: ConfigStatus, version: string, isOnlyStatus = false): string {
  const { trial } = picture;
  const config = isOnlyStatus ? configStatus(picture) : {};
  return JSON.stringify({
    version,
    trial: trial ? { endsAt: trial.endsAt } : null,
    ...(Object.keys(config).length > 0 ? { config } : {}),
  });
}

/**
 * The patch that brings a Node to this picture, with the annotation; undefined when nothing differs. The status subresource of a Node accepts annotations.
 * @param isOnlyStatus - as in {@link agentNote}
 */
export function nodePatch(
  { metadata, status }: Pick<KubeObject, 'metadata'> & { status?: { config?: unknown } },
  picture: ConfigStatus,
  version: string,
  isOnlyStatus = false,
): Record<string, Json> | undefined {
  const config = configPatch(status?.config, picture);
  const note = agentNote(picture, version, isOnlyStatus);
  const isNoted = metadata.annotations?.[AGENT_ANNOTATION] === note;
  if (!config && isNoted) return undefined;
  return { ...(isNoted ? {} : { metadata: { annotations: { [AGENT_ANNOTATION]: note } } }), ...config };
}

/**
 * The patch from the seen to the wanted `status.config`; undefined when they are equal. Removed members are sent as null.
 * @param seen - `status.config` as last seen; undefined when the field is absent, which differs from `{}` (local config in use)
 */
export function configPatch(seen: unknown, picture: ConfigStatus): Record<string, Json> | undefined {
  const config = memberPatch(seen, configStatus(picture));
  return config && { status: { config } };
}

/** The members of `wanted` that differ in `seen`, and null for members that only `seen` has; undefined when nothing differs. */
export function memberPatch(seen: unknown, wanted: Readonly<Record<string, Json>>): Record<string, Json> | undefined {
  const old = fieldsOf(seen);
  const changed = Object.entries(wanted).filter(([name, value]) => !jsonEqual(old[name], value));
  const gone = Object.keys(old).filter((name) => !(name in wanted) && old[name] !== null);
  if (seen !== undefined && seen !== null && changed.length === 0 && gone.length === 0) return undefined;
  return { ...Object.fromEntries(changed), ...Object.fromEntries(gone.map((name) => [name, null])) };
}

/**
 * Whether the server kept what `patch` wrote. Only the members of the patch are compared: other members may come from another writer, which does not
 * mean that the server drops fields.
 */
export function keeps(seen: unknown, patch: Record<string, Json>): boolean {
  const sent = fieldsOf(patch['status'])['config'];
  return !isJsonObject(sent) || keepsMembers(seen, sent); // a patch of the annotation alone tests nothing
}

/** Whether `seen` has every member that a merge patch sets. */
export function keepsMembers(seen: unknown, sent: Readonly<Record<string, unknown>>): boolean {
  return isJsonObject(seen) && Object.entries(sent).every(([name, value]) => value === null || jsonEqual(seen[name], value));
}
