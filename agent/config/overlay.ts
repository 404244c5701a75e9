import { posix } from 'node:path';
import type { Finding, Json, JsonObject, KubeletFacts, KubeletVersion } from './contract.ts';
import { isList, isObject, own, sameJson, setKey, withValues } from './decode/document.ts';
import { applyDefaults, valueAt } from './defaults.ts';
import { schemaFor } from './fields/fields.ts';
import { decode } from './decode/decode.ts';
import { gatesOnCommandLine } from './flags.ts';

/**
 * `dynamic` as a JSON merge patch (RFC 7386) over `local`: objects merge key by key, lists replace, null removes (the field then takes
 * its default). Keys of `local` come first, in its order.
 */
export function mergeOverlay(local: JsonObject, dynamic: JsonObject): JsonObject {
  return patched(local, dynamic) as JsonObject;
}

function patched(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const base = isObject(target) ? target : {};
  const made: Record<string, Json> = {};
  for (const [key, value] of Object.entries(base)) if (own(patch, key) !== null) setKey(made, key, value);
  for (const [key, value] of Object.entries(patch)) if (value !== null) setKey(made, key, patched(own(base, key), value));
  return made;
}

/**
 * `written` with the relative paths that a kubelet of `version` resolves made absolute, against `dir`; absolute and empty ones stay.
 * @param dir - absolute directory of the file that `written` was read from
 */
export function resolvePaths(written: JsonObject, dir: string, version: KubeletVersion): JsonObject {
  const absolute = schemaFor(version.minor).leaves.flatMap(({ field, known, path }) => {
    if (field.path !== true || !known) return [];
    const value = valueAt(written, path);
    return typeof value === 'string' && value !== '' && !posix.isAbsolute(value) ? [{ path, value: posix.join(dir, value) }] : [];
  });
  return absolute.length === 0 ? written : withValues(written, absolute);
}

/** First minor that has --config-dir; 1.28 and 1.29 honor it only with KUBELET_CONFIG_DROPIN_DIR_ALPHA in their environment. */
const CONFIG_DIR_SINCE = 28;
/** Most drop-ins that are read, of a directory and all directories below it. */
export const MAX_DROP_INS = 100;

/** A drop-in as a kubelet reads it: part of a configuration, with apiVersion and kind. */
interface DropIn {
  path: string;
  written: JsonObject;
}

/** The drop-ins that a kubelet merges into its configuration file, in this order, and the problems of those that it cannot read. */
export interface DropIns {
  dir: string;
  files: readonly DropIn[];
  /** One for each drop-in that cannot be read: such a kubelet does not start. */
  problems: readonly Finding[];
}

/** The directory of drop-ins that a kubelet is started with; undefined for none, and for a version without drop-ins. */
export function configDirOf(args: readonly string[], { minor }: KubeletVersion): string | undefined {
  if (minor < CONFIG_DIR_SINCE) return undefined;
  const at = args.findLastIndex((arg) => /^--config[-_]dir(?:=|$)/.test(arg));
  if (at < 0) return undefined;
  const [, value = args[at + 1]] = /=(.*)$/s.exec(args[at] ?? '') ?? [];
  return value === undefined || value === '' ? undefined : value;
}

/** @param read - the files that end in .conf, in the order in which the kubelet merges them; a text is missing where it cannot be read */
export function parseDropIns(
  dir: string,
  read: readonly { path: string; bytes?: Uint8Array; problem?: string }[],
  version: KubeletVersion,
): DropIns {
  const files: DropIn[] = [];
  const problems: Finding[] = [];
  const broken = (path: string, why: string): void => {
    problems.push({ field: '', rule: 'drop-in', message: `drop-in ${path} keeps the kubelet from starting: ${why}; fix or remove it` });
  };
  for (const { path, bytes, problem = 'it cannot be read' } of read) {
    const decoded = bytes === undefined ? undefined : decode(bytes, version);
    if (decoded === undefined) broken(path, problem);
    else if (decoded.ok) {
      const twice = decoded.warnings.find(({ rule }) => rule === 'duplicate-key');
      const untyped = ['apiVersion', 'kind'].find((key) => own(decoded.written, key) === undefined);
      if (twice !== undefined) broken(path, `${twice.field} is set more than once`);
      else if (untyped !== undefined) broken(path, `it has no key that is spelled exactly ${untyped}`);
      else files.push({ path, written: decoded.written });
    } else
      broken(
        path,
        decoded.errors
          .map(({ field, message }) => (field === '' || message.startsWith(field) ? message : `${field} ${message}`))
          .join('; '),
      );
  }
  return { dir, files, problems };
}

/**
 * A configuration with the drop-ins merged as the kubelet merges them: each is a JSON merge patch (RFC 7386) over all before it. The kubelet applies
 * the defaults of its file first: a default that depends on another field follows the file, not a drop-in. It then serializes the file without empty
 * lists and maps, so that an empty one in the file counts as absent and takes its default.
 * @param config - the kubelet's own file, as written
 */
export function withDropIns(config: JsonObject, dropIns: DropIns | undefined, kubelet: Pick<KubeletFacts, 'args' | 'version'>): JsonObject {
  if (dropIns === undefined || dropIns.files.length === 0) return config;
  const merged = dropIns.files.reduce((under, { written }) => mergeOverlay(under, written), filledIn(config, kubelet));
  // The default applies to the file alone: it does not apply again after a drop-in has removed the field.
  return (own(merged, 'evictionHard') ?? null) === null ? { ...merged, evictionHard: {} } : merged;
}

function filledIn(config: JsonObject, { args, version }: Pick<KubeletFacts, 'args' | 'version'>): JsonObject {
  const gates = Object.fromEntries(gatesOnCommandLine(args, version));
  const filled = Object.entries(applyDefaults(mergeOverlay(config, { featureGates: gates }), version)).filter(
    ([key]) => key !== 'featureGates',
  );
  return mergeOverlay(config, Object.fromEntries(filled.map(([key, value]) => [key, isEmpty(value) ? null : value])));
}

const isEmpty = (value: Json): boolean => (isList(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0);

/** The last drop-in that sets a field, undefined for none. */
export function dropInOf(dropIns: DropIns | undefined, path: readonly string[]): string | undefined {
  return dropIns?.files.findLast(({ written }) => (valueAt(written, path) ?? null) !== null)?.path;
}

/** Warnings for fields that `config` sets without effect, or in part, since a later drop-in sets them. */
export function dropInWarnings(
  config: JsonObject,
  dropIns: DropIns | undefined,
  kubelet: Pick<KubeletFacts, 'args' | 'version'>,
): Finding[] {
  if (dropIns === undefined || dropIns.files.length === 0) return [];
  const { version } = kubelet;
  const [alone, merged] = [applyDefaults(config, version), applyDefaults(withDropIns(config, dropIns, kubelet), version)];
  return schemaFor(version.minor).leaves.flatMap(({ field, path }) => {
    if ((valueAt(config, path) ?? null) === null || sameJson(valueAt(alone, path) ?? null, valueAt(merged, path) ?? null)) return [];
    const file = dropInOf(dropIns, path) ?? dropIns.dir;
    return [
      {
        field: field.name,
        rule: 'drop-in',
        message: `${field.name} is changed by drop-in ${file}, which the kubelet reads after the configuration file`,
      },
    ];
  });
}
