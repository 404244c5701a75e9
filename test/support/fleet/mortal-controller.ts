import type { LocalApi } from '../../../apiserver/local-api.ts';
import { realClock } from '../../../base/clock.ts';
import { rolloutController } from '../../../controllers/rollout/controller.ts';
import type { Count } from '../../../controllers/rollout/types.ts';
import { BrokenConnection, type Connection } from '../../../kube/client/connection.ts';
import { startLocally, type LocalProcess } from '../local-process.ts';

const serves = { version: 'v1.36.3', servesNodeConfigs: true, hasConfigSource: false };

/** The rollout controller, in this process: killed, it sends nothing any more and remembers nothing; the one that is started next knows what the API has. */
export class MortalController {
  readonly #api: LocalApi;
  readonly #maxUnavailable: Count | undefined;
  #life: { process: LocalProcess; connections: Connection[]; isDead: boolean } | undefined;
  readonly #ended: Promise<unknown>[] = [];
  kills = 0;

  /** @param maxUnavailable - of the whole cluster */
  constructor(api: LocalApi, maxUnavailable?: Count) {
    this.#api = api;
    this.#maxUnavailable = maxUnavailable;
  }

  async start(): Promise<void> {
    const connections: Connection[] = [];
    const dial = async (): Promise<Connection> => {
      if (life.isDead) throw new BrokenConnection('never', 'this process was killed');
      const connection = await this.#api.dial();
      connections.push(connection);
      return connection;
    };
    const api = { ...this.#api, dial };
    const life = { connections, isDead: false, process: undefined as unknown as LocalProcess };
    life.process = startLocally(api, {
      name: 'dkc-controllers',
      setup: (runtime) => [rolloutController(runtime, { serves, maxUnavailable: this.#maxUnavailable })],
      clock: realClock,
    });
    this.#life = life;
    await life.process.working;
  }

  /** As by SIGKILL; the next one starts at once. */
  async restart(): Promise<void> {
    const life = this.#life;
    if (life !== undefined) {
      life.isDead = true;
      for (const connection of life.connections) connection.destroy();
      this.kills += 1;
      this.#ended.push(life.process.stop().catch(() => {}));
    }
    await this.start();
  }

  async stop(): Promise<void> {
    await this.#life?.process.stop();
    await Promise.all(this.#ended);
  }
}
