import {
  applyDefaults,
  closestKubeletVersion,
  compareConfigs,
  decode,
  needsDrain,
  preflightFatal,
  validate,
} from '../../agent/config/config.ts';
import type { JsonObject, KubeletVersion } from '../../agent/config/contract.ts';
import type { Keyed, KubeletConfigs } from './contract.ts';
import type { ConfigMap } from './revision.ts';

/** Max cached results: those of a few revisions for each kubelet version of a fleet. */
const MAX_ANSWERS = 256;
/** Max sentences about one configuration. */
const MAX_REASONS = 3;

/**
 * Predicts how the agents of a fleet would validate a configuration, as far as that is possible off the node: by the rules of each kubelet version. Only the agent
 * can check flags, drop-ins, the local configuration and the host. Every result is computed once.
 */
export function kubeletConfigs(): KubeletConfigs {
  const answers = new Map<string, readonly string[]>();
  const remember = (key: string, compute: () => readonly string[]): readonly string[] => {
    const known = answers.get(key);
    if (known !== undefined) return known;
    if (answers.size >= MAX_ANSWERS) answers.clear();
    const answer = compute();
    answers.set(key, answer);
    return answer;
  };
  return {
    rejects: (revision, key, version) => remember(`rejects ${idOf(revision)} ${key} ${version}`, () => rejects(revision, key, version)),
    needsDrain: (from, to, version) =>
      remember(`drain ${idOf(from?.map)} ${from?.key} ${idOf(to?.map)} ${to?.key} ${version}`, () => drainedFor(from, to, version)),
  };
}

const idOf = (object: Readonly<ConfigMap> | undefined): string => `${object?.metadata.uid ?? ''}/${object?.metadata.resourceVersion ?? ''}`;

function rejects(revision: Readonly<ConfigMap>, key: string, text: string): readonly string[] {
  const version = versionOf(text);
  if (version === undefined) return [];
  const decoded = decode(bytesOf(revision, key), version);
  if (!decoded.ok) return decoded.errors.slice(0, MAX_REASONS).map(sentence);
  const defaulted = applyDefaults(decoded.written, version);
  const kubelet = { version, args: [] };
  const errors = [...validate(defaulted, { version }), ...preflightFatal(defaulted, {}, kubelet).errors];
  return errors.slice(0, MAX_REASONS).map(sentence);
}

const sentence = ({ field, message }: { field: string; message: string }): string =>
  field === '' || message.includes(field) ? message : `${field}: ${message}`;

function drainedFor(from: Keyed | undefined, to: Keyed | undefined, text: string): readonly string[] {
  const version = versionOf(text);
  if (version === undefined) return [];
  const [before, after] = [defaultedOf(from, version), defaultedOf(to, version)];
  return compareConfigs(before, after)
    .filter((difference) => needsDrain(difference, version))
    .map(({ field }) => field);
}

/** An absent or invalid configuration counts as one that sets nothing. */
function defaultedOf(of: Keyed | undefined, version: KubeletVersion): JsonObject {
  const decoded = of === undefined ? undefined : decode(bytesOf(of.map, of.key), version);
  return applyDefaults(decoded?.ok ? decoded.written : {}, version);
}

/** undefined: a version that has no rules here, such as one before 1.20; the agent of the node decides then. */
function versionOf(text: string): KubeletVersion | undefined {
  try {
    return closestKubeletVersion(text).version;
  } catch {
    return undefined;
  }
}

const bytesOf = (object: Readonly<ConfigMap>, key: string): Uint8Array => new TextEncoder().encode(object.data?.[key] ?? '');
