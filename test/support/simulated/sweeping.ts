import assert from 'node:assert/strict';
import type { HollowNode } from '../hollow/hollow-node.ts';
import type { Millis } from '../../../base/clock.ts';
import type { KubeObject } from '../../../kube/api/object.ts';
import type { FaultKind } from './faulty-calls.ts';
import { LATEST, refusal, type Event, type WatchFault } from './faulty-watches.ts';
import type { Interceptor, SeenCall } from './intercepted.ts';
import type { SimProcess, SimWorld } from './sim-world.ts';

/** Longer than a time-out and a look-out for what was lost together; far below the five minutes after which a controller waits no longer. */
const WITHIN = 60_000;
/** What was sent late is there by then. */
const LATER = 6_000;

/** Something that users do, and that a controller has to bring to the same end whatever goes wrong with one of its calls. */
export interface StoryOn<S> {
  why: string;
  /** @default those of every story on the stage */
  nodes?: readonly (string | HollowNode)[];
  /** Before anything goes wrong. */
  before?: (stage: S) => Promise<void>;
  act: (stage: S) => Promise<void>;
  /** What a controller that hears late may do besides. @default nothing */
  late?: { pods?: number; collisions?: boolean };
}

/** What stories play on, again and again. */
export interface AnyStage {
  begin(nodes: readonly (string | HollowNode)[]): void;
  /** Everything goes. @returns whether it went */
  clear(): Promise<boolean>;
  pass(ms: Millis): Promise<void>;
  isSettled(): boolean;
  /** How everything stands: the same for whoever did the same. */
  picture(): string;
}

export interface Theatre<S extends AnyStage> {
  world: SimWorld;
  stage: S;
  invariants: { readonly watching: Interceptor; readonly problems: readonly string[]; unknownSince: () => Millis };
  /** Whether a controller has made this pod. */
  isMade: (pod: KubeObject) => boolean;
}

export interface Swept {
  problems: string[];
  /** Runs in which something went wrong. */
  runs: number;
}

/** They all came to the same end, and there was something to come over. */
export function assertSame({ problems, runs }: Swept): void {
  assert.deepEqual(problems, []);
  assert.ok(runs > 0, 'nothing went wrong');
}

/** What is to go wrong: the n-th call, or the n-th event of a kind's watch. */
type Trouble = { call: FaultKind; at: number } | { watch: WatchFault; resource: string; at: number };

class Armed implements Interceptor {
  readonly #world: SimWorld;
  #trouble: Trouble | undefined;
  #next: { resource: string; code: 500 | 410 } | undefined;
  calls: SeenCall[] = [];
  readonly events = new Map<string, number>();
  /** What went wrong; undefined as long as nothing did. */
  hit: string | undefined;

  constructor(world: SimWorld) {
    this.#world = world;
  }

  arm(trouble: Trouble | undefined): void {
    this.#trouble = trouble;
    this.#next = undefined;
    this.calls = [];
    this.events.clear();
    this.hit = undefined;
  }

  async call(call: SeenCall, pass: () => Promise<unknown>): Promise<unknown> {
    // Half of all calls, and nothing hangs on them.
    if (call.resource === 'events') return call.body;
    if (call.verb === 'list') {
      this.#refuseNext(call);
      return pass();
    }
    this.calls.push(call);
    const trouble = this.#trouble;
    if (trouble === undefined || !('call' in trouble) || this.calls.length !== trouble.at) return pass();
    this.hit = `${call.verb} ${call.resource} ${call.key}`;
    return trouble.call.do(call, pass, this.#world);
  }

  async *watch(call: SeenCall, pass: () => AsyncIterable<Event>): AsyncGenerator<Event> {
    this.#refuseNext(call);
    for await (const event of pass()) {
      const { resource } = call;
      const nth = (this.events.get(resource) ?? 0) + Number(event.type !== 'BOOKMARK');
      this.events.set(resource, nth);
      const trouble = this.#trouble;
      const isIt = trouble !== undefined && 'watch' in trouble && trouble.resource === resource && trouble.at === nth;
      if (!isIt || this.hit !== undefined) {
        yield event;
        continue;
      }
      this.hit = `${event.type} of ${resource} ${event.object.metadata.name}`;
      if (trouble.watch.next !== undefined) this.#next = { resource, code: trouble.watch.next };
      if (!(yield* trouble.watch.do(event, this.#world))) return;
    }
  }

  #refuseNext({ resource }: SeenCall): void {
    if (this.#next?.resource !== resource) return;
    const { code } = this.#next;
    this.#next = undefined;
    throw refusal(code);
  }
}

/**
 * Plays a story once as it should be, and then again and again with one call failing: the 1st, the 2nd, up to the last, in each of the ways that `kinds`
 * gives for it. All on one server and before one controller, for that is how it lives.
 */
export function sweepCalls<S extends AnyStage>(
  theatre: Theatre<S>,
  story: StoryOn<S>,
  kinds: (call: SeenCall, n: number) => readonly FaultKind[],
): Promise<Swept> {
  return sweeping(theatre, story, ({ calls }) =>
    calls.flatMap((call, index) =>
      kinds(call, index + 1)
        .filter((kind) => kind.befalls(call))
        .map((kind) => ({ call: kind, at: index + 1 })),
    ),
  );
}

/** The same with the events of the watches, the 1st up to the last of each kind. */
export function sweepEvents<S extends AnyStage>(
  theatre: Theatre<S>,
  story: StoryOn<S>,
  kinds: (n: number) => readonly WatchFault[],
): Promise<Swept> {
  return sweeping(theatre, story, ({ events }) =>
    [...events].flatMap(([resource, count]) =>
      Array.from({ length: count }, (_, index) => index + 1).flatMap((at) => kinds(at).map((watch) => ({ watch, resource, at }))),
    ),
  );
}

async function sweeping<S extends AnyStage>(
  theatre: Theatre<S>,
  story: StoryOn<S>,
  troublesOf: (calm: Pick<Armed, 'calls' | 'events'>) => Trouble[],
): Promise<Swept> {
  const run = new Sweeping(theatre, story);
  try {
    await run.start();
    for (const trouble of troublesOf(await run.calm())) if (run.problems.length === 0) await run.play(trouble);
  } finally {
    await theatre.world.stop();
  }
  return { problems: run.problems, runs: run.runs };
}

class Sweeping<S extends AnyStage> {
  readonly problems: string[] = [];
  runs = 0;
  readonly #world: SimWorld;
  readonly #story: StoryOn<S>;
  readonly #stage: S;
  readonly #armed: Armed;
  readonly #invariants: Theatre<S>['invariants'];
  #process: SimProcess | undefined;
  #made = 0;
  #wanted = { picture: '', made: 0 };

  constructor({ world, stage, invariants, isMade }: Theatre<S>, story: StoryOn<S>) {
    this.#world = world;
    this.#story = story;
    this.#stage = stage;
    this.#armed = new Armed(world);
    this.#invariants = invariants;
    world.api.hooks.storage.onChange((kind, { type, object }) => {
      if (kind === '/pods' && type === 'ADDED' && isMade(object)) this.#made += 1;
    });
  }

  async start(): Promise<void> {
    const process = this.#world.start({
      call: (call, pass) => this.#invariants.watching.call(call, () => this.#armed.call(call, pass)),
      watch: (call, pass) => this.#armed.watch(call, pass),
    });
    this.#process = process;
    await this.#world.until(() => process.ready, 10_000);
  }

  /** Without a fault. @returns what can go wrong */
  async calm(): Promise<Pick<Armed, 'calls' | 'events'>> {
    await this.#act(undefined);
    await this.#stage.pass(20_000);
    this.#wanted = { picture: this.#stage.picture(), made: this.#made };
    if (!this.#stage.isSettled()) this.#problem(`${this.#story.why}: without a fault it never ends: ${this.#wanted.picture}`);
    if (this.#armed.calls.length === 0) this.#problem(`${this.#story.why}: nothing is done`);
    this.problems.push(...this.#invariants.problems.map((problem) => `${this.#story.why}: without a fault: ${problem}`));
    const { calls, events } = this.#armed;
    return { calls, events: new Map(events) };
  }

  async play(trouble: Trouble): Promise<void> {
    const { picture, made } = this.#wanted;
    const stage = this.#stage;
    const { at } = trouble;
    const [what, name] = 'call' in trouble ? ['call', trouble.call.name] : [`event of ${trouble.resource}`, trouble.watch.name];
    if (!(await stage.clear())) this.#problem(`${this.#story.why}: before ${what} ${at}: what was there does not go`);
    if ('watch' in trouble) this.#invariants.unknownSince = () => this.#world.clock.now() - 2 * LATEST;
    const late = 'watch' in trouble ? this.#story.late : undefined;
    const compared = (text: string): string => (late?.collisions === true ? text.replace(/\["collisionCount",\d+\],?/, '') : text);
    const isSame = (): boolean => compared(stage.picture()) === compared(picture);
    const where = (): string => `${this.#story.why}: ${what} ${at} (${this.#armed.hit}) meets ${name}`;
    try {
      await this.#act(trouble);
      const took = await this.#world.until(isSame, WITHIN);
      if (took === undefined) this.#problem(`${where()}: after ${WITHIN} ms it is\n${stage.picture()}\ninstead of\n${picture}`);
      await stage.pass(LATER);
      if (took !== undefined && !isSame()) this.#problem(`${where()}: it does not stay so: ${stage.picture()}`);
    } catch (error) {
      this.#problem(`${where()}: ${String(error)}`);
    }
    if (this.#armed.hit !== undefined) this.runs += 1;
    const costs = 'call' in trouble ? trouble.call.costs : late?.pods;
    if (this.#made > made + (costs ?? 0)) this.#problem(`${where()}: ${this.#made} pods are made, and ${made} without it`);
    for (const problem of this.#invariants.problems) this.#problem(`${where()}: ${problem}`);
  }

  async #act(trouble: Trouble | undefined): Promise<void> {
    const { nodes = [], before, act } = this.#story;
    this.#armed.arm(undefined);
    this.#stage.begin(nodes);
    await before?.(this.#stage);
    await this.#stage.pass(500);
    this.#made = 0;
    this.#armed.arm(trouble);
    await act(this.#stage);
  }

  #problem(text: string): void {
    this.problems.push(`${text}\n${this.#process?.failures().slice(-3).join('\n') ?? ''}`);
  }
}
