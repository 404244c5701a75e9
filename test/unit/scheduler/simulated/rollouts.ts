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
  rooms: Rooms;
  /** How often a pod was to be made that stands for one. */
  mirrors: number;
}

/** Rooms that were kept for pods of StatefulSets and of DaemonSets, and those of the latter that their successors came into. */
export interface Rooms {
  ofStatefulSets: number;
  ofDaemonSets: number;
  usedByDaemons: number;
}

export const noRooms: Rooms = { ofStatefulSets: 0, ofDaemonSets: 0, usedByDaemons: 0 };

export function plus(a: Rooms, b: Rooms): Rooms {
  return {
    ofStatefulSets: a.ofStatefulSets + b.ofStatefulSets,
    ofDaemonSets: a.ofDaemonSets + b.ofDaemonSets,
    usedByDaemons: a.usedByDaemons + b.usedByDaemons,
  };
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

class Rollouts {
  readonly did: string[] = [];
  isCalm = false;
  mirrors = 0;
  /** Told of. */
  readonly rooms: Rooms = { ...noRooms };
  readonly #world: SchedulerWorld;
  readonly #stage: Stage;
  readonly #random: Random;
  readonly #hasDaemons: boolean;
  #pods = 0;
  #nodes = 0;
  #sets = 0;
  #daemons = 0;

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
        this.#count(call.body as { reason?: string; involvedObject?: { kind?: string; name?: string } });
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
    await this.#pass(3_000);
    this.#addPods();
    for (let step = 0; step < STEPS; step++) {
      await this.#step();
      await this.#pass(this.#random() < 0.1 ? 40_000 : this.#random() * 4_000);
    }
  }

  audit(when: string): string[] {
    const { api, clock, parts } = this.#world;
    return parts === undefined ? ['there is no scheduler'] : audit({ api, clock, parts }).map((problem) => `${when}: ${problem}`);
  }

  #count({ reason, involvedObject: of }: { reason?: string; involvedObject?: { kind?: string; name?: string } }): void {
    if (reason === 'ReservationCreated') this.rooms[of?.kind === 'DaemonSet' ? 'ofDaemonSets' : 'ofStatefulSets'] += 1;
    if (reason === 'ReservationUsed' && of?.name?.startsWith('daemon-') === true) this.rooms.usedByDaemons += 1;
  }

  standing(): string[] {
    const { objects } = this.#world.api.hooks.storage.list('/pods');
    return objects.filter(({ metadata }) => metadata.labels?.[PLACEHOLDER_LABEL] !== undefined).map(({ metadata }) => metadata.name ?? '');
  }

  async #step(): Promise<void> {
    if (this.#hasDaemons && this.#random() < 0.4) return this.#daemonStep();
    const dice = this.#random();
    const set = this.#pick(this.#names('apps/statefulsets'));
    const node = this.#pick(this.#names('/nodes'));
    const one = this.#pick(this.#names('/pods'));
    if (dice < 0.4 && set !== undefined) await this.#roll(set);
    else if (dice < 0.5) this.#addPods();
    else if (dice < 0.58 && one !== undefined) await this.#say(`delete ${one}`, () => this.#stage.delete(one));
    else if (dice < 0.66 && set !== undefined) {
      const replicas = this.#int(4);
      await this.#say(`scale ${set} to ${replicas}`, () => this.#stage.scale(set, replicas));
    } else if (dice < 0.69 && set !== undefined)
      await this.#say(`delete ${set}`, () => this.#world.user.delete(statefulSets, { name: set, namespace: 'default' }));
    else if (dice < 0.73) this.#addSet();
    else if (dice < 0.8 && node !== undefined) {
      const unschedulable = this.#random() < 0.5;
      await this.#say(`${node} unschedulable=${unschedulable}`, () => this.#world.patchNode(node, { spec: { unschedulable } }));
    } else if (dice < 0.83 && node !== undefined)
      await this.#say(`remove ${node}`, () => this.#world.user.delete(nodeKind, { name: node }));
    else if (dice < 0.87) this.#addNode();
    else if (dice < 0.94) await this.#say('cut', () => this.#world.api.hooks.dropConnections());
    else
      await this.#say('cut and forget', () => {
        this.#world.api.hooks.compact();
        this.#world.api.hooks.dropConnections();
      });
  }

  async #roll(set: string, kind = statefulSets): Promise<void> {
    const image = `v${this.#int(1_000)}`;
    const cpu = this.#random() < 0.7 ? undefined : `${1 + this.#int(3)}`;
    const container = { image, ...(cpu === undefined ? {} : { resources: { requests: { cpu } } }) };
    await this.#say(`roll ${set} ${image} ${cpu ?? ''}`, () => this.#stage.roll(set, container, kind));
  }

  async #daemonStep(): Promise<void> {
    const dice = this.#random();
    const set = this.#pick(this.#names('apps/daemonsets'));
    const node = this.#pick(this.#names('/nodes'));
    if (set === undefined || dice < 0.08) this.#addDaemons();
    else if (dice < 0.65) await this.#roll(set, daemonSets);
    else if (dice < 0.75) {
      const one = this.#pick(this.#names('/pods').filter((name) => name.startsWith(`${set}-`)));
      if (one !== undefined) await this.#say(`delete ${one}`, () => this.#stage.delete(one));
    } else if (dice < 0.83) {
      const updateStrategy = this.#strategy();
      await this.#say(`${set} ${JSON.stringify(updateStrategy)}`, () => this.#stage.changeDaemons(set, { updateStrategy }));
    } else if (dice < 0.89) {
      const nodeSelector = { side: this.#random() < 0.5 ? 'left' : null };
      const change = { template: { spec: { nodeSelector } } };
      await this.#say(`${set} ${JSON.stringify(nodeSelector)}`, () => this.#stage.changeDaemons(set, change));
    } else if (dice < 0.95 && node !== undefined) {
      const labels = { side: this.#side() };
      await this.#say(`${node} ${JSON.stringify(labels)}`, () => this.#world.patchNode(node, { metadata: { labels } }));
    } else await this.#say(`delete ${set}`, () => this.#world.user.delete(daemonSets, { name: set, namespace: 'default' }));
  }

  #addDaemons(): void {
    const name = `daemon-${this.#daemons++}`;
    const cpu = 1 + this.#int(2);
    const strategy = this.#strategy();
    this.did.push(`${this.#world.seconds()}s add ${name} cpu=${cpu} ${JSON.stringify(strategy)}`);
    this.#stage.addDaemons(name, `${cpu}`, strategy);
  }

  #strategy(): object {
    const dice = this.#random();
    if (dice < 0.1) return { type: 'OnDelete', rollingUpdate: null };
    const surges = dice < 0.35;
    return { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: surges ? 0 : 1 + this.#int(3), maxSurge: surges ? 1 : 0 } };
  }

  readonly #side = (): string => (this.#random() < 0.7 ? 'left' : 'right');

  #addPods(): void {
    for (let n = 1 + this.#int(4); n > 0; n--) {
      const name = `p-${this.#pods++}`;
      const priority = this.#random() < 0.2 ? 10 : 0;
      const cpu = 1 + this.#int(2);
      this.did.push(`${this.#world.seconds()}s add ${name} cpu=${cpu} priority=${priority}`);
      this.#stage.add(pod(name).cpu(`${cpu}`).priority(priority));
    }
  }

  #addSet(): void {
    const name = `set-${this.#sets++}`;
    const [replicas, cpu] = [1 + this.#int(3), 1 + this.#int(2)];
    const podManagementPolicy = this.#random() < 0.5 ? 'Parallel' : 'OrderedReady';
    this.did.push(`${this.#world.seconds()}s add ${name} replicas=${replicas} cpu=${cpu} ${podManagementPolicy}`);
    this.#stage.addSet(name, `${cpu}`, { replicas, podManagementPolicy });
  }

  #addNode(): void {
    const name = `n${this.#nodes++}`;
    this.did.push(`${this.#world.seconds()}s add ${name}`);
    this.#world.addNodes({ name, allocatable: { cpu: '4' }, ...(this.#hasDaemons ? { labels: { side: this.#side() } } : {}) });
  }

  async #say(what: string, act: () => unknown): Promise<void> {
    this.did.push(`${this.#world.seconds()}s ${what}`);
    await act();
  }

  async #pass(ms: number): Promise<void> {
    await this.#world.clock.advance(ms);
  }

  #names(kind: string): string[] {
    return this.#world.api.hooks.storage
      .list(kind)
      .objects.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ metadata }) => metadata.name ?? '');
  }

  #int(below: number): number {
    return Math.floor(this.#random() * below);
  }

  #pick<T>(from: readonly T[]): T | undefined {
    return from[this.#int(from.length)];
  }
}
