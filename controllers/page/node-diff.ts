import { applyDefaults, closestKubeletVersion, compareConfigs, decode, newestKubeletVersion } from '../../agent/config/config.ts';
import type { KubeletVersion } from '../../agent/config/contract.ts';
import type { ConfigMap } from '../rollout/revision.ts';
import type { PageChange } from './contract.ts';

/** Differences that are remembered: of a few pairs of revisions for each kubelet version of a fleet. */
const MAX_ANSWERS = 64;
const MAX_FIELDS = 100;

/** A configuration: the data key of a ConfigMap, or undefined for the local one, which is not on the API server and counts as empty. */
export type Side = Readonly<ConfigMap> | undefined;

export interface Changes {
  fields: readonly PageChange[];
  /** Fields beyond MAX_FIELDS. */
  omitted: number;
}

/** Compares configurations as a kubelet of some version takes them, each pair once. */
export function nodeDiffs(): (from: Side, to: Side, key: string, kubeletVersion: string) => Changes {
  const answers = new Map<string, Changes>();
  return (from, to, key, version) => {
    const name = JSON.stringify([idOf(from), idOf(to), key, version]);
    let answer = answers.get(name);
    if (answer === undefined) {
      if (answers.size >= MAX_ANSWERS) answers.clear();
      answers.set(name, (answer = changesOf(from, to, key, versionOf(version))));
    }
    return answer;
  };
}

const idOf = (side: Side): string => (side === undefined ? '' : `${side.metadata.uid}/${side.metadata.resourceVersion}`);

function changesOf(from: Side, to: Side, key: string, version: KubeletVersion): Changes {
  const written = (side: Side) => {
    const decoded = side === undefined ? undefined : decode(new TextEncoder().encode(side.data?.[key] ?? ''), version);
    // What cannot be read counts as a configuration that sets nothing: findings say that it cannot be read.
    return decoded?.ok ? decoded.written : {};
  };
  const differences = compareConfigs(applyDefaults(written(from), version), applyDefaults(written(to), version), { byKey: true });
  const fields = differences.slice(0, MAX_FIELDS).map(({ field, class: of, from: before, to: after }): PageChange => ({
    field: field.slice(0, 200),
    class: of,
    change: before === null ? 'set' : after === null ? 'removed' : 'changed',
  }));
  return { fields, omitted: differences.length - fields.length };
}

/** A version that nothing is known of is compared as the newest. */
function versionOf(text: string): KubeletVersion {
  try {
    return closestKubeletVersion(text).version;
  } catch {
    return newestKubeletVersion;
  }
}
