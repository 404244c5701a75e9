import type { FieldClass, Finding, Json, JsonObject, KubeletVersion } from '../contract.ts';
import { applyDefaults, valueAt } from '../defaults.ts';
import { type Document, DocumentError, isList, isObject, join, own, sameJson } from '../decode/document.ts';
import { fieldAt, type Leaf, type Place, schemaFor } from '../fields/fields.ts';
import { applyFlags } from '../flags.ts';
import { dropInOf, type DropIns, mergeOverlay, withDropIns } from '../overlay.ts';
import { decode } from '../decode/decode.ts';
import { readJson } from '../decode/read-json.ts';
import { renderYaml } from '../yaml/render.ts';
import { NEWEST_MINOR } from '../version.ts';

export interface Explained {
  field: string;
  /** The value in force; null when there is none. Values of secret fields are masked. */
  value: Json;
  origin: 'default' | 'local' | 'dynamic' | 'drop-in' | 'flag';
  /** Path of the drop-in, where that is the origin. */
  file?: string;
  class: FieldClass;
  /** A configuration sets the field, and a flag of the kubelet overrides it. */
  shadowed: boolean;
  /** Only where the answer of /configz is given: the value in the running kubelet, masked like `value`. */
  running?: Json;
  /** Only where the answer of /configz is given: `running` differs from `value`, and the kubelet did not set it by itself. */
  differs?: boolean;
}

export interface ExplainQuestion {
  /** As written. */
  local: JsonObject;
  /** The assigned ConfigMap's configuration as written, or null when nothing is assigned. */
  dynamic: JsonObject | null;
  merge: 'replace' | 'overlay';
  /** The drop-ins that the kubelet merges into `local` or `dynamic`. */
  dropIns?: DropIns;
  /** The kubelet's command line, without the program's name. */
  args: readonly string[];
  version: KubeletVersion;
  /** The configuration of the running kubelet, from `readConfigz`. */
  running?: JsonObject;
}

/** Every field of a kubelet of `version`, with the value in force and its origin; feature gates one by one. */
export function explainFields({ local, dynamic, merge, dropIns, args, version, running }: ExplainQuestion): Explained[] {
  const config = dynamic === null ? local : merge === 'overlay' ? mergeOverlay(local, dynamic) : dynamic;
  const used = withDropIns(config, dropIns, { args, version });
  const { merged, shadowed } = applyFlags(used, args, version);
  const effective = applyDefaults(merged, version);
  const flagged = new Set(shadowed.map(({ field }) => field));
  const explain = (field: string, path: readonly string[], unset?: Json): Explained => {
    const given = (source: JsonObject | null): boolean => source !== null && (valueAt(source, path) ?? null) !== null;
    const file = dropInOf(dropIns, path);
    const written = given(dynamic) ? 'dynamic' : given(config) ? 'local' : 'default';
    const origin = flagged.has(field) ? 'flag' : file !== undefined ? 'drop-in' : written;
    const entry = fieldAt(field);
    const isSecret = entry?.secret === true;
    const value = valueAt(effective, path) ?? unset ?? null;
    const runs = running && (valueAt(running, path) ?? unset ?? null);
    return {
      field,
      value: shownValue(value, isSecret),
      origin: dynamic === null && origin === 'dynamic' ? 'local' : origin,
      ...(origin === 'drop-in' && file !== undefined ? { file } : {}),
      class: entry?.class ?? 'dangerous',
      shadowed: flagged.has(field) && (given(config) || file !== undefined),
      ...(runs === undefined ? {} : { running: shownValue(runs, isSecret), differs: isOther(field, value, runs, version) }),
    };
  };
  return schemaFor(version.minor).leaves.flatMap((leaf) => {
    if (!leaf.known) return [];
    const value = valueAt(effective, leaf.path);
    if (leaf.field.name !== 'featureGates' || !isObject(value)) return [explain(leaf.field.name, leaf.path, zeroOf(leaf))];
    const there = running && valueAt(running, leaf.path);
    const gates = new Set([...Object.keys(value), ...(isObject(there) ? Object.keys(there) : [])]);
    return [...gates].map((gate) => explain(`featureGates.${gate}`, ['featureGates', gate]));
  });
}

/** Fields in which the running kubelet differs from its configuration. */
export function differingFields(question: ExplainQuestion & { running: JsonObject }): string[] {
  return explainFields(question).flatMap(({ field, differs }) => (differs === true ? [field] : []));
}

/** Fields that a kubelet without a certificate sets: it creates one and reports its path. */
const MADE_BY_KUBELET: ReadonlySet<string> = new Set(['tlsCertFile', 'tlsPrivateKeyFile']);
/** First minor whose /configz has the cgroup driver of the container runtime instead of the configured one. */
const DRIVER_OF_RUNTIME_SINCE = 35;

function isOther(field: string, value: Json, running: Json, version: KubeletVersion): boolean {
  if (MADE_BY_KUBELET.has(field) && (value === null || value === '')) return false;
  if (field === 'cgroupDriver' && version.minor >= DRIVER_OF_RUNTIME_SINCE) return false;
  return !sameJson(value, running) && !(isEmpty(value) && isEmpty(running));
}

/** Absent, or without members: /configz leaves out both. */
const isEmpty = (value: Json): boolean =>
  value === null || (isList(value) && value.length === 0) || (isObject(value) && Object.keys(value).length === 0);

/** The value of a field that is not set and has no default: the zero of its type, undefined for pointers, lists and maps. */
function zeroOf({ pointer, shape }: Leaf): Json | undefined {
  if (pointer) return undefined;
  if (shape.is === 'bool') return false;
  if (shape.is === 'string') return '';
  return ['int32', 'int64', 'uint32', 'float64'].includes(shape.is) ? 0 : undefined;
}

export type Configz = { ok: true; config: JsonObject } | { ok: false; problem: string };

const TYPE = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' };

/**
 * Parses the answer of a kubelet's `/configz`: the running configuration with flags, drop-ins and defaults. Up to 1.35 it is below `kubeletconfig`,
 * without apiVersion and kind; from 1.36 on it has both. Zero fields are left out.
 * @returns the configuration in the form of `applyDefaults`, for comparison; a problem text has no values
 */
export function readConfigz(text: string, version: KubeletVersion): Configz {
  let document: Document;
  try {
    document = readJson(text);
  } catch (error) {
    if (error instanceof DocumentError) return { ok: false, problem: `the answer of /configz is not JSON: ${error.message}` };
    throw error;
  }
  const inner = isObject(document.value) ? own(document.value, 'kubeletconfig') : undefined;
  if (!isObject(inner)) return { ok: false, problem: 'the answer of /configz has no kubeletconfig' };
  const decoded = decode(new TextEncoder().encode(renderYaml({ ...emptied(version), ...inner, ...TYPE })), version);
  return decoded.ok ? { ok: true, config: applyDefaults(decoded.written, version) } : { ok: false, problem: textOf(decoded.errors) };
}

/** Lists and maps with a default, as empty values: where the answer lacks one, it was set to be empty, since an absent one gets its default. */
function emptied({ minor }: KubeletVersion): JsonObject {
  const leaves = schemaFor(minor).leaves.filter((leaf) => leaf.known && leaf.default !== undefined && leaf.path.length === 1);
  const empty = leaves.flatMap(({ field, shape }) =>
    shape.is === 'list' ? [[field.name, []]] : shape.is === 'map' ? [[field.name, {}]] : [],
  );
  return Object.fromEntries(empty) as JsonObject;
}

const textOf = (errors: readonly Finding[]): string =>
  `the answer of /configz is not a configuration of this kubelet version: ${errors.map(({ field, rule }) => `${field} (${rule})`).join(', ')}`;

export interface Difference {
  field: string;
  class: FieldClass;
  /** null when absent. Values of secret fields are masked. */
  from: Json;
  to: Json;
}

/** From this minor on a kubelet declares features on its Node, by its gates: pods that need a feature that is gone after a restart fail. */
const FEATURES_DECLARED_SINCE = 36;

/** Whether the change of a field may disrupt pods, so that the node is drained first. The class of a field decides only what a ConfigMap may change. */
export function needsDrain({ field, class: kind }: Pick<Difference, 'field' | 'class'>, { minor }: KubeletVersion): boolean {
  return kind === 'needs-drain' || (minor >= FEATURES_DECLARED_SINCE && field.startsWith('featureGates'));
}

/**
 * Where two configurations differ, by the leaves of the field table; feature gates one by one, other maps and lists as a whole, as a policy names them.
 * With `byKey` every map is compared key by key, for output to people. A field that the table does not have counts as dangerous. Null and absent are the
 * same. Pass both defaulted to compare effects, or both as written to compare texts.
 */
export function compareConfigs(a: JsonObject, b: JsonObject, { byKey = false } = {}): Difference[] {
  const found: Difference[] = [];
  const { leaves, root } = schemaFor(NEWEST_MINOR);
  for (const { field, path } of leaves) {
    const [from, to] = [valueAt(a, path) ?? null, valueAt(b, path) ?? null];
    if (sameJson(from, to)) continue;
    const keys = byKey || field.name === 'featureGates' ? differentKeys(from, to) : [];
    const shown = (value: Json): Json => (field.secret === true ? masked(value) : value);
    if (keys.length > 0)
      for (const { key, ...sides } of keys)
        found.push({ field: `${field.name}.${key}`, class: field.class, from: shown(sides.from), to: shown(sides.to) });
    else if (field.name === 'featureGates' && isMap(from) && isMap(to)) continue;
    else if (field.secret === true) found.push({ field: field.name, class: field.class, from: masked(from), to: masked(to) });
    else found.push({ field: field.name, class: field.class, from, to });
  }
  unknowns(a, b, root, '', found);
  return found;
}

const isMap = (value: Json): value is JsonObject | null => value === null || isObject(value);

/** The keys whose values differ, where both are maps or absent; none where they are not. */
function differentKeys(from: Json, to: Json): { key: string; from: Json; to: Json }[] {
  if (!isMap(from) || !isMap(to)) return [];
  return [...new Set([...Object.keys(from ?? {}), ...Object.keys(to ?? {})])]
    .map((key) => ({ key, from: own(from ?? {}, key) ?? null, to: own(to ?? {}, key) ?? null }))
    .filter((one) => !sameJson(one.from, one.to));
}

function unknowns(a: JsonObject, b: JsonObject, places: ReadonlyMap<string, Place>, path: string, found: Difference[]): void {
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const place = places.get(key);
    const [from, to] = [own(a, key) ?? null, own(b, key) ?? null];
    if (place?.kind === 'struct') {
      const [inA, inB] = [isObject(from) ? from : {}, isObject(to) ? to : {}];
      unknowns(inA, inB, place.members, join(path, key), found);
    } else if (place === undefined && !(path === '' && (key === 'apiVersion' || key === 'kind')) && !sameJson(from, to)) {
      found.push({ field: join(path, key), class: 'dangerous', from, to });
    }
  }
}

/** Keys stay, values become `***`. */
function masked(value: Json): Json {
  if (isObject(value)) return Object.fromEntries(Object.keys(value).map((key) => [key, '***']));
  return value === null ? null : '***';
}

/** A value for output: masked for a secret field. */
function shownValue(value: Json, secret: boolean): Json {
  return secret ? masked(value) : value;
}
