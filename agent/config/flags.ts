import type { Finding, Json, JsonObject, KubeletFacts, KubeletVersion } from './contract.ts';
import { isList, isObject, own, type Placed, setKey, withValues, scalarText } from './decode/document.ts';
import type { Field } from './fields/field.ts';
import { schemaFor } from './fields/fields.ts';
import { goDuration } from '../../base/go-duration.ts';
import { quantity } from '../../kube/api/quantity.ts';
import { tidy } from './yaml/scalar.ts';

/** A field that a flag of the kubelet's command line overrides: its value in a configuration has no effect. */
export interface Shadowed {
  field: string;
  /** With dashes: `--max-pods`. */
  flag: string;
}

export interface Flagged {
  merged: JsonObject;
  shadowed: Shadowed[];
  /** Flags whose value the kubelet would reject. They are left out of `merged`. */
  problems: Finding[];
}

/**
 * Applies a kubelet's command line to a configuration, as the kubelet does: a flag overrides the field; feature gates merge gate by gate.
 * @param args - arguments without the program's name; `--flag=value`, `--flag value`, and for switches `--flag`
 */
export function applyFlags(written: JsonObject, args: readonly string[], version: KubeletVersion): Flagged {
  const fields = new Map<string, { field: Field; path: readonly string[] }>();
  for (const { field, path, known } of schemaFor(version.minor).leaves)
    if (field.flag !== undefined && known) fields.set(field.flag, { field, path });
  const problems: Finding[] = [];
  const values = new Map<string, { flag: string; path: readonly string[]; value: Json }>();
  for (const { name, value } of parseArgs(args, (name) => fields.get(name)?.field.type === 'bool')) {
    const target = fields.get(name);
    if (target === undefined) continue;
    const { field, path } = target;
    const read = flagValue(field, value, values.get(field.name)?.value);
    if (read === undefined)
      problems.push({ field: field.name, rule: 'flag', message: `the kubelet's flag --${name} has a value that is not a ${field.type}` });
    else values.set(field.name, { flag: `--${name}`, path, value: read });
  }
  const placed: Placed[] = [];
  const shadowed: Shadowed[] = [];
  for (const [field, { flag, path, value }] of values) {
    if (field === 'featureGates' && isObject(value)) {
      placed.push({ path, value: together(own(written, 'featureGates'), value) });
      shadowed.push(...Object.keys(value).map((gate) => ({ field: `featureGates.${gate}`, flag })));
    } else {
      placed.push({ path, value });
      shadowed.push({ field, flag });
    }
  }
  return { merged: placed.length === 0 ? written : withValues(written, placed), shadowed, problems };
}

/** The feature gates that a command line sets. */
export function gatesOnCommandLine(args: readonly string[], version: KubeletVersion): ReadonlyMap<string, boolean> {
  const gates = own(applyFlags({}, args, version).merged, 'featureGates');
  return new Map(isObject(gates) ? Object.entries(gates).map(([name, on]) => [name, on === true]) : []);
}

function together(config: Json | undefined, flags: JsonObject): JsonObject {
  const made: Record<string, Json> = {};
  for (const [name, on] of isObject(config) ? Object.entries(config) : []) setKey(made, name, on);
  for (const [name, on] of Object.entries(flags)) setKey(made, name, on);
  return made;
}

/** Flags in their order. Underscores count as dashes, as for the kubelet; other arguments are skipped. */
function* parseArgs(args: readonly string[], isSwitch: (name: string) => boolean): Generator<{ name: string; value: string }> {
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? '';
    if (arg === '--') return;
    const long = /^--([^=]+)(?:=([\s\S]*))?$/.exec(arg) ?? /^-(v)(?:=?([\s\S]+))?$/.exec(arg);
    if (long === null) continue;
    const name = (long[1] ?? '').replaceAll('_', '-');
    const [, , value] = long;
    if (value !== undefined) yield { name, value };
    else if (isSwitch(name)) yield { name, value: 'true' };
    else {
      const next = args[at + 1];
      // The next argument is its value, unless that is a flag: then this is a switch we do not know.
      if (next === undefined || /^-[-a-z]/.test(next)) continue;
      at++;
      yield { name, value: next };
    }
  }
}

export type KubeletHelp = Required<Pick<KubeletFacts, 'knownFlags' | 'knownGates'>>;

/**
 * The flags (`--max-pods`, without the dashes) and the feature gates, with stage and default, that a kubelet's `--help` lists.
 * Empty where the text is not the help of a kubelet.
 */
export function parseKubeletHelp(text: string): KubeletHelp {
  const flags = [...text.matchAll(/^\s*(?:-\w, )?--([a-z][-a-z0-9]*)/gm)].flatMap(([, name]) => (name === undefined ? [] : [name]));
  // 1.26 and later write `kube:NAME=true|false (BETA - default=true)`.
  const gateLine = /^\s*(?:kube:)?(\w+)=true\|false \((\w+) - default=(true|false)\)/gm;
  const gates = [...text.matchAll(gateLine)].map(
    ([, name = '', stage = '', on]) => [name, { stage: stage.toLowerCase(), default: on === 'true' }] as const,
  );
  return { knownFlags: new Set(flags), knownGates: new Map(gates) };
}

const TRUE = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);
const FALSE = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False']);

/**
 * The value of a field from the text of its flag, in the syntax of the kubelet's flags.
 * @param before - the value from earlier occurrences of the flag: lists and maps add up
 * @returns undefined for a text that the kubelet rejects
 */
export function flagValue(field: Field, text: string, before: Json | undefined): Json | undefined {
  const { type } = field;
  if (type === 'bool') return TRUE.has(text) ? true : FALSE.has(text) ? false : undefined;
  if (type.startsWith('int')) return integer(text, type === 'int32' ? 31n : 63n);
  if (type === 'uint32') return integer(text, 31n);
  if (type.startsWith('duration')) return goDuration(text) === undefined ? undefined : text;
  switch (field.name) {
    case 'featureGates':
      return gates(text, before);
    case 'evictionHard':
    case 'evictionSoft':
      return pairs(text, '<', before);
    case 'staticPodURLHeader':
      return headers(text, before);
    case 'reservedMemory':
      return reservedMemory(text, before);
    case 'registerWithTaints':
      return taints(text, before);
    case 'logging.vmodule':
      return vmodule(text);
    default:
  }
  if (type.startsWith('map<')) return pairs(text, '=', before);
  if (type.startsWith('list<')) return [...(isList(before ?? null) ? (before as readonly Json[]) : []), ...split(text)];
  return text;
}

function split(text: string): string[] {
  return text === '' ? [] : text.split(',').map((item) => item.replace(/^"(.*)"$/, '$1'));
}

/** Go's ParseInt with base 0: 0x, 0o, 0b and a leading 0 count. */
function integer(text: string, bits: bigint): Json | undefined {
  if (!/^[+-]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)$/.test(text) || text.length > 70) return undefined;
  const digits = text.replace(/^[+-]/, '').replace(/^0([0-7])/, '0o$1');
  const value = text.startsWith('-') ? -BigInt(digits) : BigInt(digits);
  return value >= -(1n << bits) && value < 1n << bits ? tidy(value) : undefined;
}

function added(before: Json | undefined): Record<string, Json> {
  const made: Record<string, Json> = {};
  for (const [key, value] of isObject(before) ? Object.entries(before) : []) setKey(made, key, value);
  return made;
}

function pairs(text: string, separator: string, before: Json | undefined): JsonObject | undefined {
  const made = added(before);
  for (const part of text.split(',')) {
    if (part === '') continue;
    const at = part.indexOf(separator);
    if (at < 0) return undefined;
    setKey(made, part.slice(0, at).trim(), part.slice(at + 1).trim());
  }
  return made;
}

function gates(text: string, before: Json | undefined): JsonObject | undefined {
  const given = pairs(text, '=', undefined);
  if (given === undefined) return undefined;
  const made = added(before);
  for (const [name, word] of Object.entries(given)) {
    const on = TRUE.has(scalarText(word)) ? true : FALSE.has(scalarText(word)) ? false : undefined;
    if (on === undefined) return undefined;
    setKey(made, name, on);
  }
  return made;
}

function headers(text: string, before: Json | undefined): JsonObject | undefined {
  const made = added(before);
  for (const part of text.split(',')) {
    if (part === '') continue;
    const at = part.indexOf(':');
    if (at < 0) return undefined;
    const name = part.slice(0, at).trim();
    const old = own(made, name);
    setKey(made, name, [...(isList(old) ? old : []), part.slice(at + 1).trim()]);
  }
  return made;
}

/** `0:memory=1Gi,hugepages-1M=2Gi;1:memory=2Gi` */
function reservedMemory(text: string, before: Json | undefined): Json | undefined {
  const made: Json[] = isList(before) ? [...before] : [];
  for (const part of text.split(';')) {
    const [, node, limits = ''] = /^(\d+):(.+)$/.exec(part) ?? [];
    const kinds = node === undefined ? undefined : pairs(limits, '=', undefined);
    if (kinds === undefined || Object.values(kinds).some((amount) => quantity(scalarText(amount)) === undefined)) return undefined;
    made.push({ numaNode: Number(node), limits: kinds });
  }
  return made;
}

/** `key=value:effect,key:effect` */
function taints(text: string, before: Json | undefined): Json | undefined {
  const made: Json[] = isList(before) ? [...before] : [];
  for (const part of split(text)) {
    const [, key, value, effect] = /^([^=:]+)(?:=([^:]*))?:([^:]+)$/.exec(part) ?? [];
    if (key === undefined || effect === undefined) return undefined;
    made.push(value === undefined ? { key, effect } : { key, value, effect });
  }
  return made;
}

/** `pattern=3,other=4` */
function vmodule(text: string): Json | undefined {
  const made: Json[] = [];
  for (const part of split(text)) {
    const [, filePattern, level] = /^([^=]+)=(\d{1,9})$/.exec(part) ?? [];
    if (filePattern === undefined) return undefined;
    made.push({ filePattern, verbosity: Number(level) });
  }
  return made;
}

/** Removed flags, by the first minor without them: a kubelet does not start with an unknown flag. From the release notes; not all since 1.20. */
const REMOVED: Readonly<Record<number, string>> = {
  27: 'container-runtime',
  34: 'cloud-config register-schedulable',
  35: 'pod-infra-container-image',
  37:
    'application-metrics-count-limit boot-id-file container-hints containerd containerd-namespace enable-load-reader event-storage-age-limit event-storage-event-limit ' +
    'global-housekeeping-interval log-cadvisor-usage machine-id-file storage-driver-user storage-driver-password storage-driver-host storage-driver-db storage-driver-table ' +
    'storage-driver-secure storage-driver-buffer-duration',
};

const removedIn: ReadonlyMap<string, number> = new Map(
  Object.entries(REMOVED).flatMap(([since, flags]) => flags.split(' ').map((flag) => [flag, Number(since)] as const)),
);

/** Flags on a kubelet's command line that its version no longer has. A flag in its --help is valid even if the table says otherwise. */
export function removedFlags({ args, version, knownFlags }: KubeletFacts): Finding[] {
  const given = new Set(args.flatMap((arg) => /^--([a-z][-_a-z0-9]*)/.exec(arg)?.[1]?.replaceAll('_', '-') ?? []));
  return [...given].flatMap((flag) => {
    const since = removedIn.get(flag);
    if (since === undefined || version.minor < since || knownFlags?.has(flag) === true) return [];
    const message = `the kubelet of this node is started with --${flag}, which kubelets from 1.${since} on do not have: 1.${version.minor} would not start`;
    return [{ field: '', rule: 'removed-flag', message }];
  });
}
