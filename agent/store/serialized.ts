import { parseAllDocuments, visit } from 'yaml';
import type { MaybeSource, Source } from '../checkpoint/source.ts';
import { readsAsAnotherType, yamlString } from './yaml-string.ts';

export const apiVersion = 'kubelet.config.k8s.io/v1beta1';
export const kind = 'SerializedNodeConfigSource';

/** A meta file as upstream writes it, byte for byte; 0 bytes for the local config (spec 3). */
export function serializeSource(source: MaybeSource): string {
  if (source === null) return '';
  const fields = fieldNames.map((field) => `    ${field}: ${yamlString(source[field])}\n`).join('');
  return `apiVersion: ${apiVersion}\nkind: ${kind}\nsource:\n  configMap:\n${fields}`;
}

export type ParsedSource = { ok: true; source: MaybeSource } | { ok: false; problem: string };

/**
 * Reads a meta file as upstream does: YAML or JSON, unknown keys are ignored (a newer writer may know more), of several documents
 * the first counts, of duplicate keys the last. 0 bytes are the local config; blanks are not.
 * A field that is absent reads as ''. The problem never quotes the file.
 */
export function parseSource(bytes: Uint8Array): ParsedSource {
  if (bytes.length === 0) return { ok: true, source: null };
  let value: unknown;
  try {
    value = parseYaml(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return no('it is neither YAML nor JSON');
  }
  if (!isObject(value)) return no('it holds no object');
  if (value['apiVersion'] !== apiVersion || value['kind'] !== kind) return no(`it is no ${kind} of ${apiVersion}`);
  const source = value['source'];
  const configMap = isObject(source) ? source['configMap'] : undefined;
  if (!isObject(configMap)) return no('its source.configMap is not set');
  const read: Source = { namespace: '', name: '', uid: '', resourceVersion: '', kubeletConfigKey: '' };
  for (const field of ['namespace', 'name', 'uid', 'resourceVersion', 'kubeletConfigKey'] as const) {
    const text = configMap[field] ?? '';
    if (typeof text !== 'string') return no(`source.configMap.${field} is not a string`);
    read[field] = text;
  }
  return { ok: true, source: read };
}

const isNothing = /^(?:|~|null|Null|NULL)$/;
/** Stands for a number or a boolean: which one is nobody's concern here. */
const notText = Symbol('not text');

/** A line as upstream writes it: a word, or one in quotes that hold nothing to unescape. */
const field = (name: string): string => `    ${name}: (?:([A-Za-z0-9][A-Za-z0-9._-]*)|"([^"\\\\\\n]*)")\\n`;
const fieldNames = ['kubeletConfigKey', 'name', 'namespace', 'resourceVersion', 'uid'] as const;
const ownForm = new RegExp(
  `^apiVersion: ${apiVersion.replaceAll('.', '\\.')}\\nkind: ${kind}\\nsource:\\n  configMap:\\n${fieldNames.map((name) => field(name)).join('')}$`,
);

/** What upstream and we write ourselves, read without a YAML reader: nearly every start of an agent meets nothing else. */
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
      // What is not JSON may still be YAML in flow style.
    }
  }
  // Every scalar as text, and then upstream's own rule for what is none: the library's rule for numbers is wider (`e0` is one).
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

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function no(problem: string): ParsedSource {
  return { ok: false, problem };
}
