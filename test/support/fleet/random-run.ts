import assert from 'node:assert/strict';
import type { Millis } from '../../../base/clock.ts';
import { seededRandom } from '../../../base/random.ts';
import type { Node } from '../../../controllers/rollout/drain/contract.ts';
import { CLUSTER_WAIT } from '../../../controllers/rollout/cluster/places.ts';
import { recordOf } from '../../../controllers/rollout/drain/record.ts';
import type { RolloutNode } from '../../../controllers/rollout/node.ts';
import { failureBudgetOf, maxUnavailableOf } from '../../../controllers/rollout/rules.ts';
import type { Count, RolloutSpec, RolloutStatus } from '../../../controllers/rollout/types.ts';
import { ModelController, type Sending, type Write } from './model-controller.ts';
import { ModelFleet, NotWritten, type Fate, type Kind, type ModelNode } from './model-fleet.ts';

const MINUTE: Millis = 60_000;
const HOUR: Millis = 60 * MINUTE;
const KINDS: readonly Kind[] = ['rollouts', 'configMaps', 'nodes', 'nodeConfigs'];
/** A request ends after this. */
const REQUEST_MS: Millis = 30_000;
/** A cache is never older than this, but for the time until the next look. */
const MAX_BEHIND_MS: Millis = 60_000;
/** The default of spec.nodeDeadline. */
const DEADLINE_MS: Millis = 15 * MINUTE;
/** Looks in one moment of rest before it counts as a loop. */
const MAX_LOOKS = 300;

interface Process {
  controller: ModelController;
  /** Looks that are under way. */
  looks: Map<string, { steps: Generator<Sending, boolean, Write>; next: IteratorResult<Sending, boolean>; since: Millis }>;
}

/**
 * One random fleet with one to three rollouts, and perhaps a budget over all of them: first a good configuration, then a bad one for some of its nodes, among everything that may happen meanwhile.
 * Writes are checked against what is true when the API server takes them, not by what the planner thought.
 *
 * | trouble | how |
 * | --- | --- |
 * | a controller is killed | before any write; the write may still arrive later |
 * | two lead | each looks at its own caches, their writes in any order |
 * | faults | refused, conflict, an answer that is lost |
 * | old caches | each kind is brought up to date separately, seldom |
 * | clocks | set forward and back, by seconds or hours |
 * | nodes | come, go, flap, are cordoned by somebody |
 * | people | pause, and try again what has stopped |
 */
export class RandomRun {
  readonly said: string[] = [];
  readonly #fleet: ModelFleet;
  readonly #random: () => number;
  readonly #seed: number;
  readonly #rollouts: readonly string[];
  /** Over all rollouts. */
  readonly #budget: Count | undefined;
  readonly #processes: Process[] = [];
  /** Writes of processes that are gone. */
  #late: { at: Millis; sending: Sending }[] = [];
  readonly #fates = new Map<string, Fate>();
  readonly #back: { at: Millis; do: () => void }[] = [];
  /** Nodes that were down when they were touched, and still are: they took no place, and who does not know them as down has none less. */
  readonly #touchedDown = new Set<string>();
  #added = 0;
  #jumped = -Infinity;
  writes = 0;

  constructor(seed: number) {
    this.#seed = seed;
    this.#fleet = new ModelFleet(seed);
    this.#random = this.#fleet.random;
    // Of numbers of its own: what a seed plays without a budget stays what it was.
    const random = seededRandom(seed * 7_919);
    const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
    this.#budget = random() < 0.4 ? pick([1, 1, 2, 3, '10%', '30%']) : undefined;
    const some = this.#random() < 0.3 ? ['web', 'db'] : ['web'];
    this.#rollouts = this.#budget === undefined ? some : pick([['web'], ['web', 'db'], ['web', 'db', 'api']]);
  }

  play(): void {
    const share = this.#pick([0, 0.05, 0.3, 1]);
    this.#fleet.fateOf = (content, node) => {
      if (content !== 'bad') return 'trusts';
      if (!this.#fates.has(node))
        this.#fates.set(node, this.#random() < share ? this.#pick(['rejects', 'condemns', 'hangs', 'goes down']) : 'trusts');
      return this.#fates.get(node) ?? 'trusts';
    };
    const size = 1 + Math.floor(this.#random() * 30);
    for (let at = 0; at < size; at++) this.#join();
    for (const name of this.#rollouts) {
      this.#fleet.publish('good', name);
      const spec = this.#spec(name);
      this.#say(`rollout ${name} of ${size} nodes: ${JSON.stringify(spec)}`);
      this.#fleet.roll(name, spec);
    }
    if (this.#budget !== undefined) this.#say(`at most ${this.#budget} of the whole cluster`);
    this.#start();
    this.#rough();
    this.#untilRest(['Complete']);
    const good = new Map(this.#rollouts.map((name) => [name, this.#fleet.rollout(name).status?.revision]));
    for (const name of this.#rollouts)
      this.#expect(this.#phase(name) === 'Complete', `${name}: a good configuration is ${this.#phase(name)}`);
    for (const name of this.#rollouts) this.#fleet.publish('bad', name);
    this.#say('bad configurations are published');
    this.#rough();
    this.#untilRest(['Complete', 'RolledBack', 'Failed']);
    for (const name of this.#rollouts) {
      const end = this.#phase(name);
      this.#expect(end === 'Complete' || end === 'RolledBack' || this.#isHeld(name), `${name}: a bad configuration is ${end}`);
      const bad = this.#fleet.rollout(name).status?.revision;
      const left = [...this.#fleet.nodes.values()].filter(({ wanted }) => wanted?.name === bad);
      if (end === 'RolledBack')
        this.#expect(left.length === 0, `${name}: ${left.map((node) => node.name).join(', ')} still assigned what was taken back`);
      if (end === 'RolledBack')
        for (const node of this.#of(name)) this.#expect(node.wanted === null || node.wanted.name === good.get(name), `${name}: ${node.name} has ${node.wanted?.name}`); // prettier-ignore
    }
    for (const node of this.#fleet.nodes.values()) {
      const left = Object.keys(node.annotations).filter((key) => key.startsWith('dkc.dev/'));
      this.#expect(left.length === 0 && !node.cordoned, `${node.name} is not given back: ${left.join(', ')}`);
      // A late joiner may wait for its turn in a rollout that is complete.
      const waits = this.#fleet.rollout(node.planned?.split('/')[0] ?? this.#rollouts[0] ?? '').status?.waitsFor;
      this.#expect(node.planned === undefined || waits !== undefined, `${node.name} is still planned in ${node.planned}`);
    }
  }

  #spec(name: string): Partial<RolloutSpec> {
    const steps = this.#pick([
      [{ nodes: '100%' }],
      [{ nodes: 1, hold: '5m' }, { nodes: '30%' }, { nodes: '100%' }],
      [{ nodes: 1 }, { nodes: '100%' }],
    ]);
    return {
      ...(this.#rollouts.length > 1 ? { nodeSelector: { matchLabels: { pool: name } } } : {}),
      steps,
      maxUnavailable: this.#pick([1, 2, '10%', '30%', '100%']),
      failureBudget: this.#pick([1, 2, '20%']),
      drain: this.#pick(['Never', 'Never', 'Always'] as const),
      ...(this.#random() < 0.3 ? { spreadBy: 'zone' } : {}),
    };
  }

  /** Half an hour or so in which everything may happen. */
  #rough(): void {
    for (let steps = 0; steps < 60; steps++) {
      this.#moment(true);
      for (const process of this.#processes) {
        if (process.looks.size === 0) process.controller.syncOlder(MAX_BEHIND_MS);
        if (process.looks.size === 0 && this.#random() < 0.7)
          for (const kind of KINDS) if (this.#random() < 0.7) process.controller.sync(kind);
        for (const name of this.#rollouts) if (!process.looks.has(name) && this.#random() < 0.8) this.#begin(process, name);
      }
      for (let sends = Math.floor(this.#random() * 12); sends > 0; sends--) this.#sendOne(true);
      this.#pass(this.#pick([100, 1_000, 5_000, 20_000, MINUTE]));
    }
    // Everybody who was not let go on goes on, and one of them leads.
    while (this.#sendOne(false));
    for (const { sending } of this.#late) this.#take(sending, 'arrives');
    this.#late = [];
    this.#processes.splice(1);
    for (const name of this.#rollouts) if (this.#of(name).length === 0) this.#join(name);
  }

  /** Nothing goes wrong any more: until each phase is one of these. */
  #untilRest(phases: readonly string[]): void {
    const [process] = this.#processes;
    if (process === undefined) return;
    for (let passed = 0; passed < 48 * HOUR;) {
      let wakeIn = HOUR;
      let isBusy = true;
      for (let looks = 0; isBusy; looks++) {
        this.#expect(looks < MAX_LOOKS, 'the controller never comes to rest');
        isBusy = false;
        wakeIn = HOUR;
        for (const name of this.#rollouts) {
          process.controller.syncAll();
          this.#begin(process, name);
          const before = this.writes;
          while (this.#sendOne(false));
          isBusy = isBusy || this.writes > before;
          wakeIn = Math.min(wakeIn, process.controller.wakeIn);
        }
      }
      if (this.#rollouts.every((name) => (phases.includes(this.#phase(name)) || this.#isHeld(name)) && !this.#isWorking(name))) return;
      const ms = Math.max(1, Math.min(wakeIn, this.#fleet.nextIn(), ...this.#back.map(({ at }) => at - this.#fleet.time)));
      passed += ms;
      this.#pass(ms);
    }
  }

  /** A node that failed in a rollout that was complete has the place that it waits for: it is a person's, who is told of both. */
  #isHeld(name: string): boolean {
    const hasLateFailures = ({ complete, failures = [] }: RolloutStatus): boolean => complete === true && failures.length > 0;
    const { waitsFor } = this.#fleet.rollout(name).status ?? {};
    return waitsFor === CLUSTER_WAIT && this.#rollouts.some((other) => hasLateFailures(this.#fleet.rollout(other).status ?? {}));
  }

  /** Nodes that are not settled yet, or were not given back. */
  #isWorking(name: string): boolean {
    return this.#of(name).some((node) => node.next.length > 0 || node.cordoned || node.annotations['dkc.dev/drained-by'] !== undefined);
  }

  #phase(name: string): string {
    return this.#fleet.rollout(name).status?.phase ?? 'none';
  }

  /** What happens between two looks. */
  #moment(isRough: boolean): void {
    const fleet = this.#fleet;
    for (const one of this.#back.filter(({ at }) => at <= fleet.time)) {
      this.#back.splice(this.#back.indexOf(one), 1);
      one.do();
    }
    const due = this.#late.filter(({ at }) => at <= fleet.time);
    this.#late = this.#late.filter(({ at }) => at > fleet.time);
    for (const { sending } of due) this.#take(sending, 'arrives');
    if (!isRough) return;
    const dice = this.#random();
    const node = this.#pick([...fleet.nodes.values()]);
    const isIdle = node.annotations['dkc.dev/drained-by'] === undefined && node.next.length === 0;
    if (dice < 0.04 && fleet.nodes.size > 1) {
      this.#say(`${node.name} goes`);
      fleet.remove(node.name);
    } else if (dice < 0.08) this.#join();
    else if (dice < 0.18 && isIdle && node.ready) this.#flap(node, 'ready', false);
    else if (dice < 0.24 && isIdle && !node.cordoned) this.#flap(node, 'cordoned', true);
    else if (dice < 0.3) this.#jump();
    else if (dice < 0.36 && this.#processes.length < 2 && !this.#hasJumped()) this.#start();
    else if (dice < 0.4 && this.#processes.length === 2) this.#kill(this.#pick(this.#processes));
    else if (dice < 0.43) {
      const name = this.#pick(this.#rollouts);
      this.#say(`${name} is paused`);
      fleet.edit(name, { paused: true });
      this.#back.push({ at: fleet.time + 2 * MINUTE, do: () => fleet.edit(name, { paused: false }) });
    } else if (dice < 0.49) {
      const name = this.#pick(this.#rollouts.filter((one) => this.#isStopped(one)));
      if (name === undefined) return;
      const attempt = (fleet.rollout(name).spec?.attempt ?? 1) + 1;
      this.#say(`${name} is tried again: attempt ${attempt}`);
      fleet.edit(name, { attempt });
    }
  }

  /** As `dkc rollout resume --retry` wants it: it has stopped, or nodes failed after it was complete. */
  #isStopped(name: string): boolean {
    const { stopped, complete, failures = [] } = this.#fleet.rollout(name).status ?? {};
    return stopped !== undefined || (complete === true && failures.length > 0);
  }

  /** For some minutes, less than a node has to settle. */
  #flap(node: ModelNode, what: 'ready' | 'cordoned', to: boolean): void {
    this.#say(`${node.name}: ${what} = ${to}`);
    node[what] = to;
    this.#fleet.changed(node.name, 'nodes');
    const back = (): void => {
      // A drain in which somebody takes the cordon away has failed.
      if (what === 'cordoned' && node.annotations['dkc.dev/drained-by'] !== undefined)
        return void this.#back.push({ at: this.#fleet.time + MINUTE, do: back });
      node[what] = !to;
      this.#touchedDown.delete(node.name);
      this.#say(`${node.name}: ${what} = ${!to}`);
      if (this.#fleet.nodes.get(node.name) === node) this.#fleet.changed(node.name, 'nodes');
    };
    this.#back.push({ at: this.#fleet.time + this.#random() * 5 * MINUTE, do: back });
  }

  /** Every process that is there notices, before anything else happens to it. */
  #jump(): void {
    const ms = (this.#random() < 0.5 ? 1 : -1) * this.#pick([5_000, 10 * MINUTE, 10 * HOUR]);
    this.#say(`the wall clock is set by ${ms / 1_000} s`);
    this.#fleet.offset += ms;
    if (ms > MINUTE) this.#jumped = this.#fleet.time;
    for (const { controller } of this.#processes) controller.noticeClock();
  }

  /** A process that starts after the clock was set forward knows nothing of it: until what was in flight then is settled, none does. */
  #hasJumped(): boolean {
    return this.#fleet.time - this.#jumped < DEADLINE_MS;
  }

  #join(pool = this.#pick(this.#rollouts)): void {
    const name = `n${this.#added++}`;
    this.#say(`${name} comes`);
    this.#fleet.add(name, { zone: this.#pick(['a', 'b', 'c']), pool });
  }

  #start(): void {
    const controller = new ModelController(this.#fleet, `c${this.#processes.length}-${this.#fleet.time}`, this.#budget);
    this.#say(`${controller.name} leads`);
    this.#processes.push({ controller, looks: new Map() });
  }

  /** Another one takes its place; what it was about to write may arrive later. */
  #kill(process: Process): void {
    if (this.#hasJumped()) return;
    this.#say(`${process.controller.name} is killed`);
    for (const { next, since } of process.looks.values())
      if (next.done !== true && this.#fleet.time - since < REQUEST_MS && this.#random() < 0.5)
        this.#late.push({ at: Math.min(this.#fleet.time + this.#random() * 20_000, since + REQUEST_MS), sending: next.value });
    this.#processes.splice(this.#processes.indexOf(process), 1);
    if (this.#processes.length === 0) this.#start();
  }

  #begin({ controller, looks }: Process, name: string): void {
    const steps = controller.look(name);
    const next = steps.next();
    if (next.done !== true) looks.set(name, { steps, next, since: this.#fleet.time });
  }

  /** @returns false: nobody has anything to write */
  #sendOne(isRough: boolean): boolean {
    const all = this.#processes.flatMap((process) => [...process.looks].map(([name, look]) => ({ process, name, look })));
    if (all.length === 0) return false;
    const { process, name, look } = this.#pick(all);
    const { next } = look;
    if (next.done === true) return process.looks.delete(name);
    if (isRough && this.#random() < 0.02) {
      this.#kill(process);
      return true;
    }
    const dice = isRough ? this.#random() : 1;
    const isOver = this.#fleet.time - look.since > REQUEST_MS;
    const how: Write = dice < 0.05 || isOver ? 'refused' : dice < 0.1 ? 'answer lost' : 'arrives';
    if (how !== 'arrives') this.#say(`${process.controller.name}: ${next.value.what}: ${how}`);
    const { send } = next.value;
    next.value.send = () => this.#checked(next.value, send, process.controller);
    look.next = look.steps.next(how);
    look.since = this.#fleet.time;
    if (look.next.done === true) process.looks.delete(name);
    return true;
  }

  #take(sending: Sending, how: Write): void {
    this.#say(`${sending.what}: ${how} late`);
    try {
      this.#checked(sending, sending.send, undefined);
    } catch (error) {
      if (!(error instanceof NotWritten)) throw error;
    }
  }

  /** A write that the API server takes, and what was true before it. @param by - absent: gone, and what it knew with it */
  #checked(sending: Sending, send: () => void, by: ModelController | undefined): void {
    const { action, node, rollout } = sending;
    const name = node?.node ?? '';
    const isTouch = action?.do === 'assign' || (action?.do === 'drain' && sending.what.startsWith('cordon'));
    const problem = isTouch ? (this.#check(name, rollout, by) ?? this.#checkCluster(name, rollout, by)) : undefined;
    const version = this.#fleet.version;
    const target = this.#fleet.nodes.get(name);
    const isFirst = isTouch && target !== undefined && target.annotations['dkc.dev/drained-by'] === undefined;
    const wasDown = isFirst && (!target.ready || target.cordoned);
    send();
    if (wasDown) this.#touchedDown.add(name);
    this.writes += this.#fleet.version > version ? 1 : 0;
    if (this.#fleet.version > version) this.#say(`${by?.name ?? 'gone'}: ${sending.what}`);
    if (problem !== undefined) this.#fail(problem);
  }

  /** Nodes that have not come to rest, counted from what they are, not with the planner's own functions. */
  #isBusy(node: ModelNode): boolean {
    const isOnItsWay = node.error !== undefined || node.trial || node.observed !== node.generation;
    return isOnItsWay || node.active?.uid !== node.wanted?.uid || node.annotations['dkc.dev/drained-by'] !== undefined;
  }

  /** Of a node that went down without a write a controller can know only what its cache has. */
  #isKnownAsDown({ name }: ModelNode, by: ModelController | undefined): boolean {
    const known = by?.knows(name);
    return known !== undefined && (known.ready !== true || known.cordoned);
  }

  #isDown(node: ModelNode, by: ModelController | undefined): boolean {
    return (!node.ready || node.cordoned) && this.#isKnownAsDown(node, by);
  }

  #tookPlace(node: ModelNode, by: ModelController | undefined): boolean {
    return !this.#touchedDown.has(node.name) || this.#isKnownAsDown(node, by);
  }

  /** A touch of a node beside as many as may be unavailable, or after as many failures. @returns what is wrong */
  #check(name: string, rollout: string, by: ModelController | undefined): string | undefined {
    const fleet = this.#fleet;
    const { status } = fleet.rollout(rollout);
    const rules = fleet.rules(rollout);
    const nodes = this.#of(rollout);
    const isOurs = (node: ModelNode): boolean =>
      this.#isBusy(node) && (node.rollout === rollout || node.annotations['dkc.dev/drained-by'] !== undefined);
    const isBack = status?.stopped !== undefined;
    const unavailable = nodes.filter((node) => (isOurs(node) && this.#tookPlace(node, by)) || (!isBack && this.#isDown(node, by)));
    // Of so many nodes as there were when it was decided on: one may have gone since, and another process have said so in the status.
    const known = by?.knownNodes.filter(({ labels }) => this.#rollouts.length === 1 || labels['pool'] === rollout).length ?? 0;
    const selected = Math.max(nodes.length, status?.nodes?.selected ?? 0, known);
    const most = by === undefined ? Infinity : maxUnavailableOf(rules, selected);
    const target = fleet.nodes.get(name);
    if (target === undefined) return undefined;
    const isFree = unavailable.includes(target) || (isBack && (!target.ready || target.cordoned));
    if (!isFree && unavailable.length >= most)
      return `${rollout}: ${name} is touched beside ${unavailable.length} unavailable (${unavailable.map((node) => node.name).join(', ')}) of ${nodes.length}, ${most} may be`;
    if (isBack || status === undefined) return undefined;
    const isTouched = (one: RolloutNode): boolean =>
      one.wanted?.name === status.revision || recordOf(one.object as Readonly<Node>)?.owner.name === rollout;
    const touched = by?.knownNodes.filter(isTouched) ?? [];
    // What a node reports of the attempt before is none, and is told from what it makes of this one by the time.
    const since = Date.parse(status.attemptAt ?? '');
    const isOfThis = ({ assignedAt = 0 }: { assignedAt?: Millis | undefined }): boolean =>
      Number.isNaN(since) || (assignedAt > since && fleet.now - since > MINUTE);
    const failed = touched.filter((one) => one.error !== null && isOfThis(one));
    const wasNamed = status.touches?.nodes.some((touch) => touch.node === name) === true;
    const isTooMany = failed.length >= failureBudgetOf(rules, touched.length) && !status.complete && !wasNamed;
    return isTooMany ? `${rollout}: ${name} is touched after ${failed.length} failures` : undefined;
  }

  /** A touch of a node while as many of the whole cluster are unavailable as may be, of whatever rollout. @returns what is wrong */
  #checkCluster(name: string, rollout: string, by: ModelController | undefined): string | undefined {
    const fleet = this.#fleet;
    const target = fleet.nodes.get(name);
    if (this.#budget === undefined || by === undefined || target === undefined) return undefined;
    const isUnavailable = (node: ModelNode): boolean => (this.#isBusy(node) && this.#tookPlace(node, by)) || this.#isDown(node, by);
    const unavailable = [...fleet.nodes.values()].filter(isUnavailable);
    const most = maxUnavailableOf({ maxUnavailable: this.#budget }, Math.max(fleet.nodes.size, by.knownNodes.length));
    if (unavailable.includes(target) || this.#isKnownAsDown(target, by) || unavailable.length < most) return undefined;
    // One at a time goes back, whatever else is down.
    const isAlone = !this.#of(rollout).some((node) => node !== target && this.#isBusy(node));
    if (fleet.rollout(rollout).status?.stopped !== undefined && isAlone) return undefined;
    return `${rollout}: ${name} is touched beside ${unavailable.length} unavailable of the whole cluster (${unavailable.map((node) => node.name).join(', ')}), ${most} may be`;
  }

  #of(rollout: string): ModelNode[] {
    return [...this.#fleet.nodes.values()].filter(({ labels }) => this.#rollouts.length === 1 || labels['pool'] === rollout);
  }

  /** From one thing that happens to the next. */
  #pass(ms: Millis): void {
    const until = this.#fleet.time + ms;
    while (this.#fleet.time < until) {
      const next = Math.min(until, ...[...this.#late, ...this.#back].map(({ at }) => Math.max(at, this.#fleet.time + 1)));
      this.#fleet.pass(next - this.#fleet.time);
      this.#moment(false);
    }
  }

  #pick<T>(of: readonly T[]): T {
    return of[Math.floor(this.#random() * of.length)] as T;
  }

  #say(what: string): void {
    this.said.push(`${(this.#fleet.time / 1_000).toFixed(1).padStart(8)} s  ${what}`);
  }

  #expect(holds: boolean, problem: string): void {
    if (!holds) this.#fail(problem);
  }

  #fail(problem: string): never {
    const status = this.#rollouts.map((name) => JSON.stringify(this.#fleet.rollout(name).status));
    const again = `SEED=${this.#seed} DKC_ROLLOUT_RUNS=1 node --test test/suites/endurance/rollouts.test.ts`;
    throw new Broken(`seed ${this.#seed}: ${problem}\n${this.said.join('\n')}\n${status.join('\n')}\nagain: ${again}`);
  }
}

/** An invariant does not hold. */
class Broken extends assert.AssertionError {
  constructor(message: string) {
    super({ message });
  }
}
