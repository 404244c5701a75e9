import { agentDefaults } from '../../agent/options.ts';
import { isJsonObject } from '../../kube/api/json.ts';
import { kubeconfigContexts } from '../../kube/client/access.ts';
import { connectFlags, withClient } from '../connect/flags.ts';
import { FsStore } from '../../agent/store/fs-store.ts';
import { rollouts } from '../../controllers/rollout/types.ts';
import { configMaps, daemonSets, namespaces, nodes, pods, type Resource, statefulSets } from '../../kube/api/object.ts';
import { nodeFlags } from '../agent/flags.ts';
import { nodeOptions } from '../agent/node-options.ts';
import { plainFlags, type Args } from '../args/args.ts';
import { kubeconfigPaths } from '../connect/connect.ts';
import type { Context, Flag } from '../command.ts';
import type { LookUp, Candidate } from './candidates.ts';

/** Maximum time for all lookups: the user waits at a prompt. */
const PATIENCE_MS = 2_000;
/** More ConfigMaps make no readable list in a shell. */
const MAX_CONFIG_MAPS = 100;
const MAX_KEYS = 500;

const configMapFlag: Flag = { name: 'configmap', type: 'string', text: '' };

/** Looks up candidates in the store and on the API server. A lookup that fails has no candidates: completion never reports errors. */
export function lookUpCandidates(context: Context): LookUp {
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
        case 'namespace':
          return await namesOf(context, namespaces, given);
        case 'rollout':
          return await namesOf(context, rollouts, given);
        case 'configmap':
          return await configMapNames(context, given);
        case 'configmap-key':
          return await configMapKeys(context, given);
        case 'context':
          return await contextNames(context, given);
        case 'field':
          return await fieldNames();
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

/** `dkc-system/web`: ConfigMaps of the namespace that is already typed, else of the one that agents read. */
async function configMapNames(context: Context, given: readonly string[]): Promise<readonly Candidate[]> {
  const typed = (given.at(-1) ?? '').replace(/^--[^=]*=/, '');
  const namespace = typed.includes('/') ? typed.slice(0, typed.indexOf('/')) : agentDefaults.configmapNamespace;
  return withClient(context, flagsIn(connectFlags, given), async (client) => {
    const names: Candidate[] = [];
    // A ConfigMap may hold a megabyte: each is dropped as soon as its name is read.
    await inTime(context, (signal) =>
      client.listEach(configMaps, { namespace, limit: MAX_CONFIG_MAPS }, ({ metadata }) => void names.push({ value: `${namespace}/${metadata.name}`, text: 'ConfigMap' }), { signal }),
    ); // prettier-ignore
    return names;
  });
}

/** The data keys of the ConfigMap that the line names. */
async function configMapKeys(context: Context, given: readonly string[]): Promise<readonly Candidate[]> {
  const [namespace = '', name = ''] = (flagsIn([configMapFlag], given).text('configmap') ?? '').split('/');
  if (name === '') return [];
  return withClient(context, flagsIn(connectFlags, given), async (client) => {
    const { data } = await client.get(configMaps, { namespace, name }, { timeoutMs: PATIENCE_MS, signal: context.signal });
    return Object.keys(isJsonObject(data) ? data : {}).slice(0, MAX_KEYS).map((value) => ({ value, text: 'data key' })); // prettier-ignore
  });
}

async function contextNames(context: Context, given: readonly string[]): Promise<readonly Candidate[]> {
  const named = flagsIn(connectFlags, given).text('kubeconfig');
  const paths = kubeconfigPaths(named === undefined ? {} : { kubeconfig: context.path(named) }, context.env);
  return (await kubeconfigContexts(paths)).map((value) => ({ value, text: 'context' }));
}

async function fieldNames(): Promise<readonly Candidate[]> {
  const { fields } = await import('../../agent/config/fields/fields.ts');
  return fields.map(({ name }) => ({ value: name, text: 'field' }));
}

/** Aborts the work after {@link PATIENCE_MS}; candidates found until then are kept. */
async function inTime(context: Context, work: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
  const late = new AbortController();
  const stop = context.clock.after(PATIENCE_MS, () => late.abort());
  try {
    await work(AbortSignal.any([late.signal, context.signal])).catch(() => undefined);
  } finally {
    stop();
  }
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
    return list.items.map(({ metadata: { namespace = '', name = '' } }) => ({
      value: namespace === '' ? name : `${namespace}/${name}`,
      text: '',
    }));
  });
}

/** Values of `flags` on an incomplete command line; all other words are ignored. */
function flagsIn(flags: readonly Flag[], given: readonly string[]): Args {
  const known = given.slice(0, -1).flatMap((word, at, all) => {
    const flag = flags.find(({ name }) => word === `--${name}` || word.startsWith(`--${name}=`));
    if (!flag) return [];
    return word.includes('=') ? [word] : [`${word}=${all[at + 1] ?? ''}`];
  });
  return plainFlags('__complete', flags, known);
}
