import assert from 'node:assert/strict';
import { seededRandom, type Random } from '../../../../base/random.ts';
import { daemonSets, nodes as nodeKind, statefulSets } from '../../../../kube/api/object.ts';
import type { Interceptor } from '../../../support/simulated/intercepted.ts';
import { defaultSchedulerConfig } from '../../../../scheduler/config/config.ts';
import { PLACEHOLDER_LABEL } from '../../../../scheduler/placeholder/plan.ts';
import { pod } from '../builders.ts';
import { audit, Witness } from './audit.ts';
import { Stage } from './stage.ts';
import { faultKinds } from './sweep.ts';
import { SchedulerWorld } from './world.ts';

const STEPS = 14;
/** Longer than any time-out with its backoff. */
const CALM = 90_000;
/** Longer than any room is kept for somebody who never comes, or finds no place. */
const LONG = 15 * 60_000;

export interface Ran {
  problems: string[];
  /** What was done, for whoever looks for the reason. */
  did: string[];
  /** How often room was kept. */
  rooms: number;
  /** How often a pod was to be made that stands for one. */
  mirrors: number;
}

/** Kept beyond the calm: what is not given back then would not be for long, whoever waits for it. */
const forDaemons = { ...defaultSchedulerConfig.reservation, daemonSets: true, ttlMs: 5 * 60_000 };

/** Every third time there are DaemonSets as well, and room is kept for their pods. */
const hasDaemons = (seed: number): boolean => seed % 3 === 0;

/**
 * Sets are rolled while all sorts of things happen; then all is quiet, and everything must be counted right, nobody forgotten, and at last no room kept.
 * @param mirror - pods stand for kept room. @default false
 */
export async function rollouts(seed: number, mirror = false): Promise<Ran> {
  const random = seededRandom(seed);
  const pace = seededRandom(seed + 1);
  const world = await SchedulerWorld.make({
    seed,
    pace: { bindMs: () => 0, startMs: () => pace() * 1_500, endMs: () => pace() * 3_000 },
    config: {
      maxBackoffMs: 4_000,
      reservation: { ...(hasDaemons(seed) ? forDaemons : defaultSchedulerConfig.reservation), mirror, mirrorImage: 'pause:1' },
    },
  });
  const { problems } = new Witness(world.api, () => world.isLate);
  const run = new Rollouts(world, random, hasDaemons(seed));
  try {
    const process = world.start(run.faulty);
    await run.play();
    run.isCalm = true;
    await world.clock.advance(CALM);
    problems.push(...run.audit('when it is calm').slice(0, 5));
    await world.clock.advance(LONG);
    problems.push(...run.audit('long after').slice(0, 5));
    for (const { name, why } of world.parts?.reservations.list() ?? []) problems.push(`long after: room is kept for ${name}: ${why}`);
    for (const name of run.standing()) problems.push(`long after: ${name} stands for room`);
    if (problems.length > 0) problems.push(...process.failures().slice(-5));
  } catch (error) {
    problems.push(String(error));
  } finally {
    await world.stop();
  }
  return { problems, did: run.did, rooms: run.rooms, mirrors: run.mirrors };
}

/** What may happen, how often as compared with other acts, and in words. */
type Act = readonly [weight: number, what: string, act: () => unknown];

class Rollouts {
  readonly did: string[] = [];
  isCalm = false;
  mirrors = 0;
  /** Told of. */
  rooms = 0;
  readonly #world: SchedulerWorld;
  readonly #stage: Stage;
  readonly #random: Random;
  readonly #hasDaemons: boolean;
  #made = 0;

  constructor(world: SchedulerWorld, random: Random, hasDaemons: boolean) {
    this.#world = world;
    this.#stage = new Stage(world);
    this.#random = random;
    this.#hasDaemons = hasDaemons;
  }

  /** One call in ten goes wrong until it is calm. */
  readonly faulty: Interceptor = {
    call: async (call, pass) => {
      if (call.verb === 'create' && call.resource === 'pods') this.mirrors += 1;
      if (call.resource === 'events') {
        if ((call.body as { reason?: string }).reason === 'ReservationCreated') this.rooms += 1;
        return call.body;
      }
      if (this.isCalm || call.verb === 'list' || call.verb === 'raw' || this.#random() > 0.1) return pass();
      const kind = this.#pick(faultKinds.filter((one) => one.befalls(call)));
      if (kind === undefined) return pass();
      this.did.push(`${this.#world.seconds()}s ${call.verb} ${call.resource} ${call.key} meets ${kind.name}`);
      return kind.do(call, pass, this.#world);
    },
  };

  async play(): Promise<void> {
    for (let n = 0; n < 2 + this.#int(3); n++) this.#addNode();
    this.#addSet();
    if (this.#hasDaemons) this.#addDaemons();
    await this.#world.clock.advance(3_000);
    this.#addPods();
    for (let step = 0; step < STEPS; step++) {
      await this.#step();
      await this.#world.clock.advance(this.#random() < 0.1 ? 40_000 : this.#random() * 4_000);
    }
  }

  audit(when: string): string[] {
    const { api, clock, parts } = this.#world;
    return parts === undefined ? ['there is no scheduler'] : audit({ api, clock, parts }).map((problem) => `${when}: ${problem}`);
  }

  standing(): string[] {
    const { objects } = this.#world.api.hooks.storage.list('/pods');
    return objects.filter(({ metadata }) => metadata.labels?.[PLACEHOLDER_LABEL] !== undefined).map(({ metadata }) => metadata.name ?? '');
  }

  async #step(): Promise<void> {
    const { user, api } = this.#world;
    const image = `v${this.#int(1_000)}`;
    const cpu = `${1 + this.#int(3)}`;
    const container = { image, ...(this.#random() < 0.3 && { resources: { requests: { cpu } } }) };
    const replicas = this.#int(4);
    const about = (kind: string, weight: number, what: string, act: (name: string) => unknown): Act[] => {
      const name = this.#pick(this.#names(kind));
      return name === undefined ? [] : [[weight, `${what} ${name}`, () => act(name)]];
    };
    const [sets, daemons] = ['apps/statefulsets', 'apps/daemonsets'];
    const acts: Act[] = [
      ...about(sets, 40, `roll to ${JSON.stringify(container)}`, (name) => this.#stage.roll(name, container)),
      ...about(daemons, 30, `roll to ${JSON.stringify(container)}`, (name) => this.#stage.roll(name, container, daemonSets)),
      ...about('/pods', 10, 'delete', (name) => this.#stage.delete(name)),
      ...about(sets, 8, `scale to ${replicas}`, (name) => this.#stage.scale(name, replicas)),
      ...about(sets, 3, 'delete', (name) => user.delete(statefulSets, { name, namespace: 'default' })),
      ...about(daemons, 3, 'delete', (name) => user.delete(daemonSets, { name, namespace: 'default' })),
      ...about('/nodes', 7, 'cordon or uncordon', (name) => this.#world.patchNode(name, { spec: { unschedulable: this.#random() < 0.5 } })),
      ...about('/nodes', 3, 'remove', (name) => user.delete(nodeKind, { name })),
      [10, 'more pods', () => this.#addPods()],
      [4, 'a set', () => this.#addSet()],
      [this.#hasDaemons ? 4 : 0, 'a daemon set', () => this.#addDaemons()],
      [7, 'a node', () => this.#addNode()],
      [7, 'cut', () => api.hooks.dropConnections()],
      [6, 'forget, and cut', () => [api.hooks.compact(), api.hooks.dropConnections()]],
    ];
    let rest = this.#random() * acts.reduce((sum, [weight]) => sum + weight, 0);
    const [, what, act] = acts.find(([weight]) => (rest -= weight) < 0) ?? assert.fail('nothing happens');
    this.did.push(`${this.#world.seconds()}s ${what}`);
    await act();
  }

  #addDaemons(): void {
    const [maxSurge, maxUnavailable] = this.#random() < 0.3 ? [1, 0] : [0, 1 + this.#int(3)];
    const strategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable, maxSurge } };
    this.#stage.addDaemons(`daemon-${this.#made++}`, `${1 + this.#int(2)}`, strategy);
  }

  #addPods(): void {
    for (let n = 1 + this.#int(4); n > 0; n--) {
      const one = pod(`p-${this.#made++}`).cpu(`${1 + this.#int(2)}`);
      this.#stage.add(one.priority(this.#random() < 0.2 ? 10 : 0));
    }
  }

  #addSet(): void {
    const podManagementPolicy = this.#random() < 0.5 ? 'Parallel' : 'OrderedReady';
    this.#stage.addSet(`set-${this.#made++}`, `${1 + this.#int(2)}`, { replicas: 1 + this.#int(3), podManagementPolicy });
  }

  #addNode(): void {
    this.#world.addNodes({ name: `n${this.#made++}`, allocatable: { cpu: '4' } });
  }

  #names(kind: string): string[] {
    const { objects } = this.#world.api.hooks.storage.list(kind);
    return objects.filter(({ metadata }) => metadata.deletionTimestamp === undefined).map(({ metadata }) => metadata.name ?? '');
  }

  #int(below: number): number {
    return Math.floor(this.#random() * below);
  }

  #pick<T>(from: readonly T[]): T | undefined {
    return from[this.#int(from.length)];
  }
}
