import { seededRandom } from '../../../base/random.ts';
import type { Random } from '../../../base/random.ts';
import { isNotFound } from '../../../kube/client/errors.ts';
import type { Stage as WorkloadStage, WorkloadSet } from './stage.ts';
import type { Revision } from './world.ts';
import type { Pod } from '../../../controllers/common/types.ts';
import { story, type Chance, type Story } from './story.ts';

/** Something that an admin, a node or chance does. @returns what, in words */
export type Act<S> = (s: S, random: Random, step: number) => Promise<string>;

export interface RandomStories<S> {
  /** Each as often as its weight says. */
  acts: readonly (readonly [weight: number, act: Act<S>])[];
  begin: Act<S>;
  /** Resolves once nothing happens any more. */
  rest: (s: S) => Promise<void>;
  /** What is visible then. */
  seen: (s: S) => string;
  end: (s: S) => Promise<void>;
  chance: Chance;
}

const STEPS = 10;

/** Seed and number of those that a suite compares. */
export const asked = { seed: Number(process.env['SEED'] ?? 2000), count: Number(process.env['DKC_RANDOM_STORIES'] ?? 12) };

/** Stories of random acts, after each of which all comes to rest. A story's name has its seed. */
export function randomStories<S extends { note(text: string): void }>(of: RandomStories<S>, seed: number, count: number): Story<S>[] {
  const total = of.acts.reduce((sum, [weight]) => sum + weight, 0);
  return Array.from({ length: count }, (_, n) =>
    story<S>(`random-${seed + n}`, of.chance, async (s) => {
      const random = seededRandom(seed + n);
      const pick = (): Act<S> => {
        let at = random() * total;
        const [, act] = of.acts.find(([weight]) => (at -= weight) < 0) ?? [0, of.begin];
        return act;
      };
      for (let step = 0; step <= STEPS; step++) {
        const told = await (step === 0 ? of.begin : pick())(s, random, step);
        await of.rest(s);
        s.note(`${String(step).padStart(2, '0')} ${told}: ${of.seen(s)}`);
      }
      await of.end(s);
      await of.rest(s);
    }),
  );
}

export const oneOf = <T>(random: Random, ...values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;

/** Asks the server for a change of the set, which may be refused. */
export function patches<S extends { patch(patch: unknown, name: string, type: 'merge'): Promise<unknown> }>(
  spec: (random: Random, step: number) => unknown,
): Act<S> {
  return async (s, random, step) => {
    const patch = { spec: spec(random, step) };
    const refused = await s.patch(patch, 'web', 'merge').then(
      () => '',
      (error: unknown) => ` refused: ${error instanceof Error ? error.name : ''}`,
    );
    return `${JSON.stringify(patch.spec)}${refused}`;
  };
}

/** The pod is deleted, and stays until {@link letGo}. */
export async function held(s: WorkloadStage<WorkloadSet>, pod: Readonly<Pod>): Promise<void> {
  await s.patchPod(pod, { metadata: { finalizers: ['example.com/held'] } });
  await s.terminate(pod);
}

/** Takes the finalizers of all pods away. */
export const letGo: Act<WorkloadStage<WorkloadSet>> = async (s) => {
  const held = s.pods().filter(({ metadata }) => (metadata.finalizers ?? []).length > 0);
  for (const pod of held)
    await s.patchPod(pod, { metadata: { finalizers: null } }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  return 'let go';
};

/** Does something to one of the revisions, which are known by their numbers. */
export function withRevision(
  what: string,
  act: (s: WorkloadStage<WorkloadSet>, revision: Readonly<Revision>) => Promise<unknown>,
): Act<WorkloadStage<WorkloadSet>> {
  return async (s, random, step) => {
    const revision = s.revisions()[Math.floor(random() * s.revisions().length)];
    if (revision === undefined) return `${what} none`;
    await act(s, revision);
    // kube-controller-manager's StatefulSet controller does not hear of revisions.
    if (s.sets().length > 0) await s.nudge(`revision-${step}`);
    return `revision ${revision.revision} ${what}`;
  };
}
