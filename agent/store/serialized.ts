import { parseAllDocuments, visit } from 'yaml';
import { isJsonObject } from '../../kube/api/json.ts';
import type { MaybeSource, Source } from '../checkpoint/source.ts';

export const apiVersion = 'kubelet.config.k8s.io/v1beta1';
export const kind = 'SerializedNodeConfigSource';

/** A meta file as upstream writes it, byte for byte; 0 bytes for the local config. */
export function serializeSource(source: MaybeSource): string {
  if (source === null) return '';
  const fields = fieldNames.map((field) => `    ${field}: ${yamlString(source[field])}\n`).join('');
  return `apiVersion: ${apiVersion}\nkind: ${kind}\nsource:\n  configMap:\n${fields}`;
}

export type ParsedSource = { ok: true; source: MaybeSource } | { ok: false; problem: string };

/**
 * Reads a meta file as upstream does: YAML or JSON, unknown keys are ignored (a newer version may have written them), the first of several documents
 * and the last of duplicate keys count. 0 bytes mean the local config; a file of only white space is damaged.
 * An absent field reads as ''. The problem text never quotes the file.
 */
export function parseSource(bytes: Uint8Array): ParsedSource {
  if (bytes.length === 0) return { ok: true, source: null };
  let value: unknown;
  try {
    value = parseYaml(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return no('it is neither YAML nor JSON');
  }
  if (!isJsonObject(value)) return no('it holds no object');
  if (value['apiVersion'] !== apiVersion || value['kind'] !== kind) return no(`it is not a ${kind} of ${apiVersion}`);
  const source = value['source'];
  const configMap = isJsonObject(source) ? source['configMap'] : undefined;
  if (!isJsonObject(configMap)) return no('its source.configMap is not set');
  const read: Source = { namespace: '', name: '', uid: '', resourceVersion: '', kubeletConfigKey: '' };
  for (const field of ['namespace', 'name', 'uid', 'resourceVersion', 'kubeletConfigKey'] as const) {
    const text = configMap[field] ?? '';
    if (typeof text !== 'string') return no(`source.configMap.${field} is not a string`);
    read[field] = text;
  }
  return { ok: true, source: read };
}

const isNothing = /^(?:|~|null|Null|NULL)$/;
/** Stands for any number or boolean: the value does not matter, since only text is valid. */
const notText = Symbol('not text');

/** Pattern of a line as upstream writes it: a plain word, or a quoted word without escapes. */
const field = (name: string): string => `    ${name}: (?:([A-Za-z0-9][A-Za-z0-9._-]*)|"([^"\\\\\\n]*)")\\n`;
const fieldNames = ['kubeletConfigKey', 'name', 'namespace', 'resourceVersion', 'uid'] as const;
const ownForm = new RegExp(
  `^apiVersion: ${apiVersion.replaceAll('.', '\\.')}\\nkind: ${kind}\\nsource:\\n  configMap:\\n${fieldNames.map((name) => field(name)).join('')}$`,
);

/** Parses the form that upstream and the agent write, without loading the YAML parser: at nearly every start the files have this form. */
function parseOwnForm(text: string): unknown {
  const found = ownForm.exec(text);
  if (!found) return undefined;
  const configMap: Record<string, string> = {};
  for (const [at, name] of fieldNames.entries()) {
    const [plain, quoted] = [found[2 * at + 1], found[2 * at + 2]];
    if (plain !== undefined && readsAsAnotherType(plain)) return undefined;
    configMap[name] = plain ?? quoted ?? '';
  }
  return { apiVersion, kind, source: { configMap } };
}

function parseYaml(text: string): unknown {
  const own = parseOwnForm(text);
  if (own !== undefined) return own;
  if (text.trimStart().startsWith('{')) {
    try {
      return JSON.parse(text);
    } catch {
      // It may still be YAML in flow style.
    }
  }
  // Parse every scalar as text and apply upstream's rule for numbers: the library's own rule is wider (it accepts `e0`).
  const [first] = parseAllDocuments(text, { version: '1.1', schema: 'failsafe', uniqueKeys: false, logLevel: 'error' });
  if (first === undefined) return undefined;
  const [error] = first.errors;
  if (error) throw error;
  visit(first, {
    Scalar: (key, node) => {
      if (key === 'key' || node.type !== 'PLAIN' || !readsAsAnotherType(String(node.value))) return;
      node.value = isNothing.test(String(node.value)) ? null : notText;
    },
  });
  return first.toJS();
}

function no(problem: string): ParsedSource {
  return { ok: false, problem };
}

// Which strings the YAML writer of upstream quotes, and how: with " a word that would be read as another type than string (1, 1e3, yes,
// 2026-01-01), with ' a text that would not be read as one plain word. All other strings are plain.

const reserved = new Set(['', '~', ...cased('null'), ...['y', 'yes', 'n', 'no', 'true', 'false', 'on', 'off'].flatMap(cased)]);
const special = /^(?:\.nan|\.NaN|\.NAN|[-+]?\.(?:inf|Inf|INF))$/;
const decimal = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const sexagesimal = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/;
// A day, or a day and a time with zone. Both are only dates when the calendar has that day.
const date =
  /^(?<year>[0-9]{4})-(?<month>[0-9]{1,2})-(?<day>[0-9]{1,2})(?:[Tt](?:[01]?[0-9]|2[0-3]):[0-5]?[0-9]:[0-5]?[0-9](?:[.,][0-9]{1,9})?(?:Z|[-+][0-9]{2}:[0-9]{2}))?$/;

/**
 * `text` as the value of a YAML mapping, as upstream writes it.
 * @param text - visible ASCII without spaces, as in names, keys, uids and resource versions
 */
export function yamlString(text: string): string {
  if (!/^[!-~]*$/.test(text)) throw new RangeError('only visible ASCII is written to a meta file');
  if (readsAsAnotherType(text) || sexagesimal.test(text) || isDate(text)) return `"${text}"`;
  return isPlain(text) ? text : `'${text.replaceAll("'", "''")}'`;
}

/** Whether upstream reads the plain word `text` as a number, a boolean or null. (It quotes dates and times, but reads plain ones as text.) */
function readsAsAnotherType(text: string): boolean {
  return reserved.has(text) || special.test(text) || isNumber(text);
}

/** Integers in the bases of Go's literals and decimal numbers that a double can hold, both with underscores. */
function isNumber(text: string): boolean {
  if (!/^[-+.0-9]/.test(text)) return false;
  const digits = text.replaceAll('_', '');
  const integer = /^[-+]?(?:0[xX](?<hex>[0-9a-fA-F]+)|0[bB](?<binary>[01]+)|0[oO]?(?<octal>[0-7]+)|0|[1-9][0-9]*)$/.exec(digits);
  if (integer && !text.startsWith('.') && fitsInteger(digits)) return true;
  // After a leading dot an underscore is allowed between two digits only; after a digit or sign it is allowed anywhere.
  if (text.startsWith('.') && /(?<![0-9])_|_(?![0-9])/.test(text)) return false;
  return decimal.test(digits) && Number.isFinite(Number(digits));
}

/** Whether the value fits int64 or uint64. Upstream's writer treats a larger hex, octal or binary value as text, a larger decimal as a float. */
function fitsInteger(digits: string): boolean {
  const negative = digits.startsWith('-');
  const bare = digits.replace(/^[-+]/, '').toLowerCase();
  const literal = /^0[0-7]/.test(bare) ? `0o${bare.slice(1)}` : bare;
  const value = BigInt(literal);
  return negative ? value <= 2n ** 63n : value < (digits.startsWith('+') ? 2n ** 63n : 2n ** 64n);
}

function isDate(text: string): boolean {
  const parts = date.exec(text)?.groups;
  if (!parts) return false;
  const [year, month, day] = [Number(parts['year']), Number(parts['month']), Number(parts['day'])];
  const made = new Date(0);
  made.setUTCFullYear(year, month - 1, day);
  return made.getUTCMonth() === month - 1 && made.getUTCDate() === day;
}

function isPlain(text: string): boolean {
  if (/^[#,[\]{}&*!|>'"%@`]/.test(text)) return false;
  if (text.startsWith('---') || text.startsWith('...')) return false;
  return !/^[-?]$/.test(text) && !text.endsWith(':');
}

function cased(word: string): string[] {
  return [word, `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`, word.toUpperCase()];
}
