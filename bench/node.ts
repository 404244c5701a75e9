import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FsStore } from '../agent/store/fs-store.ts';
import { layout } from '../agent/store/layout.ts';
import type { Source } from '../agent/checkpoint/source.ts';
import { realClock } from '../base/clock.ts';
import { flock } from '../base/lock.ts';
import { realDisk } from '../base/disk.ts';

export const NAMESPACE = 'dkc-system';
export const KEY = 'kubelet';

/** A realistic kubelet configuration. */
export const kubeletConfig = (maxPods: number): string => `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
maxPods: ${maxPods}
evictionHard:
  memory.available: 200Mi
  nodefs.available: 10%
kubeReserved: { cpu: 100m, memory: 300Mi }
serializeImagePulls: false
shutdownGracePeriod: 30s
`;

export interface BenchNode extends AsyncDisposable {
  /** Path of its agent.yaml. */
  settings: string;
  effective: string;
  log: string;
}

/** Creates a node in the temporary directory: settings and local config, without a store. */
export async function benchNode(name: string, kubeconfig?: string): Promise<BenchNode> {
  const root = await mkdtemp(join(tmpdir(), 'dkc-bench-'));
  const dir = join(root, 'dkc');
  const given = {
    nodeName: name,
    dynamicConfigDir: dir,
    localConfig: join(root, 'config.yaml'),
    kubeletUnit: '""',
    kubeletHealthz: '""',
    kubeletExits: join(root, 'kubelet-exits'),
    kubeletVersion: '"1.30"',
    policy: 'none',
    metricsBindAddress: '127.0.0.1:0',
    ...(kubeconfig === undefined ? {} : { kubeconfig: join(root, 'kubeconfig') }),
  };
  await mkdir(dir, { mode: 0o700 });
  await writeFile(given.localConfig, kubeletConfig(110));
  if (kubeconfig !== undefined) await writeFile(join(root, 'kubeconfig'), kubeconfig, { mode: 0o600 });
  const settings = join(root, 'agent.yaml');
  await writeFile(settings, Object.entries(given).map(([key, value]) => `${key}: ${value}\n`).join('')); // prettier-ignore
  return {
    settings,
    effective: layout(dir).effective,
    log: join(root, 'agent.log'),
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }),
  };
}

/** Fills the store of a node with `count` checkpoints: the newest is assigned, the previous one is last-known-good. */
export async function withCheckpoints({ effective }: BenchNode, count: number): Promise<void> {
  const store = new FsStore({ disk: realDisk, locks: flock, clock: realClock, root: join(effective, '..') });
  await store.initialize();
  const source = (n: number): Source => ({
    namespace: NAMESPACE,
    name: 'web',
    uid: '8c1f2d34-0a6b-4b7e-9f6e-2f1a0c9d7e55',
    resourceVersion: String(1000 + n),
    kubeletConfigKey: KEY,
  });
  // Under one lock: one lock per checkpoint would take a second.
  await store.locked(async () => {
    for (let n = 1; n <= count; n++)
      await store.save({ ...source(n), files: new Map([[KEY, new TextEncoder().encode(kubeletConfig(100 + n))]]), annotations: {} });
    await store.setRecord('last-known-good', source(count - 1));
    await store.setRecord('assigned', source(count));
  });
}
