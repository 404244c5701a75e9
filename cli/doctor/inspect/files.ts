import { dirname } from 'node:path';
import { type Known, seen, the, Unseen } from '../check.ts';
import type { DiskFacts, PermissionFacts, SettingsFacts, StoreFacts, Trusted } from '../node/files.ts';
import type { NodeInspector } from './node-inspector.ts';
import { readPolicy } from '../../../agent/evaluate/node-inputs.ts';
import { readOnlyPaths } from '../../../agent/host/facts.ts';
import { argsOfFile } from '../../../agent/host/kubelet.ts';
import { isForbidden } from '../../agent/settings.ts';
import { DEFAULT_POLICY_FILE } from '../../../agent/options.ts';
import { type ClusterAccess, loadKubeconfig } from '../../../kube/client/access.ts';
import { ActionError, describeError, errorCode } from '../../../base/errors.ts';
import { observeNode } from '../../../agent/admin/observe.ts';
import { observe } from '../../../agent/boot/observe.ts';
import { FsStore } from '../../../agent/store/fs-store.ts';
import { layout } from '../../../agent/store/layout.ts';
import { silentLog } from '../../../base/log.ts';
import { validateFile } from '../../config/validate-file.ts';

export async function inspectDisk({ context, options, host }: NodeInspector): Promise<DiskFacts> {
  const { disk } = context;
  const { dynamicConfigDir, effectiveConfig, kubeletExits } = options;
  const run = dirname(kubeletExits);
  const places = [...new Set([dynamicConfigDir, dirname(effectiveConfig)])];
  return {
    free: await Promise.all([...places, run].map(async (path) => ({ path, is: await seen(() => host.free(path)) }))),
    readOnly: await seen(async () => readOnlyPaths(new TextDecoder().decode(await disk.read('/proc/self/mountinfo')), places)),
    isVolatile: await seen(async () => (await disk.stat(`${run}/kubelet.env`)) !== undefined),
    effectiveConfig,
  };
}

export async function inspectSettings({ context, options, settingsFile, settingsProblem }: NodeInspector): Promise<SettingsFacts> {
  const { disk } = context;
  const policy = options.policy ?? DEFAULT_POLICY_FILE;
  return {
    file: settingsFile,
    problem: settingsProblem === undefined ? await seen(() => argsProblem(options, disk)) : { seen: settingsProblem },
    isThere: await seen(async () => (await disk.stat(settingsFile)) !== undefined),
    policyProblem: await seen(async () => (await readPolicy(options.policy, disk)).problem),
    policyFile: policy,
    hasPolicy: await seen(async () => policy !== 'none' && (await disk.stat(policy)) !== undefined),
  };
}

/** The agent exits at once if it cannot read this file. @throws EACCES */
async function argsProblem({ kubeletArgs }: NodeInspector['options'], disk: NodeInspector['context']['disk']): Promise<string | undefined> {
  if (kubeletArgs === undefined) return undefined;
  try {
    await argsOfFile(kubeletArgs, disk);
    return undefined;
  } catch (error) {
    if (isForbidden(error)) throw error;
    return describeError(error);
  }
}

export async function inspectPermissions(inspector: NodeInspector): Promise<PermissionFacts> {
  const { context, options, settingsFile } = inspector;
  const { dynamicConfigDir, effectiveConfig, localConfig, kubeconfig, policy = DEFAULT_POLICY_FILE } = options;
  const access =
    kubeconfig === undefined ? undefined : await loadKubeconfig(kubeconfig, { environment: context.env }).catch(() => undefined);
  const secrets = [dynamicConfigDir, ...(kubeconfig === undefined ? [] : [kubeconfig]), ...secretFilesOf(access)];
  const others = [settingsFile, effectiveConfig, localConfig, ...(policy === 'none' ? [] : [policy])];
  return { trusted: await seen(() => trustedOf(inspector, secrets, others)) };
}

function secretFilesOf(access: ClusterAccess | undefined): string[] {
  const { tokenFile, clientKey } = access ?? {};
  return [...(tokenFile === undefined ? [] : [tokenFile]), ...(clientKey && 'file' in clientKey ? [clientKey.file] : [])];
}

/** Each path with links resolved, and all parent directories, once. @throws EACCES */
async function trustedOf({ context, host }: NodeInspector, secrets: readonly string[], others: readonly string[]): Promise<Trusted[]> {
  const found = new Map<string, Trusted>();
  const add = async (path: string, isSecret: boolean): Promise<void> => {
    const kind = (await context.disk.stat(path))?.kind;
    if (found.has(path) || kind === undefined) return;
    found.set(path, { path, ...(await host.owner(path)), isSecret, isDir: kind === 'dir' });
  };
  for (const [paths, isSecret] of [
    [secrets, true],
    [others, false],
  ] as const)
    // prettier-ignore
    for (const path of paths) {
      const real = await context.disk.realPath(path).catch((error: unknown) => {
        if (['EACCES', 'EPERM'].includes(errorCode(error) ?? '')) throw error;
        return undefined; // missing files are reported by other checks
      });
      if (real === undefined) continue;
      await add(real, isSecret);
      for (let dir = dirname(real); ; dir = dirname(dir)) {
        await add(dir, false);
        if (dir === dirname(dir)) break;
      }
    }
  return [...found.values()];
}

export async function inspectStore(inspector: NodeInspector): Promise<StoreFacts> {
  const { context, options } = inspector;
  const { disk, locks, clock } = context;
  const { dynamicConfigDir, effectiveConfig, localConfig, kubeletExits } = options;
  const store = new FsStore({ disk, locks, clock, root: dynamicConfigDir, volatileDir: dirname(kubeletExits) });
  const found = await seen(async (): Promise<StoreAt> => {
    if ((await disk.stat(layout(dynamicConfigDir).store)) === undefined) return { at: 'absent' };
    const { problems, entries } = await observeNode({ store, disk, dynamicConfigDir, effectiveConfig, localConfig });
    return { at: 'there', problems, checkpoints: entries.length };
  });
  return {
    store: found,
    lastKnownGood: await seen(async () => {
      const { at, ...rest } = the(found);
      // Reading a damaged store would quarantine the damaged files, which only the agent does.
      if (at === 'absent' || ('problems' in rest && rest.problems.length > 0)) throw new Unseen('the store is absent or damaged');
      const { facts } = await observe({ options, store, disk, clock, log: silentLog, kubelet: await inspector.kubelet() });
      return facts.lastKnownGood;
    }),
    local: await seen(() => localOf(inspector)),
    localConfig,
    dir: dynamicConfigDir,
  };
}

type StoreAt = Known<StoreFacts['store']>;
type LocalAt = Known<StoreFacts['local']>;

async function localOf(inspector: NodeInspector): Promise<LocalAt> {
  const { context, options } = inspector;
  let bytes: Uint8Array;
  try {
    bytes = await context.disk.readLinked(options.localConfig);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return { at: 'missing' };
    if (['EACCES', 'EPERM'].includes(errorCode(error) ?? '')) throw error;
    return { at: 'broken', problem: error instanceof ActionError ? error.hint : describeError(error) };
  }
  const dir = dirname(options.localConfig);
  const { errors } = await validateFile(context, {
    bytes,
    dir,
    options,
    kubelet: await inspector.kubelet(),
    withPolicy: false,
    strict: false,
  });
  return errors.length === 0 ? { at: 'usable' } : { at: 'refused', findings: errors };
}
