import { seededRandom } from '../../../../base/random.ts';
import { emptyCluster } from '../oracle/cluster.ts';
import { Chance } from '../oracle/chance.ts';
import { applied, eventsOf, randomCluster, randomEvent, randomPod, type GeneratedCluster, type RandomEvent } from '../oracle/generate.ts';
import { plainProfile } from '../oracle/profile.ts';
import { difference, type Question } from './compare.ts';
import { profiles } from './profiles.ts';
import { engineSubject } from './subject.ts';

/** One thing that happened, or was asked. */
export type Step = RandomEvent | ({ readonly do: 'ask' } & Question);

export interface Played {
  readonly seed: number;
  readonly steps: readonly Step[];
  /** What was answered wrongly by the last step; undefined when all was right. */
  readonly wrong: string | undefined;
}

/** Makes up a story, and tells it to the engine until it answers wrongly. */
export function playRandomly(seed: number, questions: number): Played {
  const random = seededRandom(seed);
  const chance = new Chance(random);
  const begin = randomCluster(random, chance.of(8) ? 40 : 2 + chance.upTo(14));
  const teller = new Teller(seed, begin);
  for (const event of eventsOf(begin)) if (teller.tell(event)) return teller.played();
  for (let asked = 0; asked < questions; asked++) {
    for (let events = chance.upTo(4); events > 0; events--) if (teller.tell(randomEvent(random, teller.cluster))) return teller.played();
    const pod = randomPod(random, teller.cluster);
    const first = chance.of(15) ? `n${chance.upTo(begin.size)}` : undefined;
    const profile = chance.of(60) ? plainProfile : chance.one(profiles);
    if (teller.tell({ do: 'ask', pod, profile, first })) break;
    // The same but for its importance, for which other nominations hold: one must not spoil it for the other.
    const twin = { ...pod, spec: { containers: [], ...pod.spec, priority: chance.one([-10, 0, 50, 2000]) } };
    if (chance.of(40) && teller.tell({ do: 'ask', pod: twin, profile, first })) break;
    // Pods go where they should more often than not, as in life.
    if (teller.top.length > 0 && chance.of(40) && teller.tell({ do: 'assume', pod, node: chance.one(teller.top) })) break;
  }
  return teller.played();
}

export function storyInWords({ seed, steps, wrong }: Played): string {
  const told = steps.map((step) => JSON.stringify(step.do === 'ask' ? { ...step, profile: step.profile.schedulerName } : step));
  return `SEED=${seed}\n${told.join('\n')}\n${wrong ?? 'all is right'}`;
}

const nothing: GeneratedCluster = { ...emptyCluster, size: 0, even: false, templates: [], made: 0, assumed: new Set() };

/** Tells the oracle and the subject the same. */
class Teller {
  readonly #seed: number;
  readonly #steps: Step[] = [];
  readonly #subject: ReturnType<typeof engineSubject>;
  #wrong: string | undefined;
  cluster: GeneratedCluster;
  /** Where the pod that was asked for last may go. */
  top: readonly string[] = [];

  constructor(seed: number, begin: GeneratedCluster) {
    this.#seed = seed;
    this.#subject = engineSubject(seededRandom(seed + 1), begin.budgets);
    const { size, even, templates, made, budgets } = begin;
    this.cluster = { ...nothing, size, even, templates, made, budgets, namespaces: [] };
  }

  /** @returns whether something was wrong */
  tell(step: Step): boolean {
    this.#steps.push(step);
    try {
      if (step.do === 'ask') {
        const { found, right } = difference(this.#subject, this.cluster, step);
        this.top = right.top;
        this.#wrong = found;
      } else {
        this.cluster = applied(this.cluster, step);
        this.#subject.happened(step);
      }
    } catch (error) {
      this.#wrong = `threw: ${error instanceof Error ? error.stack : String(error)}`;
    }
    return this.#wrong !== undefined;
  }

  played(): Played {
    return { seed: this.#seed, steps: this.#steps, wrong: this.#wrong };
  }
}
