import { ActionError } from '../../../base/errors.ts';
import { atOnce, type InTurns } from '../../../base/waiting.ts';
import { compareConfigs, type Difference } from './explain.ts';
import {
  type FieldClass,
  type Finding,
  firstFindings,
  type Json,
  type JsonObject,
  type KubeletVersion,
  MAX_NAME,
  shownName,
} from '../contract.ts';
import { applyDefaults, valueAt } from '../defaults.ts';
import { DocumentError, isList, isObject } from '../decode/document.ts';
import { fieldAt } from '../fields/fields.ts';
import { readYaml } from '../yaml/read-yaml.ts';
import { fieldsNotInTable } from '../decode/decode.ts';
import { NEWEST_MINOR } from '../version.ts';

const CLASSES: readonly FieldClass[] = ['safe', 'needs-drain', 'dangerous', 'node-specific'];

/** Which fields a ConfigMap may change on a node, compared with its local configuration. */
export interface Policy {
  /** Classes of fields that may differ. */
  allow: ReadonlySet<FieldClass>;
  /** The ConfigMap's annotation dkc.dev/allow is honored. */
  overrides: boolean;
  /** By field, gate (`featureGates.X`) or parent of fields; overrides the class. A deny overrides the annotation too. */
  fields: ReadonlyMap<string, 'allow' | 'deny'>;
  /** What the agent does when another program changed or removed the effective file: report it only, or write its own again. @default 'report' */
  drift?: 'report' | 'correct';
  /** Public keys as written, one per line; if there are any, only a config that one of them signed is accepted. Parsed by agent/config/signature. */
  signatureKeys: readonly string[];
}

export const defaultPolicy: Policy = { allow: new Set(['safe', 'needs-drain']), overrides: true, fields: new Map(), signatureKeys: [] };

/** Most signature keys; rotating keys needs only a few. */
const MAX_SIGNATURE_KEYS = 64;

/**
 * Reads a FieldPolicy (`/etc/dkc/policy.yaml`).
 * @throws {ActionError} that names the key and its allowed values
 */
export function parsePolicy(text: string): Policy {
  const bad = (hint: string, cause?: unknown): ActionError => new ActionError('read', 'the field policy', { hint, cause });
  let value: Json;
  try {
    value = readYaml(text).value;
  } catch (error) {
    if (error instanceof DocumentError) throw bad(error.message, error);
    throw error;
  }
  if (!isObject(value)) throw bad('it must be a mapping with apiVersion and kind');
  const { apiVersion, kind, allow, overrides, fields, drift, signatureKeys, ...others } = value;
  if (apiVersion !== 'dkc.dev/v1alpha1') throw bad('apiVersion must be dkc.dev/v1alpha1');
  if (kind !== 'FieldPolicy') throw bad('kind must be FieldPolicy');
  const [other] = Object.keys(others);
  if (other !== undefined) throw bad(`unknown key ${other}; known: allow, overrides, fields, drift and signatureKeys`);
  if (overrides !== undefined && overrides !== null && typeof overrides !== 'boolean') throw bad('overrides must be true or false');
  if (drift !== undefined && drift !== null && drift !== 'report' && drift !== 'correct') throw bad('drift must be report or correct');
  return {
    allow: classes(allow, bad),
    overrides: overrides ?? true,
    fields: verdicts(fields, bad),
    ...(drift ? { drift } : {}),
    signatureKeys: keys(signatureKeys, bad),
  };
}

type Bad = (hint: string) => ActionError;

/** An empty list is an error: its author wants signatures, but none would be checked. */
function keys(value: Json | undefined, bad: Bad): Policy['signatureKeys'] {
  if (value === undefined || value === null) return [];
  const isText = (item: Json): item is string => typeof item === 'string';
  if (!isList(value) || !value.every((item) => isText(item)))
    throw bad('signatureKeys must be a list of public keys, each as in a .pub file: ssh-ed25519 AAAA... comment');
  if (value.length === 0 || value.length > MAX_SIGNATURE_KEYS)
    throw bad(`signatureKeys must have 1 to ${MAX_SIGNATURE_KEYS} public keys; remove signatureKeys to require no signature`);
  return value;
}

function classes(value: Json | undefined, bad: Bad): Policy['allow'] {
  if (value === undefined || value === null) return defaultPolicy.allow;
  const known = (item: Json): item is FieldClass => CLASSES.some((name) => name === item);
  if (!isList(value) || !value.every((item) => known(item))) throw bad(`allow must be a list of ${CLASSES.join(', ')}`);
  return new Set(value);
}

function verdicts(value: Json | undefined, bad: Bad): Policy['fields'] {
  const made = new Map<string, 'allow' | 'deny'>();
  if (value === undefined || value === null) return made;
  if (!isObject(value)) throw bad('fields must be a mapping from a field to allow or deny');
  for (const [name, verdict] of Object.entries(value)) {
    if (verdict !== 'allow' && verdict !== 'deny') throw bad(`fields.${name} must be allow or deny`);
    made.set(name, verdict);
  }
  return made;
}

export interface PolicyQuestion {
  /** The node's own configuration, as written. */
  local: JsonObject;
  /** The configuration that would become effective: the ConfigMap's, or its overlay over the local one; as written. */
  dynamic: JsonObject;
  version: KubeletVersion;
  policy: Policy | 'none';
  /** How the ConfigMap becomes effective; it decides which hints apply. @default 'replace' */
  merge?: 'replace' | 'overlay';
  /** Value of the ConfigMap's annotation dkc.dev/allow. */
  allowAnnotation?: string | undefined;
}

/**
 * Checks the changes of a ConfigMap for a node. Both sides are compared with defaults, as the kubelet will use them. Fields that the field table does
 * not have, for a kubelet that may be newer, are compared as written.
 * @returns one finding per refused field, with the origin of both values and a hint, never the values
 */
export function checkPolicy(question: PolicyQuestion): Finding[] {
  return atOnce(checkingPolicy(question));
}

/** {@link checkPolicy} in steps. */
export function* checkingPolicy(question: PolicyQuestion): InTurns<Finding[]> {
  const { local, dynamic, version, policy, merge = 'replace', allowAnnotation } = question;
  if (policy === 'none') return [];
  const known = compareConfigs(applyDefaults(local, version), applyDefaults(dynamic, version));
  yield;
  const annotated = new Set(policy.overrides ? namesIn(allowAnnotation) : []);
  const seen = new Set<string>();
  const refused = [...known, ...compareUnknown(local, dynamic, version)].filter(({ field, class: kind }) => {
    if (seen.has(field) || allowed(field, kind, policy, annotated)) return false;
    seen.add(field);
    return true;
  });
  return firstFindings(refused, ({ field, class: kind }): Finding => {
    const here = origin(dynamic, field, version, 'the ConfigMap');
    const there = origin(local, field, version, 'the local config');
    // In an overlay only the ConfigMap can cause a difference: a field that is not set was removed by a null in the ConfigMap.
    const own = merge === 'overlay' || isSet(dynamic, field);
    const name = shownName(field);
    return {
      field: name,
      rule: 'policy',
      message: `${name} (${kind}) differs from the local config: ${here}, ${there}; ${hintFor(field, own, policy)}`,
    };
  });
}

function allowed(field: string, kind: FieldClass, policy: Policy, annotated: ReadonlySet<string>): boolean {
  if (field.length > MAX_NAME) return false;
  const explicit = nearest(field, policy.fields);
  if (explicit !== undefined) return explicit === 'allow';
  if (policy.allow.has(kind)) return true;
  return annotated.size > 0 && ancestors(field).some((name) => annotated.has(name));
}

function nearest(field: string, verdicts: Policy['fields']): 'allow' | 'deny' | undefined {
  if (verdicts.size === 0) return undefined;
  const name = ancestors(field).find((name) => verdicts.has(name));
  return name === undefined ? undefined : verdicts.get(name);
}

/** `a.b.c`, `a.b`, `a`. None for a name that is too long for a policy: it may have very many dots. */
function ancestors(field: string): string[] {
  if (field.length > MAX_NAME) return [];
  const steps = field.split('.');
  return steps.map((_, index) => steps.slice(0, steps.length - index).join('.'));
}

function namesIn(annotation: string | undefined): string[] {
  return (annotation ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

function isSet(config: JsonObject, field: string): boolean {
  const path = field.startsWith('featureGates.') ? ['featureGates', field.slice('featureGates.'.length)] : field.split('.');
  return (valueAt(config, path) ?? null) !== null;
}

function origin(config: JsonObject, field: string, version: KubeletVersion, of: string): string {
  if (isSet(config, field)) return `set in ${of}`;
  const entry = fieldAt(field);
  if (entry === undefined || entry.since > version.minor) return `not set in ${of}`;
  return `left at ${entry.name === 'featureGates' ? "the kubelet's default" : `the default of 1.${version.minor}`} in ${of}`;
}

/** @param own - the ConfigMap itself causes the difference; else it only lacks a field that the local config sets */
function hintFor(field: string, own: boolean, policy: Policy): string {
  const deny = nearest(field, policy.fields) === 'deny';
  const ways = own ? ['remove it from the ConfigMap'] : ['merge with --merge=overlay', 'start from the output of dkc render'];
  if (!deny && policy.overrides) return listed([...ways, `allow it with the annotation dkc.dev/allow: "${shownName(field)}"`]);
  return `${listed(ways)}; only the field policy of this node could allow it, ${deny ? 'and it denies the field by name' : 'and it ignores annotations'}`;
}

/** `a`, `a, or b`, `a, b, or c`. */
function listed(ways: readonly string[]): string {
  return [...ways.slice(0, -1).map((way) => `${way}, `), ways.length > 1 ? 'or ' : '', ways.at(-1) ?? ''].join('');
}

/**
 * Differences in fields that the table does not have, which `applyDefaults` drops. Only a kubelet that is newer than the table may have such fields;
 * kubelets of covered versions ignore them, so nothing is found for those.
 * Members that the table does not have count as dangerous; for members inside of a field that it has, that field counts as dangerous.
 * @param a, b - as written
 */
function compareUnknown(a: JsonObject, b: JsonObject, version: KubeletVersion): Difference[] {
  if (version.minor < NEWEST_MINOR) return [];
  const partly = new Set([a, b].flatMap((config) => fieldsNotInTable(config, version)).map((path) => fieldAt(path.replace(/\[.*/s, ''))));
  return compareConfigs(a, b).flatMap((difference) => {
    const known = fieldAt(difference.field);
    if (partly.has(known)) return [{ ...difference, class: 'dangerous' }];
    return known === undefined || known.since > version.minor ? [difference] : [];
  });
}
