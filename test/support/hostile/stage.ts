import { setTimeout as sleep } from 'node:timers/promises';
import {
  type KubeObject,
  namespaces,
  persistentVolumeClaims,
  podDisruptionBudgets,
  podDisruptionBudgetsBeta,
  pods,
  type Resource,
} from '../../../kube/api/object.ts';
import type { Client } from '../../../kube/client/client.ts';
import { ApiError, isNotFound } from '../../../kube/client/errors.ts';
import { type Hostile, NAMESPACE, type Server } from './corpus/hostile.ts';
import { inParallel, Ordinary } from './ordinary.ts';
import type { Measured } from './probe.ts';
import type { Subject } from './subject.ts';

/** Longest turn of the event loop, in processor time of user mode. What is promised is 100 ms on a quiet machine; beside others the same turn is several times as long. */
const MAX_TURN_MS = 400;
/** The embedded server's: one request is one turn of its own, some 100 ms for each MiB of small values (docs/limits.md) on a quiet machine. */
const MAX_SERVER_TURN_MS = 1_600;
/** What the probe's piece of work takes on such a machine; on a slower one a turn may take as much longer. */
const PIECE_MS = 0.25;
/**
 * What may stay in use after all hostile objects are gone: what is remembered within its bounds, such as events and what the server said last of a pod's
 * status. Of the same pods, played three times, 7 to 20 MB stayed after the first time, 10 after the second and none after the third.
 */
const MAX_LEFT_BYTES = 32 * 2 ** 20;
/** Ordinary objects beside hostile ones may take so many times as long, and a while besides: others use the machine too. */
const MAX_RATIO = 5;
const ROOM_MS = 5_000;
const GONE_MS = 180_000;

export interface StageOptions {
  server: Server;
  client: Client;
  /** Starts the programs; they work when it returns. */
  start: () => Promise<Subject[]>;
  /** The server, where it is a program of ours: its turns are measured too. It is neither started nor stopped here. */
  embedded?: Subject;
}

/** What came of one or several rows. */
export interface Outcome {
  /** Nothing: all is well. */
  problems: string[];
  /** Objects that the server took. */
  taken: number;
  /** For people. */
  figures: string;
}

/** Programs of ours, a hundred ordinary objects, and hostile ones that come and go. */
export class Stage {
  readonly #options: StageOptions;
  readonly #ordinary: Ordinary;
  #subjects: Subject[] = [];
  #aloneMs = 0;
  /** The last answer of a server that did not take an object. */
  #refusal = '';

  constructor(options: StageOptions) {
    this.#options = options;
    this.#ordinary = new Ordinary(options.client);
  }

  async open(): Promise<void> {
    const { client, start } = this.#options;
    await client.create<KubeObject>(namespaces, { metadata: { name: NAMESPACE } });
    await this.#ordinary.prepare();
    this.#subjects = await start();
    // Twice: the first is the slower one, since nothing has been compiled.
    await this.#ordinary.served();
    await this.#ask('mark');
    this.#aloneMs = await this.#ordinary.served();
    await this.#ask('mark');
  }

  /** Programs that start while hostile objects are there already: in the first lists of their caches. */
  async restartBeside(rows: readonly Hostile[]): Promise<string[]> {
    const taken: [Resource, KubeObject][] = [];
    for (const row of rows) taken.push(...(await this.#put(row)));
    const problems: string[] = [];
    await this.#stop();
    try {
      this.#subjects = await this.#options.start();
      await this.#ordinary.served();
    } catch (error) {
      problems.push(String(error));
    }
    await this.#takeAway(taken);
    return problems;
  }

  async close(): Promise<void> {
    await this.#ordinary.close();
    await this.#stop();
  }

  async #stop(): Promise<void> {
    await Promise.all(this.#subjects.map((subject) => subject.stop()));
  }

  /** Puts the objects beside the ordinary ones, looks what becomes of these, and takes them away again. */
  async play(rows: readonly Hostile[]): Promise<Outcome> {
    const { embedded } = this.#options;
    await embedded?.ask('mark');
    const before = await this.#ask('mark');
    const problems: string[] = [];
    const taken: [Resource, KubeObject][] = [];
    for (const row of rows) {
      const took = await this.#put(row);
      const refused = row.refusedBy?.includes(this.#options.server) === true;
      if (refused !== (took.length === 0))
        problems.push(`${row.why}: the server ${refused ? 'takes it by now' : `refuses it: ${this.#refusal}`}`);
      taken.push(...took);
    }
    let besideMs = Number.NaN;
    try {
      besideMs = await this.#ordinary.served();
      const most = MAX_RATIO * this.#aloneMs + ROOM_MS;
      if (besideMs > most) problems.push(`ordinary objects take ${besideMs.toFixed()} ms beside it, ${this.#aloneMs.toFixed()} ms alone`);
    } catch (error) {
      problems.push(`ordinary objects are not served: ${String(error)}`);
    }
    await this.#ask('look', problems);
    await this.#takeAway(taken);
    const after = await this.#settled(before, problems);
    for (const subject of this.#subjects) if (subject.ended !== undefined) problems.push(`${subject.ended}\n${subject.log}`);
    problems.push(...longTurns(after));
    const serverTurn = await embedded?.ask('look');
    if (serverTurn !== undefined) problems.push(...longTurns(new Map([['server', serverTurn]]), MAX_SERVER_TURN_MS));
    for (const [name, { heapBytes }] of after) {
      const left = heapBytes - (before.get(name)?.heapBytes ?? 0);
      if (left > MAX_LEFT_BYTES) problems.push(`${name}: ${(left / 2 ** 20).toFixed(1)} MB are still in use`);
    }
    const figures = [...after].map(([name, now]) => `${name}: turn ${now.longestTurnMs.toFixed()} ms, piece ${now.pieceMs.toFixed(1)} ms`);
    if (serverTurn !== undefined) figures.push(`server: turn ${serverTurn.longestTurnMs.toFixed()} ms`);
    return { problems, taken: taken.length, figures: `${besideMs.toFixed()} ms (alone ${this.#aloneMs.toFixed()}); ${figures.join('; ')}` };
  }

  /** Creates what a row has. @returns what the server took */
  async #put(row: Hostile): Promise<[Resource, KubeObject][]> {
    const { client, server } = this.#options;
    const resource = server === 'real' && row.resource === podDisruptionBudgets ? podDisruptionBudgetsBeta : row.resource;
    const took: [Resource, KubeObject][] = [];
    await inParallel(row.objects(server), async (object) => {
      try {
        const within = resource.namespaced ? { namespace: NAMESPACE } : {};
        const { metadata } = await client.create<KubeObject>(resource, object, { ...within, timeoutMs: 60_000 });
        took.push([resource, { metadata }]);
      } catch (error) {
        this.#refusal = String(error).slice(0, 300);
        // Anything else is a server that has gone, and that is no answer.
        if (!(error instanceof ApiError)) throw new Error(`${row.why}: ${String(error)}`, { cause: error });
      }
    });
    return took;
  }

  /** What was put there, and what controllers made of it. */
  async #takeAway(taken: readonly [Resource, KubeObject][]): Promise<void> {
    const { client } = this.#options;
    const now = { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0, propagationPolicy: 'Background' };
    // The others go with their collections, below.
    const alone = taken.filter(([{ resource }]) => resource !== 'pods' && resource !== 'controllerrevisions');
    await inParallel(alone, async ([resource, { metadata }]) => {
      const { name = '', namespace } = metadata;
      const ref = namespace === undefined ? { name } : { name, namespace };
      // What protects a claim or a volume in use has nobody here who takes it away.
      if ((metadata['finalizers'] ?? []).length > 0)
        await client.patch(resource, ref, { metadata: { finalizers: null } }, { type: 'merge' }).catch(ignoreNotFound);
      await client.delete(resource, ref, { body: now, timeoutMs: 60_000 }).catch(ignoreNotFound);
    });
    const rest = ['/apis/apps/v1/namespaces/hostile/controllerrevisions', '/api/v1/namespaces/hostile/persistentvolumeclaims'];
    const end = performance.now() + GONE_MS;
    for (;;) {
      for (const path of ['/api/v1/namespaces/hostile/pods', ...rest])
        await client.raw('DELETE', path, { body: now, timeoutMs: 60_000 }).catch((error: unknown) => {
          // Thousands of claims: what is deleted by the server's deadline is gone, and the others come next. It says so in two ways, of which one is a 504.
          if (!(error instanceof ApiError) || (error.code !== 504 && error.serverMessage !== 'context deadline exceeded')) throw error;
        });
      const left = await Promise.all([pods, persistentVolumeClaims].map((kind) => client.list(kind, { namespace: NAMESPACE, limit: 1 })));
      if (left.every(({ items }) => items.length === 0)) return;
      if (performance.now() > end) throw new Error(`hostile objects do not go: ${left.map(({ items }) => items.length).join()}`);
      await sleep(50);
    }
  }

  async #ask(what: 'mark' | 'look', problems?: string[]): Promise<Map<string, Measured>> {
    const answers = new Map<string, Measured>();
    await Promise.all(
      this.#subjects.map(async (subject) => {
        try {
          answers.set(subject.name, await subject.ask(what));
        } catch (error) {
          if (problems === undefined) throw error;
          problems.push(String(error));
        }
      }),
    );
    return answers;
  }

  /** Asks until memory is back: what a watch has still to tell takes a moment. */
  async #settled(before: ReadonlyMap<string, Measured>, problems: string[]): Promise<Map<string, Measured>> {
    for (let n = 0; ; n++) {
      const failures: string[] = [];
      const now = await this.#ask('look', failures);
      const isBack = [...now].every(([name, { heapBytes }]) => heapBytes - (before.get(name)?.heapBytes ?? 0) <= MAX_LEFT_BYTES);
      if ((isBack && failures.length === 0) || n >= 20) {
        problems.push(...failures);
        return now;
      }
      await sleep(100);
    }
  }
}

function ignoreNotFound(error: unknown): void {
  if (!isNotFound(error)) throw error;
}

function longTurns(seen: ReadonlyMap<string, Measured>, mostMs = MAX_TURN_MS): string[] {
  return [...seen].flatMap(([name, { longestTurnMs, pieceMs }]) => {
    const limit = mostMs * Math.max(1, pieceMs / PIECE_MS);
    return longestTurnMs <= limit
      ? []
      : [`${name}: a turn of the event loop took ${longestTurnMs.toFixed()} ms (limit ${limit.toFixed()})`];
  });
}
