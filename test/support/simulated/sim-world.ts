import { type Millis, rfc3339 } from '../../../base/clock.ts';
import { DirectLine } from '../../../apiserver/direct.ts';
import { FaultPlan } from '../../../apiserver/faults/plan.ts';
import { createLocalApi, type LocalApi, type LocalApiOptions } from '../../../apiserver/local-api.ts';
import { silentLog } from '../../../base/log.ts';
import { seededRandom } from '../../../base/random.ts';
import { daemonSetController } from '../../../controllers/daemonset/controller.ts';
import type { DaemonSet, Node, Pod } from '../../../controllers/common/types.ts';
import type { Revision } from '../../../controllers/common/history/contract.ts';
import { nodes } from '../../../kube/api/object.ts';
import type { Client } from '../../../kube/client/client.ts';
import { createClient } from '../../../kube/client/http-client.ts';
import '../../../kube/client/list-stream.ts';
import type { Runnable, Runtime } from '../../../kube/process/contract.ts';
import { FakeClock } from '../fake-clock.ts';
import { type LocalProcess, startLocally } from '../local-process.ts';
import { type HollowNode, nodeObject } from '../hollow/hollow-node.ts';
import { intercepted, type Interceptor } from './intercepted.ts';
import { atOnce, type Pace, SimKubelets } from './sim-kubelets.ts';
// The client loads it with the first list, which takes turns of the loop that fake time knows nothing of.

export interface SimOptions {
  /** Of the server: UIDs, and the dice of its faults. @default 1 */
  seed?: number;
  pace?: Pace;
  api?: Partial<LocalApiOptions>;
  /** What a process runs. @default the DaemonSet controller */
  setup?: (runtime: Runtime) => Runnable[];
}

/** A process with a controller. */
export type SimProcess = Pick<LocalProcess, 'ready' | 'stop' | 'lines' | 'failures'>;

/** Controllers on the embedded API server, with kubelets that are not there, in fake time. */
export class SimWorld {
  readonly clock = new FakeClock();
  readonly api: LocalApi;
  /** Of users: the server never fails for them. */
  readonly user: Client;
  readonly #ending = new AbortController();
  readonly #processes = new Set<SimProcess>();
  readonly #setup: (runtime: Runtime) => Runnable[];

  constructor({ seed = 1, pace = atOnce, api = {}, setup = (runtime) => [daemonSetController(runtime)] }: SimOptions = {}) {
    this.#setup = setup;
    const random = seededRandom(seed);
    this.api = createLocalApi({ clock: this.clock, random, log: silentLog, version: 'v1.34.0', dynamicKubeletConfig: false, ...api });
    const calm = new DirectLine({ ...this.api.server, faults: new FaultPlan([], random) });
    this.user = this.#newClient(() => calm.dial());
    new SimKubelets(this.api.server.api, pace, this.#ending.signal).run();
  }

  /** Nodes as they register themselves. */
  addNodes(...wanted: readonly (string | HollowNode)[]): void {
    const at = rfc3339(this.clock.now());
    for (const node of wanted) this.api.add({ ...nodeObject(typeof node === 'string' ? { name: node } : node, at) });
  }

  /** Begins at once; works once its caches are full, which may take time. */
  start(by?: Interceptor): SimProcess {
    const process: SimProcess = startLocally(this.api, {
      name: 'dkc-controllers',
      setup: this.#setup,
      clock: this.clock,
      wrap: by && ((client) => intercepted(client, by)),
      onStop: () => this.#processes.delete(process),
    });
    this.#processes.add(process);
    return process;
  }

  /** Lets time pass until it holds. @returns ms that passed, undefined when it never held within the limit */
  async until(holds: () => boolean, limitMs: Millis, stepMs: Millis = 250): Promise<Millis | undefined> {
    const from = this.clock.monotonic();
    await this.clock.advance(0);
    while (!holds()) {
      if (this.clock.monotonic() - from >= limitMs) return undefined;
      await this.clock.advance(stepMs);
    }
    return this.clock.monotonic() - from;
  }

  /** Ends everything. */
  async stop(): Promise<void> {
    const stopping = Promise.all([...this.#processes].map((process) => process.stop()));
    await this.clock.advance(30_000);
    await stopping;
    this.#ending.abort(new Error('the world ends'));
    await this.user.close();
    this.api.stop();
  }

  set(name = 'web', namespace = 'default'): DaemonSet | undefined {
    return this.api.hooks.storage.get('apps/daemonsets', `${namespace}/${name}`) as DaemonSet | undefined;
  }

  sets(): DaemonSet[] {
    return this.api.hooks.storage.list('apps/daemonsets').objects as DaemonSet[];
  }

  pods(): Pod[] {
    return this.api.hooks.storage.list('/pods').objects as unknown as Pod[];
  }

  nodes(): Node[] {
    return this.api.hooks.storage.list('/nodes').objects as unknown as Node[];
  }

  revisions(): Revision[] {
    return this.api.hooks.storage.list('apps/controllerrevisions').objects as unknown as Revision[];
  }

  patchNode(name: string, change: object): Promise<Node> {
    return this.user.patch<Node>(nodes, { name }, change, { type: 'merge' });
  }

  #newClient(dial: LocalApi['dial']): Client {
    return createClient(
      { server: 'http://local', origin: 'test', token: this.api.token },
      { clock: this.clock, dial, random: seededRandom(3) },
    );
  }
}
