import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { playRandomly, shrunk, storyInWords } from './play.ts';
import { engineSubject, type MakeSubject, type Subject } from './subject.ts';

const FIRST = Number(process.env['SEED'] ?? 1);

for (const { why, worlds, questions } of [
  { why: 'in many clusters', worlds: 40, questions: 50 },
  { why: 'for long in one', worlds: 1, questions: 600 },
])
  test(`${why}, whatever happens, the engine answers as the oracle does`, () => {
    for (let seed = FIRST; seed < FIRST + worlds; seed++) {
      const played = playRandomly(seed, questions, engineSubject);
      if (played.wrong !== undefined) assert.fail(storyInWords(shrunk(played, engineSubject, 300)));
    }
  });

/** Engines with one mistake each, all of them rare. */
const mistakes: readonly { why: string; of: (right: Subject) => Partial<Subject> }[] = [
  {
    why: 'a point too many for some pods on some nodes',
    of: ({ evaluate }) => ({
      evaluate: (pod, profile) => {
        const { totals, ...rest } = evaluate(pod, profile);
        const wrong = pod.metadata.labels?.['tier'] === 'back' && totals.size > 2;
        return {
          ...rest,
          totals: wrong ? new Map([...totals].map(([node, points]) => [node, node === 'n3' ? points + 1 : points])) : totals,
        };
      },
    }),
  },
  {
    why: 'a node that is as good as the best is overlooked',
    of: ({ decide }) => ({
      decide: (pod, profile, first) => {
        const decision = decide(pod, profile, first);
        return decision.placed && decision.ties > 1 ? { ...decision, ties: decision.ties - 1 } : decision;
      },
    }),
  },
  {
    why: 'one node too few has a reason',
    of: ({ decide }) => ({
      decide: (pod, profile, first) => {
        const decision = decide(pod, profile, first);
        if (decision.placed) return decision;
        const reasons = new Map(
          [...decision.error.reasons].map(([reason, nodes]) => [reason, reason === 'Too many pods' && nodes > 1 ? nodes - 1 : nodes]),
        );
        return { ...decision, error: { ...decision.error, reasons } };
      },
    }),
  },
  {
    why: 'a broken budget goes unseen',
    of: ({ preempt }) => ({
      preempt: (pod, profile, now) => {
        const made = preempt(pod, profile, now);
        return { ...made, candidates: made.candidates.map((one) => ({ ...one, violations: 0 })) };
      },
    }),
  },
  ...(['forget', 'withdraw', 'remove-node', 'set-namespace', 'set-groups'] as const).map((deaf) => ({
    why: `nobody hears of ${deaf}`,
    of: ({ happened }: Subject): Partial<Subject> => ({
      happened: (event) => {
        if (event.do !== deaf) happened(event);
      },
    }),
  })),
];

describe('a mistake is found, and told in a short story, when', () => {
  for (const { why, of } of mistakes)
    test(why, (t) => {
      const wrong: MakeSubject = (random, budgets) => {
        const right = engineSubject(random, budgets);
        return { ...right, ...of(right) };
      };
      for (let seed = 1; seed <= 200; seed++) {
        const played = playRandomly(seed, 50, wrong);
        if (played.wrong === undefined) continue;
        const { story } = shrunk(played, wrong, 200);
        t.diagnostic(`after ${seed} clusters, in ${story.steps.length} steps of ${played.story.steps.length}`);
        assert.ok(story.steps.length <= 20, `${story.steps.length} steps`);
        return;
      }
      assert.fail('nobody noticed');
    });
});
