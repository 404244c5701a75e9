import { applyDefaults } from './defaults.ts';
import { type Document, DocumentError, isObject, own } from './decode/document.ts';
import { decode } from './decode/decode.ts';
import type { Finding, JsonObject, KubeletVersion } from './contract.ts';
import { schemaFor } from './fields/schema.ts';
import { readJson } from './decode/read-json.ts';
import { renderYaml } from './yaml/render.ts';

export type Configz = { ok: true; config: JsonObject } | { ok: false; problem: string };

const TYPE = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' };

/**
 * What a kubelet's `/configz` answers: the configuration that it runs with, flags and drop-ins included, every field filled in. Up to 1.35
 * it stands below `kubeletconfig` without apiVersion and kind; from 1.36 on with both. Fields that are zero are left out there.
 * @returns the configuration as `applyDefaults` makes it, to be compared with one of ours; what is wrong says no value
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

/** Lists and maps with a default. Not in the answer, they were set to be empty: what was absent is filled in there. */
function emptied({ minor }: KubeletVersion): JsonObject {
  const leaves = schemaFor(minor).leaves.filter((leaf) => leaf.known && leaf.default !== undefined && leaf.path.length === 1);
  const empty = leaves.flatMap(({ field, shape }) =>
    shape.is === 'list' ? [[field.name, []]] : shape.is === 'map' ? [[field.name, {}]] : [],
  );
  return Object.fromEntries(empty) as JsonObject;
}

const textOf = (errors: readonly Finding[]): string =>
  `the answer of /configz is not a configuration of this kubelet version: ${errors.map(({ field, rule }) => `${field} (${rule})`).join(', ')}`;
