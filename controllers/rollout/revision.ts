import { createHash } from 'node:crypto';
import { memoize } from '../../kube/cache/contract.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import { COPY_OF_ANNOTATION, REVISION_ANNOTATION, ROLLOUT_LABEL, rollouts, type NodeConfigRollout } from './types.ts';

/** A ConfigMap as the API server keeps it. */
export interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
  binaryData?: Record<string, string>;
  immutable?: boolean;
}

/** A new value makes agents retry a configuration that they condemned. */
export const RETRY_ANNOTATION = 'dkc.dev/retry';
/** Annotations that agents read: they are part of what is rolled out. */
const READ_BY_AGENTS = ['dkc.dev/allow', RETRY_ANNOTATION];
const HASH_LETTERS = 10;
/** Max characters of the rollout's name in the name of a revision: a ConfigMap's name has at most 253. */
const MAX_NAME = 253 - HASH_LETTERS - 1;

/**
 * Identifies what a ConfigMap holds for agents: its data, the key, and the annotations that they read. A changed label makes no new revision.
 */
export function contentHash(of: Readonly<ConfigMap>, kubeletConfigKey: string): string {
  const known = hashes(of).get(kubeletConfigKey) ?? hashOf(of, kubeletConfigKey);
  hashes(of).set(kubeletConfigKey, known);
  return known;
}

/** By ConfigMap and key: a ConfigMap may hold a megabyte, and every reconcile needs its hash. */
const hashes = memoize<Readonly<ConfigMap>, Map<string, string>>(() => new Map());

function hashOf({ data = {}, binaryData = {}, metadata }: Readonly<ConfigMap>, kubeletConfigKey: string): string {
  const hash = createHash('sha256');
  const add = (...parts: readonly string[]): void => {
    for (const part of parts) hash.update(`${Buffer.byteLength(part)}:`).update(part);
  };
  add(kubeletConfigKey);
  for (const [kind, of] of [['data', data], ['binary', binaryData]] as const) for (const key of Object.keys(of).toSorted()) add(kind, key, of[key] ?? ''); // prettier-ignore
  for (const name of READ_BY_AGENTS) add(name, metadata.annotations?.[name] ?? '');
  return hash.digest('hex').slice(0, HASH_LETTERS);
}

/** `NAME-HASH`. */
export const revisionName = (rollout: string, hash: string): string => {
  // A prefix that ends with a dot would make an invalid name.
  return `${rollout.slice(0, MAX_NAME).replace(/[-.]+$/, '')}-${hash}`;
};

/** The common prefix of the names of a rollout's copies, if this is one of them. */
export const withoutHash = (name: string): string => name.slice(0, -HASH_LETTERS);

/** The copy of a ConfigMap that nodes are assigned: an edit of the original does not reach them. */
export function revisionOf(rollout: Readonly<NodeConfigRollout>, from: Readonly<ConfigMap>, name: string, number: number): ConfigMap {
  const { namespace = '', annotations = {}, resourceVersion = '' } = from.metadata;
  const kept = Object.fromEntries(READ_BY_AGENTS.flatMap((key) => (annotations[key] === undefined ? [] : [[key, annotations[key]]])));
  const key = rollout.spec?.configMap?.kubeletConfigKey ?? '';
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name,
      namespace,
      labels: { [ROLLOUT_LABEL]: rollout.metadata.uid ?? '' },
      annotations: {
        ...kept,
        [REVISION_ANNOTATION]: String(number),
        [COPY_OF_ANNOTATION]: `${namespace}/${from.metadata.name ?? ''}:${key}@${resourceVersion}`,
      },
      ownerReferences: [
        {
          apiVersion: `${rollouts.group}/${rollouts.version}`,
          kind: rollouts.kind,
          name: rollout.metadata.name ?? '',
          uid: rollout.metadata.uid ?? '',
          controller: true,
        },
      ],
    },
    ...(from.data ? { data: from.data } : {}),
    ...(from.binaryData ? { binaryData: from.binaryData } : {}),
    immutable: true,
  };
}

/**
 * The key that a copy was made for: the revision is that key, whichever one spec names now. A copy holds all keys of its original, so another key is another
 * configuration, which was never validated and never run.
 * @param otherwise - returned for a ConfigMap that is no copy, or has no such key
 */
export function keyOf({ metadata, data = {} }: Readonly<ConfigMap>, otherwise: string): string {
  const copyOf = metadata.annotations?.[COPY_OF_ANNOTATION] ?? '';
  const key = copyOf.slice(copyOf.indexOf(':') + 1, Math.max(0, copyOf.lastIndexOf('@')));
  return Object.hasOwn(data, key) ? key : otherwise;
}

/** A revision's number; 0 for a ConfigMap without one. */
export function numberOf({ metadata }: Readonly<KubeObject>): number {
  const number = Number(metadata.annotations?.[REVISION_ANNOTATION]);
  return Number.isSafeInteger(number) && number > 0 ? number : 0;
}
