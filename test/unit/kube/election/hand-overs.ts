import { silentLog } from '../../../../base/log.ts';
import type { KubeObject } from '../../../../kube/api/object.ts';
import { configMaps } from '../../../../kube/api/object.ts';
import { LeaderElection } from '../../../../kube/election/election.ts';
import { NotLeaderError } from '../../../../kube/election/fence.ts';
import { holderOf, type Lease } from '../../../../kube/election/lease.ts';
import { rules, type Rules } from '../../../../kube/election/next.ts';
import { ModelApi, modelClient } from './model-api.ts';
import { Machine, World } from './simulation.ts';

const HOUR = 3_600_000;

/** What became of a simulated life with many hand-overs. */
export interface Life {
  handOvers: number;
  /** What must never be; each says when and who. The first one ends the life. */
  breaches: string[];
  /** After the last disturbance was over, somebody led and wrote. */
  recovered: boolean;
}

interface Process {
  machine: Machine;
  election: LeaderElection;
  identity: string;
  asked: AbortController;
}

type Disturb = (process: Process, ms: number) => void;

/** Three participants and everything that can happen to them. The same seed gives the same life. */
export class HandOvers {
  readonly #world: World;
  readonly #api = new ModelApi();
  readonly #rules: Rules;
  readonly #only: string | undefined;
  readonly #processes: (Process | undefined)[] = [undefined, undefined, undefined];
  readonly #breaches: string[] = [];
  /** Who wrote in which epoch, in the order of their first writes. */
  readonly #writers = new Map<number, string>();
  #writes = 0;
  #lastEpoch = -1;
  #started = 0;
  #isCalm = false;
  #clockSetAt = -HOUR;

  /** @param options - `weaker` rules, to see them found out; `only` this disturbance */
  constructor(seed: number, { weaker = {}, only }: { weaker?: Partial<Rules>; only?: string } = {}) {
    this.#world = new World(seed);
    this.#rules = { ...rules, ...weaker };
    this.#only = only;
  }

  /** Until the lease was handed over so often; then everything is mended, and a leader has to be there within two minutes. */
  async live(handOvers: number): Promise<Life> {
    const world = this.#world;
    this.#api.create('ConfigMap', { metadata: { name: 'target' } });
    this.#api.onStored = (kind, object) => kind === 'ConfigMap' && this.#audit(object);
    for (const slot of this.#processes.keys()) this.#start(slot);
    this.#disturbLater();
    await world.run(() => this.#writers.size > handOvers || this.#breaches.length > 0 || world.now > handOvers * HOUR);
    const reached = this.#writers.size - 1;
    this.#isCalm = true;
    const [calmAt, writes] = [world.now, this.#writes];
    // The longest disturbance first runs out.
    await world.run(() => world.now > calmAt + 240_000 || this.#breaches.length > 0);
    for (const process of this.#processes) if (process !== undefined) process.machine.isDead = true;
    return { handOvers: reached, breaches: this.#breaches, recovered: this.#writes > writes + 60 };
  }

  #start(slot: number): void {
    const world = this.#world;
    const identity = `process-${(this.#started += 1)}`;
    const machine = new Machine(world, { skewMs: world.between(-12, 12) * HOUR, rate: world.between(0.999, 1.001) });
    const client = modelClient(world, machine, this.#api);
    const parts = { clock: machine, random: world.random, log: silentLog, rules: this.#rules };
    const election = new LeaderElection({ client, lease: { namespace: 'test', name: 'lease' }, identity, ...parts });
    const process = { machine, election, identity, asked: new AbortController() };
    this.#processes[slot] = process;
    void election.run(process.asked.signal).then(() => this.#startAnew(slot, process));
    void election.whenLeading().then((led) => (led ? this.#writeOn(process, client) : undefined));
  }

  #startAnew(slot: number, process: Process): void {
    process.machine.isDead = true;
    this.#world.after(this.#world.between(10, 5_000), () => this.#processes[slot] === process && this.#start(slot));
  }

  /** What a controller does: reads, decides, writes over the version it read. */
  async #writeOn({ election, machine, identity }: Process, client: ReturnType<typeof modelClient>): Promise<void> {
    const data = { epoch: String(election.epoch), identity };
    for (let n = 0; ; n++) {
      try {
        const read = await client.get<KubeObject>(configMaps, { name: 'target' });
        await election.write((signal) => {
          const holder = this.#holder();
          if (holder !== identity) this.#breach(`${identity} was sure to lead, but the lease was held by ${holder}`);
          return client.replace(configMaps, { ...read, data: { ...data, n: String(n) } }, { signal, timeoutMs: 3_000 });
        });
      } catch (error) {
        if (error instanceof NotLeaderError) return;
      }
      await machine.sleep(this.#world.between(100, 1_500));
    }
  }

  #holder(): string {
    const lease: Lease | undefined = this.#api.objects.get('Lease');
    return lease === undefined ? '' : holderOf(lease);
  }

  #audit(object: KubeObject): void {
    const { epoch: written, identity } = object['data'] as { epoch: string; identity: string };
    const epoch = Number(written);
    this.#writes += 1;
    if (epoch < this.#lastEpoch) this.#breach(`${identity} of epoch ${epoch} wrote in ${this.#lastEpoch}`);
    const writer = this.#writers.get(epoch) ?? identity;
    if (writer !== identity) this.#breach(`${writer} and ${identity} both wrote in epoch ${epoch}`);
    this.#writers.set(epoch, identity);
    this.#lastEpoch = Math.max(this.#lastEpoch, epoch);
  }

  #breach(text: string): void {
    this.#breaches.push(`at ${this.#world.now} ${text}`);
  }

  #disturbLater(): void {
    const world = this.#world;
    world.after(world.between(1_000, 40_000), () => {
      if (this.#isCalm) return;
      const names = Object.keys(this.#disturbances);
      const disturb = this.#disturbances[this.#only ?? names[Math.floor(world.between(0, names.length))] ?? ''];
      // Mostly whoever leads: the others are only waiting.
      const holder = this.#holder();
      const leading = world.random() < 0.8 ? this.#processes.find((process) => process?.identity === holder) : undefined;
      const hit = leading ?? this.#processes[Math.floor(world.between(0, 3))];
      const ms = world.random() < 0.5 ? world.between(10, 5_000) : world.between(5_000, 60_000);
      if (hit !== undefined && !hit.machine.isDead) disturb?.(hit, ms);
      this.#disturbLater();
    });
  }

  readonly #disturbances: Readonly<Record<string, Disturb>> = {
    kill: (process) => this.#startAnew(this.#processes.indexOf(process), process),
    'ask to end': ({ asked }) => asked.abort(),
    stop: ({ machine }, ms) => machine.halt(ms, false),
    suspend: ({ machine }, ms) => {
      // A clock set back and then, before the next renewal, a suspension: no clock is left to tell of it.
      if (this.#world.now - this.#clockSetAt >= 20_000) machine.halt(ms, true);
    },
    'cut off': ({ machine }, ms) => {
      machine.isCutOff = true;
      this.#world.after(ms, () => (machine.isCutOff = false));
    },
    'set the clock': ({ machine }) => {
      // Set back while it is suspended: again no clock would be left to tell.
      if (machine.isHalted) return;
      machine.wallSkewMs += this.#world.between(-3, 3) * HOUR;
      this.#clockSetAt = this.#world.now;
    },
    trouble: (_process, ms) => {
      this.#api.trouble = 0.3;
      this.#world.after(ms, () => (this.#api.trouble = 0));
    },
  };
}
