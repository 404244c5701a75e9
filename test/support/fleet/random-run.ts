import assert from 'node:assert/strict';
import { nodeConfigs, type NodeConfig } from '../../../agent/status/node-config.ts';
import type { Source } from '../../../agent/checkpoint/source.ts';
import type { Change } from '../../../apiserver/storage/watch-log.ts';
import type { Millis } from '../../../base/clock.ts';
import { seededRandom } from '../../../base/random.ts';
import { CLUSTER_WAIT } from '../../../controllers/rollout/cluster/budget.ts';
import type { NodeConfigRollout, RolloutSpec, RolloutStatus } from '../../../controllers/rollout/types.ts';
import { nodes } from '../../../kube/api/object.ts';
import { ApiError, TransportError } from '../../../kube/client/errors.ts';
import type { LocalProcess } from '../local-process.ts';
import type { Interceptor } from '../simulated/intercepted.ts';
import { FleetWorld } from './fleet-world.ts';
import type { Behaviour } from './light-agents.ts';

const MINUTE: Millis = 60_000;
const WRITES: ReadonlySet<string> = new Set(['create', 'replace', 'patch', 'delete']);
const BAD = '"maxPods":13';

type Later = { at: Millis; do: () => Promise<unknown> };

/** A controller: killed, it sends nothing any more but what is under way. */
type Life = { process: LocalProcess; isDead: boolean };

/**
 * One random fleet with one or two rollouts, and perhaps a budget over both: first a good configuration, then a bad one for some of its nodes, with the real controller on the
 * embedded API server. Each write is judged by what the server stores: how many nodes have not come to rest. Meanwhile controllers are killed at any write, which may still
 * arrive later, and two lead; calls are refused, late or lost; watches are behind by up to 15 s, each by itself; the wall clock is set; nodes come, go and flap; people pause and retry.
 */
export class RandomRun {
  readonly #seed: number;
  readonly #random: () => number;
  readonly #said: string[] = [];
  readonly #rollouts: readonly string[];
  readonly #budget: number | undefined;
  readonly #specs = new Map<string, RolloutSpec & { maxUnavailable: number; failureBudget: number }>();
  readonly #pools = new Map<string, string>();
  readonly #fates = new Map<string, Behaviour>();
  /** Nodes that were assigned something or cordoned, and have not come to rest since; by what is still to come. */
  readonly #busy = new Map<string, Set<'drain' | 'config'>>();
  readonly #assigned = new Map<string, string | undefined>();
  readonly #touched = new Map<string, Set<string>>();
  readonly #lives: Life[] = [];
  readonly #ended: Promise<unknown>[] = [];
  readonly #back: Later[] = [];
  #problem: string | undefined;
  #isRough = false;
  #tries = 0;
  #jumpedAt = -Infinity;
  #joined = 0;
  #world!: FleetWorld;
  writes = 0;

  constructor(seed: number) {
    this.#seed = seed;
    this.#random = seededRandom(seed);
    this.#budget = this.#random() < 0.4 ? this.#pick([1, 2]) : undefined;
    this.#rollouts = this.#pick([['web'], ['web', 'db']]);
  }

  async play(): Promise<void> {
    await using world = await FleetWorld.start(this.#budget === undefined ? {} : { maxUnavailable: this.#budget });
    this.#world = world;
    this.#lives.push(this.#life(world.controller, (between) => (world.between = between)));
    world.lag = () => (this.#isRough && this.#random() < 0.05 ? this.#random() * 15_000 : 0);
    world.api.hooks.storage.onChange((kind, change) => this.#see(kind, change));
    try {
      await this.#rollOut();
    } finally {
      for (const life of this.#lives) this.#ended.push(life.process.stop());
      await world.clock.advance(60_000);
      await Promise.all(this.#ended);
    }
  }

  async #rollOut(): Promise<void> {
    const world = this.#world;
    const share = this.#pick([0, 0.3, 1]);
    const fateOf = (): Behaviour => (this.#random() < share ? this.#pick(['rejects', 'condemns', 'hangs'] as const) : 'good');
    for (const size = 2 + this.#random() * 6; this.#joined < size;) await this.#join(fateOf);
    world.agents.bad = (text, node) => (text.includes(BAD) ? this.#fates.get(node) : undefined);
    for (const name of this.#rollouts) {
      const spec = this.#spec(name);
      this.#specs.set(name, spec);
      this.#say(`rollout ${name}: ${JSON.stringify(spec)}, at most ${this.#budget ?? 'any number'} of the whole cluster`);
      await world.payload({ maxPods: 100 }, name);
      await world.roll(name, spec);
    }
    await this.#rough(true);
    await this.#rest(['Complete']);
    this.#say('bad configurations are published');
    for (const name of this.#rollouts) await world.payload({ maxPods: 13 }, name);
    this.#touched.clear();
    await this.#rough(false);
    await this.#rest(['Complete', 'RolledBack']);
    for (const name of this.#rollouts) {
      const { phase, revision = '' } = this.#status(name);
      const left = this.#of(name).filter((node) => this.#assigned.get(node) === revision);
      if (phase === 'RolledBack' && left.length > 0) this.#fail(`${name}: ${left.join(', ')} still assigned what was taken back`);
      const { maxUnavailable, failureBudget } = this.#specs.get(name) ?? assert.fail();
      const failing = [...(this.#touched.get(revision) ?? [])].filter((node) => this.#fates.get(node) !== 'good');
      if (this.#tries === 0 && failing.length > maxUnavailable + failureBudget)
        this.#fail(`${name}: ${failing.join(', ')} were assigned what fails there`);
    }
    const cordoned = [...this.#busy].flatMap(([node, of]) => (of.has('drain') ? [node] : []));
    if (cordoned.length > 0) this.#fail(`${cordoned.join(', ')} not given back`);
  }

  #spec(pool: string): RolloutSpec & { maxUnavailable: number; failureBudget: number } {
    return {
      nodeSelector: { matchLabels: { pool } },
      configMap: { namespace: 'dkc-system', name: pool, kubeletConfigKey: 'kubelet' },
      steps: this.#pick([[{ nodes: '100%' }], [{ nodes: 1, hold: '5m' }, { nodes: '50%' }, { nodes: '100%' }]]),
      maxUnavailable: this.#pick([1, 2, 3]),
      failureBudget: this.#pick([1, 2]),
      nodeDeadline: '5m',
      drain: this.#pick(['Never', 'Always'] as const),
      ...(this.#random() < 0.3 ? { spreadBy: 'zone' } : {}),
    };
  }

  /** Some minutes in which everything may happen. */
  async #rough(isGood: boolean): Promise<void> {
    const { clock } = this.#world;
    this.#isRough = true;
    for (let moments = 0; moments < 40; moments++) {
      await this.#happen(isGood);
      await clock.advance(this.#pick([1_000, 5_000, 20_000]));
      for (const one of this.#back.filter(({ at }) => at <= clock.monotonic())) await this.#undo(one);
    }
    this.#isRough = false;
    while (this.#back.length > 0) await this.#undo(this.#back[0] ?? assert.fail());
    while (this.#lives.length > 1) this.#end(this.#lives[1] ?? assert.fail());
    for (const name of this.#rollouts) if (this.#of(name).length === 0) await this.#join(() => 'good', name);
  }

  async #happen(isGood: boolean): Promise<void> {
    const world = this.#world;
    const dice = this.#random();
    const node = this.#pick([...this.#pools.keys()]);
    const name = this.#pick(this.#rollouts);
    // A process that starts after the clock was set forward knows nothing of it: until what was in flight then is settled, none does.
    const hasJumped = world.clock.monotonic() - this.#jumpedAt < 5 * MINUTE;
    const later = (act: () => Promise<unknown>): void => void this.#back.push({ at: world.clock.monotonic() + 2 * MINUTE, do: act });
    if (dice < 0.05 && this.#pools.size > 2) {
      this.#say(`${node} goes`);
      this.#pools.delete(node);
      for (const resource of [nodes, nodeConfigs]) await world.client.delete(resource, { name: node }).catch(() => {});
    } else if (dice < 0.12) await this.#join(() => 'good');
    else if (dice < 0.2 && isGood) {
      this.#say(`${node} is not Ready for a while`);
      await world.setReady(node, false);
      later(async () => this.#pools.has(node) && (await world.setReady(node, true)));
    } else if (dice < 0.24) {
      const ms = this.#pick([-600_000, -5_000, 5_000, 600_000]);
      this.#say(`the wall clock is set by ${ms / 1_000} s`);
      world.clock.jump(ms);
      if (ms > MINUTE) this.#jumpedAt = world.clock.monotonic();
    } else if (dice < 0.34 && this.#lives.length === 1 && !hasJumped) this.#start();
    else if (dice < 0.4 && !hasJumped) this.#end(this.#pick(this.#lives));
    else if (dice < 0.44) {
      await world.edit(name, { paused: true });
      later(() => world.edit(name, { paused: false }));
    } else if (dice < 0.5 && this.#status(name).stopped !== undefined) {
      this.#say(`${name} is tried again`);
      await world.edit(name, { attempt: 1 + (this.#tries += 1) });
    }
  }

  async #undo(one: Later): Promise<void> {
    this.#back.splice(this.#back.indexOf(one), 1);
    await one.do();
  }

  async #join(fateOf: () => Behaviour, pool = this.#pick(this.#rollouts)): Promise<void> {
    const name = `n${this.#joined++}`;
    this.#say(`${name} comes`);
    this.#pools.set(name, pool);
    this.#fates.set(name, fateOf());
    await this.#world.addNode(name, { labels: { pool, zone: this.#pick(['a', 'b']) } });
  }

  #start(): void {
    this.#say('another controller leads');
    const start = (between: Interceptor['call']): void => void (process = this.#world.startController(between));
    let process: LocalProcess | undefined;
    const life = this.#life(undefined, start);
    life.process = process ?? assert.fail();
    this.#lives.push(life);
  }

  /** As by SIGKILL; another one takes its place at once. */
  #end(life: Life): void {
    this.#say('a controller is killed');
    life.isDead = true;
    this.#lives.splice(this.#lives.indexOf(life), 1);
    this.#ended.push(life.process.stop());
    if (this.#lives.length === 0) this.#start();
  }

  /** A process whose calls may go wrong. */
  #life(process: LocalProcess | undefined, use: (between: Interceptor['call']) => unknown): Life {
    const life = { process: process as LocalProcess, isDead: false };
    const { clock } = this.#world;
    const gone = (): Promise<never> => Promise.reject(new Error('this process was killed'));
    use(async (call, pass) => {
      if (life.isDead) return gone();
      if (!WRITES.has(call.verb) || call.resource.startsWith('events')) return pass();
      this.writes += 1;
      const about = { method: call.verb, path: call.resource, host: 'the test' };
      const dice = this.#isRough ? this.#random() : 1;
      if (dice < 0.16) this.#say(`${call.verb} ${call.resource} ${call.key} goes wrong (${dice.toFixed(2)})`);
      if (dice < 0.02 && clock.monotonic() - this.#jumpedAt > 5 * MINUTE) {
        this.#end(life);
        if (dice < 0.01) await clock.sleep(this.#random() * 20_000).then(pass).catch(() => {}); // prettier-ignore
        return gone();
      }
      if (dice < 0.05) throw new ApiError(about, { code: 500, reason: 'InternalError', message: 'a fault' });
      if (dice < 0.08) throw new ApiError(about, { code: 409, reason: 'Conflict', message: 'a fault' });
      if (dice > 0.12 && dice < 0.16) await clock.sleep(this.#random() * 10_000);
      const answer = await pass();
      if (dice < 0.12) throw new TransportError(about, 'cut', { hint: 'a fault' });
      return answer;
    });
    return life;
  }

  /** What the API server has stored. */
  #see(kind: string, { key, object, type }: Pick<Change, 'key' | 'object' | 'type'>): void {
    if (kind === '/nodes') {
      const drained = object.metadata.annotations?.['dkc.dev/drained-by'];
      this.#mark(key, 'drain', type !== 'DELETED' && drained !== undefined, true);
    }
    if (kind !== 'dkc.dev/nodeconfigs') return;
    const { metadata, spec, status } = object as NodeConfig;
    const wanted = type === 'DELETED' ? undefined : (spec?.configMap as Source | undefined)?.name;
    const isNews = wanted !== this.#assigned.get(key);
    if (isNews && wanted !== undefined) this.#touched.set(wanted, (this.#touched.get(wanted) ?? new Set()).add(key));
    const isKnown = this.#assigned.has(key) || wanted !== undefined;
    if (isKnown) this.#assigned.set(key, wanted);
    const isOn = (source?: { configMap: Source }): boolean => source?.configMap.name === wanted;
    const isProved = status?.observedGeneration === metadata.generation && isOn(status?.active) && isOn(status?.lastKnownGood);
    this.#mark(key, 'config', type !== 'DELETED' && isKnown && !isProved, isNews);
  }

  #mark(node: string, what: 'drain' | 'config', isBusy: boolean, isTouch: boolean): void {
    const of = this.#busy.get(node) ?? new Set();
    const wasBusy = of.size > 0;
    if (isBusy) this.#busy.set(node, of.add(what));
    else if (of.delete(what) && of.size === 0) this.#busy.delete(node);
    // What an agent reports by itself is no touch.
    if (wasBusy || !isBusy || !isTouch) return;
    this.#say(`${node} is touched: ${what}`);
    const pool = this.#pools.get(node) ?? '';
    const ofPool = [...this.#busy.keys()].filter((one) => this.#pools.get(one) === pool);
    const most = this.#specs.get(pool)?.maxUnavailable ?? Infinity;
    if (ofPool.length > most) this.#problem ??= `${ofPool.join(', ')} of ${pool} are unavailable at once, ${most} may be`;
    // On the way back one at a time goes on, whatever else is down.
    const ofAll = [...this.#busy.keys()].filter((one) => this.#pools.has(one));
    const isAlone = ofPool.length === 1 && this.#status(pool).stopped !== undefined;
    if (ofAll.length > (this.#budget ?? Infinity) && !isAlone)
      this.#problem ??= `${ofAll.join(', ')} of the cluster are unavailable at once, ${this.#budget} may be`;
  }

  /** Nothing goes wrong any more: until each phase is one of these, and what it works on has come to rest. */
  async #rest(phases: readonly string[]): Promise<void> {
    for (let passed = 0; ; passed += 5_000) {
      if (this.#problem !== undefined) this.#fail(this.#problem);
      const all = this.#rollouts.map((name) => this.#status(name));
      // Who waits for the place of a node that has failed in another rollout waits for a person.
      const isHeld = ({ waitsFor }: RolloutStatus): boolean =>
        waitsFor === CLUSTER_WAIT && all.some(({ failures }) => (failures ?? []).length > 0);
      const isDone = (one: RolloutStatus): boolean => phases.includes(one.phase ?? '') || isHeld(one);
      const isDraining = [...this.#busy.values()].some((of) => of.has('drain'));
      if (all.every(isDone) && !isDraining) return;
      if (passed > 6 * 60 * MINUTE) this.#fail(`it never comes to ${phases.join(' or ')}`);
      await this.#world.clock.advance(5_000);
    }
  }

  /** As stored. */
  #status(name: string): RolloutStatus {
    const stored: NodeConfigRollout | undefined = this.#world.api.hooks.storage.get('dkc.dev/nodeconfigrollouts', name);
    return stored?.status ?? {};
  }

  #of(pool: string): string[] {
    return [...this.#pools].flatMap(([node, of]) => (of === pool ? [node] : []));
  }

  #pick<T>(of: readonly T[]): T {
    return of[Math.floor(this.#random() * of.length)] as T;
  }

  #say(what: string): void {
    this.#said.push(`${(this.#world.clock.monotonic() / 1_000).toFixed(1).padStart(8)} s  ${what}`);
  }

  #fail(problem: string): never {
    const again = `SEED=${this.#seed} DKC_ROLLOUT_RUNS=1 node --test test/suites/endurance/rollouts.test.ts`;
    const statuses = this.#rollouts.map((name) => JSON.stringify(this.#status(name)));
    throw new assert.AssertionError({
      message: `seed ${this.#seed}: ${problem}\n${this.#said.join('\n')}\n${statuses.join('\n')}\nagain: ${again}`,
    });
  }
}
