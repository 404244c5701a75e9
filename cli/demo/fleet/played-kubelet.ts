import type { Ended } from '../service.ts';
import { exitLine } from '../supervisor.ts';
import { sha256 } from '../../../agent/checkpoint/payload.ts';
import type { Clock, Millis } from '../../../base/clock.ts';

export interface PlayedKubeletDeps {
  clock: Pick<Clock, 'now' | 'after'>;
  /** The effective file; undefined where there is none. */
  read: () => Promise<Uint8Array | undefined>;
  /** Why a kubelet of this node ends with this configuration; undefined: it does not. */
  fatal: (config: Uint8Array) => string | undefined;
  /** One line of the exits file. */
  appendExit: (line: string) => Promise<void>;
  /** It runs, or has ended. */
  onState: (state: 'up' | 'crashed') => void;
}

/** From the start of a kubelet to its end, where its configuration is fatal, and from there to the next start, in ms. */
const DIES_AFTER_MS: Millis = 200;
const RESTART_MS: Millis = 300;

/** A kubelet under its unit, as an agent sees it: it runs on a copy of the effective file, and ends again and again where that is fatal. */
export class PlayedKubelet {
  readonly #deps: PlayedKubeletDeps;
  #startedOn: string | undefined;
  #healthy = false;
  #stopTimer: () => void = () => {};
  /** Each start and each stop is one: what an older one still does counts no more. */
  #life = 0;
  starts = 0;

  constructor(deps: PlayedKubeletDeps) {
    this.#deps = deps;
  }

  get healthy(): boolean {
    return this.#healthy;
  }

  /** As `kubelet-sync` does after each start of the agent: started where it is not, restarted where the file differs from the one it was started on. */
  async sync(): Promise<void> {
    const config = await this.#deps.read();
    if (config === undefined || sha256(config) === this.#startedOn) return;
    if (this.#startedOn !== undefined) await this.#note({ result: 'success', code: 'killed', status: 'TERM' });
    await this.#start();
  }

  stop(): void {
    this.#life += 1;
    this.#stopTimer();
    this.#healthy = false;
  }

  async #start(): Promise<void> {
    this.stop();
    const life = this.#life;
    const { read, fatal, clock, onState } = this.#deps;
    const config = await read();
    if (config === undefined || life !== this.#life) return;
    this.#startedOn = sha256(config);
    this.starts += 1;
    if (fatal(config) === undefined) {
      this.#healthy = true;
      onState('up');
    } else this.#stopTimer = clock.after(DIES_AFTER_MS, () => void this.#die(life));
  }

  async #die(life: number): Promise<void> {
    if (life !== this.#life) return;
    this.#deps.onState('crashed');
    await this.#note({ result: 'exit-code', code: 'exited', status: '1' });
    if (life === this.#life) this.#stopTimer = this.#deps.clock.after(RESTART_MS, () => void this.#start());
  }

  #note(ended: Ended): Promise<void> {
    return this.#deps.appendExit(exitLine(ended, this.#deps.clock.now(), this.#startedOn ?? '-'));
  }
}
