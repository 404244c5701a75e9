import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApiServer } from '../../../apiserver/server.ts';
import type { Change } from '../../../apiserver/storage/watch-log.ts';
import type { Millis } from '../../../base/clock.ts';
import type { Pod } from '../../../controllers/common/types.ts';
import { type KubeObject, nodes } from '../../../kube/api/object.ts';
import type { Client } from '../../../kube/client/client.ts';
import { createClient } from '../../../kube/client/http-client.ts';
import type { ProcessOptions } from '../../../kube/process/contract.ts';
import { runProcess } from '../../../kube/process/process.ts';
import type { Context } from '../../command.ts';
import { Eye } from '../eye.ts';
import { PlayedPods } from './pods-and-volumes.ts';

/** Time from the deletion of a pod to the end of its containers. */
const END_MS: Millis = 300;

/** All pods, by NAMESPACE/NAME. */
export type Pods = ReadonlyMap<string, Pod>;

/** An in-process API server of the newest release, with nodes that run pods. Controllers and scheduler are not running yet. */
export interface DemoCluster extends AsyncDisposable {
  /** Path of an admin kubeconfig. */
  kubeconfig: string;
  client: Client;
  /** All pods, updated after each write. */
  pods: Eye<Pods>;
  /** Creates the object of a manifest. */
  add: (manifest: Readonly<Record<string, unknown>>) => KubeObject;
  /** Adds a listener for all writes, in order. @param kind - `GROUP/RESOURCE` */
  onChange: (listener: (kind: string, change: Change) => void) => void;
  /** Runs a long-running command of dkc inside this process, and waits until it is ready. Disposal waits for its end. */
  start: (name: string, setup: ProcessOptions['setup']) => Promise<AsyncDisposable>;
}

/** @param count - number of nodes, `node-1`, `node-2`, .... @param cpus - CPUs of each node */
export async function buildCluster(context: Context, { count, cpus }: { count: number; cpus: number }): Promise<DemoCluster> {
  const { clock, random, log } = context;
  await using undo = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'dkc-demo-'));
  undo.defer(() => rm(directory, { recursive: true, force: true }));
  const server = await startApiServer({ clock, random, log, dynamicKubeletConfig: false, podKubelet: END_MS });
  undo.defer(() => server.stop());
  const kubeconfig = join(directory, 'kubeconfig');
  await writeFile(kubeconfig, server.kubeconfig(), { mode: 0o600 });
  const { dial, hooks } = server;
  const access = { server: 'http://local', origin: 'demo', token: server.token };
  const client = createClient(access, { clock, random, dial });
  undo.defer(() => client.close());
  const seen = new Map<string, Pod>();
  const eye = new Eye<Pods>(clock);
  const kubelets = new PlayedPods(client, clock);
  hooks.storage.onChange((kind, { type, object }) => {
    if (kind !== '/pods') return;
    const pod = object as Pod;
    const { namespace, name } = pod.metadata;
    if (type === 'DELETED') seen.delete(`${namespace}/${name}`);
    else seen.set(`${namespace}/${name}`, pod);
    kubelets.see(pod);
    eye.see(seen);
  });
  for (let at = 1; at <= count; at++) await client.create(nodes, node(`node-${at}`, cpus));
  const built = undo.move();
  return {
    kubeconfig,
    client,
    pods: eye,
    add: server.add,
    onChange: (listener) => hooks.storage.onChange(listener),
    async start(name, setup) {
      const over = new AbortController();
      const working = Promise.withResolvers<void>();
      const running = runProcess(
        {
          name,
          access,
          leaderElect: false,
          metricsAddress: '',
          setup,
          events: { atOnce: 8 },
          onReady: () => working.resolve(),
          onFailed: ({ error }) => working.reject(error),
        },
        { clock, random, log, signal: over.signal, createClient: (source, given) => createClient(source, { ...given, dial }) },
      );
      const end = async (): Promise<void> => {
        over.abort(new Error('the demo is over'));
        await running.catch(() => 1);
      };
      built.defer(end);
      await working.promise;
      return { [Symbol.asyncDispose]: end };
    },
    [Symbol.asyncDispose]: () => built.disposeAsync(),
  };
}

function node(name: string, cpus: number): KubeObject {
  const room = { cpu: String(cpus), memory: '32Gi', 'ephemeral-storage': '100Gi', pods: '110' };
  return {
    metadata: { name, labels: { 'kubernetes.io/hostname': name } },
    status: {
      capacity: room,
      allocatable: room,
      conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady' }],
      nodeInfo: { kubeletVersion: 'v1.36.3' },
    },
  };
}

export const isBound = ({ spec }: Pod): boolean => (spec?.nodeName ?? '') !== '';

/** The pod is ready and not terminating. */
export function isReady({ metadata, status }: Pod): boolean {
  return (
    metadata.deletionTimestamp === undefined && (status?.conditions ?? []).some(({ type, status: is }) => type === 'Ready' && is === 'True')
  );
}
