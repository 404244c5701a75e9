import { withClient } from '../fleet/with-client.ts';
import { FsStore } from '../../agent/store/fs-store.ts';
import { nodes } from '../../kube/api/object.ts';
import { daemonSets, pods, statefulSets } from '../../kube/api/resources.ts';
import { nodeFlags } from '../agent-flags.ts';
import { nodeOptions } from '../node-options.ts';
import { plainFlags } from '../plain-flags.ts';
import { connectFlags } from '../connect.ts';
import type { Resource } from '../../kube/api/object.ts';
import type { Args } from '../args.ts';
import type { Context, Flag } from '../command.ts';
import type { Ask, Candidate } from './candidates.ts';

/** Somebody waits at a prompt. */
const PATIENCE_MS = 2_000;

/** Asks the store and the API server. What cannot be asked offers nothing: a completion never complains. */
export function askWorld(context: Context): Ask {
  return async (what, given) => {
    try {
      switch (what) {
        case 'ref':
          return await refs(context, given);
        case 'node':
          return await nodeNames(context, given);
        case 'daemonset':
          return await namesOf(context, daemonSets, given);
        case 'statefulset':
          return await namesOf(context, statefulSets, given);
        case 'pod':
          return await namesOf(context, pods, given);
      }
    } catch {
      return [];
    }
  };
}

async function refs(context: Context, given: readonly string[]): Promise<readonly Candidate[]> {
  const options = await nodeOptions(context, flagsIn(nodeFlags, given));
  const store = new FsStore({ disk: context.disk, locks: context.locks, root: options.dynamicConfigDir, clock: context.clock });
  const entries = await store.list();
  const roles = ['assigned', 'last-known-good', 'active'].map((value) => ({ value, text: 'role' }));
  return [
    ...roles,
    ...entries.map(({ ref, manifest }) => ({
      value: `${ref.uid}/${ref.resourceVersion}`,
      text: manifest ? `${manifest.namespace}/${manifest.name}` : '',
    })),
  ];
}

async function nodeNames(context: Context, given: readonly string[]): Promise<readonly Candidate[]> {
  return withClient(context, flagsIn(connectFlags, given), async (client) => {
    const list = await client.list(nodes, { limit: 500 }, { timeoutMs: PATIENCE_MS, signal: context.signal });
    return list.items.map(({ metadata }) => ({ value: metadata.name ?? '', text: 'node' }));
  });
}

async function namesOf(context: Context, kind: Resource, given: readonly string[]): Promise<readonly Candidate[]> {
  return withClient(context, flagsIn(connectFlags, given), async (client) => {
    const list = await client.list(kind, { limit: 500 }, { timeoutMs: PATIENCE_MS, signal: context.signal });
    return list.items.map(({ metadata: { namespace = '', name = '' } }) => ({ value: `${namespace}/${name}`, text: '' }));
  });
}

/** Those of `flags` that stand in a line which is not complete yet; everything else in it is passed over. */
function flagsIn(flags: readonly Flag[], given: readonly string[]): Args {
  const known = given.slice(0, -1).flatMap((word, at, all) => {
    const flag = flags.find(({ name }) => word === `--${name}` || word.startsWith(`--${name}=`));
    if (!flag) return [];
    return word.includes('=') ? [word] : [`${word}=${all[at + 1] ?? ''}`];
  });
  return plainFlags('__complete', flags, known);
}
