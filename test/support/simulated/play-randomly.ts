import { seededRandom, type Random } from '../../../base/random.ts';
import { ApiError } from '../../../kube/client/errors.ts';
import type { Crew } from './crew.ts';
import type { Act, Scene } from './rough-acts.ts';
import type { SimWorld } from './sim-world.ts';

export interface RandomRun {
  seed: number;
  /** Acts of users, servers and processes. */
  steps: number;
  /** Leaves acts out, to find out which of them matter. @default none */
  without?: ReadonlySet<number>;
}

/** How often something could have gone wrong and was looked at; a run in which nothing was proves nothing. */
export interface Checked {
  creations: number;
  deletions: number;
  /** Left out: the controller may not have known of a change yet. */
  excused: number;
}

export interface Ran {
  problems: string[];
  /** Acts done until then. */
  steps: number;
  transcript: string[];
  checked: Checked;
  /** How often the cluster was left alone, and looked at. */
  quiet: number;
}

/** Acts between two times of quiet. */
const ROUND = 40;
/** In ms, between two acts. */
const MAX_PAUSE = 10_000;

export interface Playing<S extends Scene> {
  run: RandomRun;
  world: SimWorld;
  crew: Crew;
  acts: readonly Act<S>[];
  /** Filled. */
  ran: Ran;
  sceneOf: (random: Random) => S;
  /** Leaves the cluster alone, and looks at it. */
  quiet: () => Promise<void>;
}

/** Act after act until the first problem; ends the world. */
export async function playRandomly<S extends Scene>({ run, world, crew, acts, ran, sceneOf, quiet }: Playing<S>): Promise<Ran> {
  const { seed, steps, without = new Set() } = run;
  crew.start();
  for (let step = 0; step < steps && ran.problems.length === 0; step++) {
    const random = seededRandom(seed * 100_003 + step);
    const isRough = seededRandom(seed * 7 + Math.floor(step / ROUND))() < 0.5;
    const act = chosen(acts, random, isRough);
    const pause = random() < 0.3 ? 0 : random() * MAX_PAUSE;
    ran.steps = step + 1;
    if (!without.has(step)) {
      const done = await tried(act, sceneOf(random));
      ran.transcript.push(`${new Date(world.clock.now()).toISOString().slice(11, 23)} ${step} ${act.what}: ${done}`);
    }
    await world.clock.advance(pause);
    if (step % ROUND === ROUND - 1 || step === steps - 1) {
      await quiet();
      ran.quiet += 1;
    }
  }
  if (ran.problems.length > 0) ran.transcript.push(...(crew.process?.failures().slice(-5) ?? []));
  await world.stop();
  return ran;
}

/** Leaves out what a failure does not need, as long as that is cheap. @returns the shortest run that fails, and how */
export async function leastOf(
  play: (run: RandomRun) => Promise<Ran>,
  run: RandomRun,
  failed: Ran,
  tries = 40,
): Promise<{ run: RandomRun; ran: Ran }> {
  let best = { run: { ...run, steps: failed.steps }, ran: failed };
  let left = tries;
  for (let size = Math.ceil(failed.steps / 2); size >= 1 && left > 0; size = Math.floor(size / 2))
    for (let from = 0; from < best.run.steps && left > 0; from += size) {
      const without = new Set(best.run.without ?? []);
      const before = without.size;
      for (let step = from; step < from + size; step++) without.add(step);
      if (without.size === before) continue;
      left -= 1;
      const again = { ...best.run, without };
      const ran = await play(again);
      if (ran.problems.length > 0) best = { run: again, ran };
    }
  return best;
}

function chosen<S extends Scene>(acts: readonly Act<S>[], random: Random, isRough: boolean): Act<S> {
  const possible = acts.filter(({ rough = false }) => isRough || !rough);
  let left = random() * possible.reduce((sum, { weight }) => sum + weight, 0);
  const found = possible.find(({ weight }) => (left -= weight) < 0);
  return found ?? (acts[0] as Act<S>);
}

/** What the server refuses people is no act. */
async function tried<S extends Scene>(act: Act<S>, scene: S): Promise<string> {
  try {
    return await act.do(scene);
  } catch (error) {
    if (error instanceof ApiError) return `refused: ${error.serverMessage}`;
    throw error;
  }
}
