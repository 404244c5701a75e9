import { eventually } from '../../../support/eventually.ts';
import type { TestContext } from 'node:test';
import { type LocalApi, type LocalApiOptions } from '../../../../apiserver/local-api.ts';
import { realClock } from '../../../../base/clock.ts';
import { silentLog } from '../../../../base/log.ts';
import { daemonSetController } from '../../../../controllers/daemonset/controller.ts';
import type { DaemonSetOptions } from '../../../../controllers/daemonset/options.ts';
import type { DaemonSet, Node, Pod } from '../../../../controllers/daemonset/types.ts';
import type { KubeObject } from '../../../../kube/api/object.ts';
import { daemonSets, nodes, pods } from '../../../../kube/api/resources.ts';
import type { Client } from '../../../../kube/client/client.ts';
import type { Runnable } from '../../../../kube/process/options.ts';
import type { Runtime } from '../../../../kube/process/runtime.ts';
import { startLocally, type LocalProcess } from '../../../support/local-process.ts';
import { recordedLog } from '../../../support/recorded-log.ts';
import { HollowNodes } from '../../../support/hollow/hollow-nodes.ts';
import type { HollowNode } from '../../../support/hollow/hollow-node.ts';
import { localApi, localClient } from '../../../support/embedded-api.ts';

export interface LiveOptions {
  controller?: DaemonSetOptions;
  /** @default the DaemonSet controller */
  setup?: (runtime: Runtime) => Runnable[];
  api?: Partial<LocalApiOptions>;
  /** Wraps the controller's client: for faults. */
  client?: (client: Client) => Client;
}

/** The controller on the embedded API server, with kubelets that are not there, on the real clock. */
export class LiveWorld {
  readonly api: LocalApi;
  readonly client: Client;
  readonly hollow: HollowNodes;
  readonly lines: string[];
  readonly #options: LiveOptions;
  readonly #over = new AbortController();
  readonly #running: Promise<unknown>[] = [];
  readonly #log: ReturnType<typeof recordedLog>;
  #process: LocalProcess | undefined;

  constructor(options: LiveOptions = {}) {
    this.#options = options;
    this.api = localApi(realClock, { ...options.api });
    this.client = this.#newClient();
    this.hollow = new HollowNodes({
      client: this.client,
      clock: realClock,
      log: silentLog,
      binds: options.controller?.placement !== 'controller',
    });
    this.#running.push(this.hollow.run(this.#over.signal));
    this.#log = recordedLog();
    this.lines = this.#log.lines;
  }

  static async start(t: TestContext, nodeNames: readonly (string | HollowNode)[], options: LiveOptions = {}): Promise<LiveWorld> {
    const world = new LiveWorld(options);
    t.after(() => world.stop());
    await world.hollow.add(nodeNames.map((name) => (typeof name === 'string' ? { name } : name)));
    await world.startController();
    return world;
  }

  /** Resolves once it works. */
  async startController(): Promise<void> {
    this.#process = startLocally(this.api, {
      name: 'dkc-controllers',
      setup: this.#options.setup ?? ((runtime) => [daemonSetController(runtime, this.#options.controller)]),
      clock: realClock,
      wrap: this.#options.client,
      log: this.#log,
    });
    await this.#process.working;
  }

  async stopController(): Promise<void> {
    await this.#process?.stop().catch(() => {});
  }

  async stop(): Promise<void> {
    await this.stopController();
    this.#over.abort();
    await Promise.allSettled(this.#running);
    await this.client.close();
    this.api.stop();
  }

  set(name: string, namespace = 'default'): DaemonSet {
    return this.#object<DaemonSet>('apps/daemonsets', `${namespace}/${name}`);
  }

  pods(namespace = 'default'): Pod[] {
    return this.api.hooks.storage.list('/pods', namespace).objects as unknown as Pod[];
  }

  events(): { reason: string; message: string }[] {
    return this.api.hooks.storage
      .list('/events')
      .objects.map(({ reason, message }) => ({ reason: String(reason), message: String(message) }));
  }

  apply(change: object, name = 'web'): Promise<DaemonSet> {
    return this.client.patch<DaemonSet>(daemonSets, { name, namespace: 'default' }, change, { type: 'strategic' });
  }

  patchNode(name: string, change: object): Promise<Node> {
    return this.client.patch<Node>(nodes, { name }, change, { type: 'strategic' });
  }

  deletePod(pod: Pod): Promise<void> {
    const { name = '', namespace = 'default' } = pod.metadata;
    return this.client.delete(pods, { name, namespace });
  }

  /** Resolves once it holds; asks again whenever a turn of the loop has passed. */
  async until(what: string, holds: () => boolean, timeoutMs = 60_000): Promise<void> {
    await eventually(what, holds, timeoutMs, () => this.lines.slice(-20).join('\n'));
  }

  /** Status says that all wanted pods are there, of the present template, and available. */
  async settled(name = 'web', desired?: number): Promise<void> {
    await this.until(`${name} settled`, () => {
      const { status, metadata } = this.set(name);
      const wanted = desired ?? status?.desiredNumberScheduled ?? -1;
      return (
        status?.observedGeneration === metadata.generation &&
        status?.desiredNumberScheduled === wanted &&
        (status.numberAvailable ?? 0) === wanted &&
        (status.updatedNumberScheduled ?? 0) === wanted
      );
    });
  }

  #newClient(): Client {
    return localClient(this.api);
  }

  #object<T extends KubeObject>(kind: string, key: string): T {
    const found = this.api.hooks.storage.get(kind, key);
    if (found === undefined) throw new Error(`there is no ${kind} ${key}`);
    return found as unknown as T;
  }
}

export function daemonSet(
  name: string,
  spec: Record<string, unknown> = {},
  annotations: Record<string, string> = {},
): Record<string, unknown> {
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name, namespace: 'default', annotations },
    spec: {
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'c', image: 'v1' }] } },
      ...spec,
    },
  };
}
