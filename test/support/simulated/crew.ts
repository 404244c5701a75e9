import type { Millis } from '../../../base/clock.ts';
import type { Interceptor, SeenCall } from './intercepted.ts';
import type { SimProcess, SimWorld } from './sim-world.ts';

/** Longer than any backoff of a watch and any lag: after that a cache is as the server again. */
const CATCH_UP: Millis = 120_000;
/** The old process has ended by then, and what it sent late is there. */
const HAND_OVER: Millis = 30_000;
/** What a cache may be behind with when all is well. */
const BEHIND: Millis = 2_000;

/** Who watches what the controllers do, and may have to excuse it. */
export interface Watcher {
  readonly watching: Interceptor;
  unknownSince: () => Millis;
  rivals: () => boolean;
}

/** Who runs the controller: one process, or for a while two; and what they can know by now. */
export class Crew {
  readonly calls: SeenCall[] = [];
  readonly #world: SimWorld;
  readonly #invariants: Watcher;
  #leader: { process: SimProcess; lateMs: Millis } | undefined;
  #rivalsUntil: Millis = 0;
  #unwellSince: Millis = Infinity;
  #wellAt: Millis = 0;

  constructor(world: SimWorld, invariants: Watcher) {
    this.#world = world;
    this.#invariants = invariants;
    invariants.unknownSince = () => this.#unknownSince();
    invariants.rivals = () => world.clock.now() < this.#rivalsUntil;
  }

  get process(): SimProcess | undefined {
    return this.#leader?.process;
  }

  start(): void {
    const leader = { lateMs: 0 };
    const late = async (call: SeenCall): Promise<void> => {
      const isWrite = call.verb !== 'get' && call.verb !== 'list';
      if (isWrite && leader.lateMs > 0) await this.#world.clock.sleep(leader.lateMs);
    };
    const by: Interceptor = {
      call: (call, pass) => {
        if (call.resource === 'events') return Promise.resolve(call.body);
        this.calls.push(call);
        return this.#invariants.watching.call(call, async () => {
          await late(call);
          return pass();
        });
      },
    };
    this.#leader = Object.assign(leader, { process: this.#world.start(by) });
  }

  /** Another process takes over while the old one still ends. @param lateMs - what the old one has sent is on its way for so long */
  replace(lateMs: Millis): string {
    const now = this.#world.clock.now();
    const old = this.#leader;
    if (old !== undefined) {
      old.lateMs = lateMs;
      void old.process.stop();
    }
    this.#rivalsUntil = now + HAND_OVER;
    this.start();
    return `late by ${Math.round(lateMs)}`;
  }

  troubled(): void {
    if (this.#unwellSince === Infinity && this.#world.clock.now() - this.#wellAt >= CATCH_UP) this.#unwellSince = this.#world.clock.now();
    this.#wellAt = Infinity;
    this.#unwellSince = Math.min(this.#unwellSince, this.#world.clock.now());
  }

  well(): void {
    if (this.#wellAt === Infinity) this.#wellAt = this.#world.clock.now();
  }

  /** In trouble for a moment. */
  shaken(): void {
    const was = this.#wellAt;
    this.troubled();
    if (was !== Infinity) this.well();
  }

  #unknownSince(): Millis {
    const now = this.#world.clock.now();
    if (this.#wellAt !== Infinity && now - this.#wellAt >= CATCH_UP) this.#unwellSince = Infinity;
    return Math.min(now - BEHIND, this.#unwellSince);
  }
}
