import { goJson, isJsonObject, type JsonObject, ownField, setField } from '../../kube/api/json.ts';
import { checkDepth, PatchError } from './json-patch.ts';

/** How one field merges. Without a rule an object merges field by field and a list is replaced whole. */
export interface MergeRule {
  /** A list of objects: items with the same value here (all of them, for several keys) merge, others are appended. */
  mergeKey?: string | readonly string[];
  /** A list of plain values, merged as a set. */
  set?: true;
  /** Rules for the fields of this object, or of each item of this list. */
  fields?: Readonly<Record<string, MergeRule>>;
}

const DELETE_LIST = '$deleteFromPrimitiveList/';
const ORDER = '$setElementOrder/';

/**
 * Strategic merge patch like the API server's: `rule` defines which lists merge and by which key. Supports `$patch: replace | delete | merge`,
 * `$deleteFromPrimitiveList/FIELD` and `$retainKeys`; `$setElementOrder/FIELD` is accepted but ignored: the order does not change.
 * Neither argument is changed; the result may share parts with both.
 * @throws {PatchError} `malformed` for unknown directives and for items without their merge key
 */
export function applyStrategicPatch(target: unknown, patch: unknown, rule: MergeRule = {}): unknown {
  if (!isJsonObject(patch)) throw new PatchError('malformed', 'a strategic merge patch must be an object');
  checkDepth(patch);
  return mergeObject(isJsonObject(target) ? target : {}, patch, rule, '');
}

function mergeObject(target: JsonObject, patch: JsonObject, rule: MergeRule, path: string): JsonObject {
  const { $patch: directive, $retainKeys: retain, ...changes } = patch;
  switch (directive) {
    case 'replace':
      return mergeObject({}, changes, {}, path);
    case 'delete':
      return {};
    case 'merge':
    case undefined:
      break;
    default:
      throw new PatchError('malformed', `unknown $patch directive at "${path}", it is replace, delete or merge`);
  }
  const result = retain === undefined ? { ...target } : retained(target, changes, retain, path);
  for (const [key, value] of Object.entries(changes)) {
    if (key.startsWith(ORDER)) continue;
    if (key.startsWith(DELETE_LIST)) {
      deleteItems(result, key.slice(DELETE_LIST.length), value, path);
      continue;
    }
    if (value === null) delete result[key];
    else if (value !== undefined)
      setField(result, key, mergeField(ownField(result, key), value, ownRule(rule, key), path === '' ? key : `${path}.${key}`));
  }
  return result;
}

function mergeField(had: unknown, value: unknown, rule: MergeRule, path: string): unknown {
  if (isJsonObject(value)) return mergeObject(isJsonObject(had) ? had : {}, value, rule, path);
  if (!Array.isArray(value)) return value;
  const items: unknown[] = Array.isArray(had) ? had : [];
  if (rule.set) {
    const seen = new Set<unknown>(items);
    return [...items, ...value.filter((item) => !seen.has(item) && seen.add(item))];
  }
  if (rule.mergeKey === undefined) return value;
  return mergeList(items, value, typeof rule.mergeKey === 'string' ? [rule.mergeKey] : rule.mergeKey, rule, path);
}

function mergeList(had: readonly unknown[], patch: readonly unknown[], keys: readonly string[], rule: MergeRule, path: string): unknown[] {
  const changes = patch.map((item) => {
    if (!isJsonObject(item)) throw new PatchError('malformed', `"${path}" is a list of objects`);
    return item;
  });
  // An item {"$patch": "replace"} replaces the whole list by the other items of the patch.
  const replaces = changes.some((item) => item['$patch'] === 'replace');
  const result: unknown[] = replaces ? [] : [...had];
  // Indexed by key, so that a patch of 50,000 items takes linear time. Of several items with one key, the first one is changed.
  const places = new Map<string, number[]>();
  const placesOf = (item: JsonObject): string => goJson(keys.map((key) => ownField(item, key) ?? null));
  const put = (item: unknown, at: number): void => {
    if (!isJsonObject(item) || keys.some((key) => ownField(item, key) === undefined)) return;
    const key = placesOf(item);
    const there = places.get(key);
    if (there === undefined) places.set(key, [at]);
    else there.push(at);
  };
  for (const [at, item] of result.entries()) put(item, at);
  for (const change of changes) {
    if (change['$patch'] === 'replace' && keys.every((key) => !Object.hasOwn(change, key))) continue;
    const lacking = keys.find((key) => ownField(change, key) === undefined);
    if (lacking !== undefined) throw new PatchError('malformed', `an item of "${path}" lacks its merge key "${lacking}"`);
    const key = placesOf(change);
    const there = places.get(key) ?? [];
    if (change['$patch'] === 'delete') {
      for (const at of there) result[at] = DELETED;
      places.delete(key);
      continue;
    }
    const [at] = there;
    const found = at === undefined ? undefined : result[at];
    const merged = mergeObject(isJsonObject(found) ? found : {}, change, rule, path);
    if (at === undefined) {
      put(merged, result.length);
      result.push(merged);
    } else result[at] = merged;
  }
  return result.filter((item) => item !== DELETED);
}

/** Replaces a deleted item until the whole patch is applied. */
const DELETED = Symbol('deleted item');

function deleteItems(result: JsonObject, field: string, values: unknown, path: string): void {
  if (!Array.isArray(values)) throw new PatchError('malformed', `"${path}.${DELETE_LIST}${field}" must be a list`);
  const had = ownField(result, field);
  if (Array.isArray(had)) {
    const gone = new Set(values.map(goJson));
    setField(
      result,
      field,
      had.filter((item) => !gone.has(goJson(item))),
    );
  }
}

function retained(target: JsonObject, changes: JsonObject, retain: unknown, path: string): JsonObject {
  if (!Array.isArray(retain)) throw new PatchError('malformed', `$retainKeys at "${path}" must be a list of field names`);
  const kept = new Set<unknown>(retain);
  const stray = Object.keys(changes).find((key) => !key.startsWith('$') && changes[key] !== null && !kept.has(key));
  if (stray !== undefined) throw new PatchError('malformed', `$retainKeys at "${path}" does not name "${stray}", which the patch sets`);
  return Object.fromEntries(Object.entries(target).filter(([key]) => kept.has(key)));
}

function ownRule(rule: MergeRule, key: string): MergeRule {
  return rule.fields !== undefined && Object.hasOwn(rule.fields, key) ? (rule.fields[key] ?? {}) : {};
}

/*
 * Which lists of the built-in kinds merge, and by which key: the patchMergeKey and patchStrategy of the published API types (k8s.io/api, 1.20 to 1.34).
 * All other lists are replaced whole, also a Node's taints and a pod's tolerations, on purpose.
 */
const byName: MergeRule = { mergeKey: 'name' };
const byType: MergeRule = { mergeKey: 'type' };

const metadata: MergeRule = { fields: { finalizers: { set: true }, ownerReferences: { mergeKey: 'uid' } } };

const container: MergeRule = {
  mergeKey: 'name',
  fields: {
    env: byName,
    ports: { mergeKey: 'containerPort' },
    volumeMounts: { mergeKey: 'mountPath' },
    volumeDevices: { mergeKey: 'devicePath' },
  },
};

const podSpec: MergeRule = {
  fields: {
    containers: container,
    initContainers: container,
    ephemeralContainers: container,
    volumes: byName,
    imagePullSecrets: byName,
    hostAliases: { mergeKey: 'ip' },
    topologySpreadConstraints: { mergeKey: 'topologyKey' },
    resourceClaims: byName,
    schedulingGates: byName,
  },
};

const template: MergeRule = { fields: { metadata, spec: podSpec } };
const conditions: MergeRule = { fields: { conditions: byType } };
const claim: MergeRule = { fields: { metadata, status: conditions } };
const workload: MergeRule = { fields: { metadata, spec: { fields: { template } }, status: conditions } };

const rules: Readonly<Record<string, MergeRule>> = {
  Node: {
    fields: {
      metadata,
      spec: { fields: { podCIDRs: { set: true } } },
      status: { fields: { conditions: byType, addresses: byType } },
    },
  },
  Pod: {
    fields: { metadata, spec: podSpec, status: { fields: { conditions: byType, podIPs: { mergeKey: 'ip' } } } },
  },
  Namespace: claim,
  PersistentVolumeClaim: claim,
  PodDisruptionBudget: claim,
  Service: { fields: { metadata, spec: { fields: { ports: { mergeKey: 'port' } } }, status: conditions } },
  ServiceAccount: { fields: { metadata, secrets: byName } },
  DaemonSet: workload,
  StatefulSet: workload,
  ReplicaSet: workload,
  ReplicationController: workload,
  ControllerRevision: { fields: { metadata } },
};

/** The merge rules of a built-in kind. Kinds without such lists get the rules of metadata. */
export function strategicRules(kind: string): MergeRule {
  return (Object.hasOwn(rules, kind) ? rules[kind] : undefined) ?? { fields: { metadata } };
}
