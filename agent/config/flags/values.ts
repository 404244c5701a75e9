import { goDuration } from '../../../base/go-duration.ts';
import { quantity } from '../../../kube/api/quantity.ts';
import type { Json, JsonObject } from '../contract.ts';
import { isList, isObject, own, setKey, words } from '../decode/document.ts';
import type { Field } from '../fields/field.ts';
import { tidy } from '../yaml/scalar.ts';

const TRUE = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);
const FALSE = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False']);

/**
 * What a flag's text means for its field, in the syntax of the kubelet's flags.
 * @param before - what the same flag said earlier on the command line: lists and maps add up
 * @returns undefined for a text that the kubelet refuses
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
    const on = TRUE.has(words(word)) ? true : FALSE.has(words(word)) ? false : undefined;
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
    if (kinds === undefined || Object.values(kinds).some((amount) => quantity(words(amount)) === undefined)) return undefined;
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
