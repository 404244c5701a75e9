import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decider, type Decide } from './decision.ts';
import { explore, type Explored } from './explore.ts';
import type { Model } from './moves.ts';
import { inOrder, inParallel, oneDown } from './promises.ts';
import { call, Layout, pod, type Shape, type State } from './state.ts';

/*
 * Every state that a small world can get into: the controller decides with what its caches show, which is behind the server; each of its calls may be lost
 * before it takes effect or after; another process may take over while calls of the first are still under way; kubelets start, lose, fail and end pods;
 * the user edits the template, scales, and deletes pods. What nobody may do is delete by force: then a name is free whose
 * pod may still run, and no controller can know.
 */

const anything = (): void => {};
const inOrderDecides = decider({});

function explored(
  shape: Shape,
  model: Omit<Model, 'layout'>,
  check: (layout: Layout) => (state: State) => void = () => anything,
): Explored {
  const layout = new Layout(shape);
  return explore({ layout, ...model }, check(layout));
}

const worlds: {
  why: string;
  shape: Shape;
  model: Omit<Model, 'layout'>;
  check?: (layout: Layout) => (state: State) => void;
  atLeast: number;
}[] = [
  {
    why: 'three pods in order, calls without answers',
    shape: { n: 3, lag: 1 },
    model: { decide: inOrderDecides, judge: inOrder, silence: true },
    atLeast: 500_000,
  },
  {
    why: 'two pods in order, leaders that follow one another, calls without answers or too late',
    shape: { n: 2, lag: 1 },
    model: { decide: inOrderDecides, judge: inOrder, silence: true, successors: true },
    atLeast: 400_000,
  },
  {
    why: 'two pods in order, caches further behind: one place is down at a time',
    shape: { n: 2, lag: 2 },
    model: { decide: inOrderDecides, judge: inOrder },
    check: oneDown,
    atLeast: 40_000,
  },
  {
    why: 'two pods in parallel',
    shape: { n: 2, lag: 1 },
    model: { decide: decider({ parallel: true }), judge: inParallel(), silence: true },
    atLeast: 40_000,
  },
  {
    why: 'two pods in parallel, of which one may be down',
    shape: { n: 2, lag: 1 },
    model: { decide: decider({ parallel: true, update: { maxUnavailable: 1 } }), judge: inParallel(1), silence: true },
    atLeast: 40_000,
  },
];

describe('no pod is made while one of its name is there, and no more is down than may be, whatever happens', () => {
  for (const { why, shape, model, check, atLeast } of worlds)
    test(why, (t) => {
      const { states, moves, broken } = explored(shape, model, check);
      t.diagnostic(`${states} states, ${moves} moves`);
      assert.equal(broken, undefined);
      assert.ok(states >= atLeast, `only ${states} states`);
    });
});

/** A controller that errs. */
const seeing =
  (eyes: (kind: number) => number): Decide =>
  (pods, set) =>
    inOrderDecides(pods.map(eyes), set);
const blind = seeing((kind) => (kind === pod.going ? pod.none : kind));

const errors: {
  why: string;
  lag?: number;
  model: Partial<Omit<Model, 'layout'>>;
  check?: (layout: Layout) => (state: State) => void;
  found: RegExp;
}[] = [
  { why: 'does not wait for pods that are going', model: { decide: blind }, found: /is made and is there/ },
  {
    why: 'decides before it sees what it did',
    lag: 2,
    model: { decide: inOrderDecides, without: 'own writes' },
    check: oneDown,
    found: /two available places down/,
  },
  {
    why: 'does not say which pod it means, and is heard late',
    model: { decide: inOrderDecides, without: 'preconditions', successors: true },
    found: /the deletion of an earlier pod \d takes the one that is there now/,
  },
];

describe('a controller is found out that', () => {
  for (const { why, lag = 1, model, check, found } of errors)
    test(why, (t) => {
      const { broken, states } = explored({ n: 2, lag }, { decide: inOrderDecides, judge: inOrder, ...model }, check);
      t.diagnostic(`${states} states; ${broken?.join(' > ')}`);
      assert.match(broken?.at(-1) ?? '', found);
    });
});

/** What time alone brings about when all goes well. @returns the pods at the end, and after how many looks */
function settled(decide: Decide, start: readonly number[], set: number): { pods: readonly number[]; looks: number } {
  let pods = [...start];
  for (let looks = 0; looks < 60; looks++) {
    const calls = decide(pods, set);
    const next = pods.map((kind, ordinal) => {
      const asked = calls[ordinal] ?? call.none;
      if (asked === call.createA || asked === call.createB) return asked === call.createA ? pod.startingA : pod.startingB;
      if (asked === call.delete) return kind === pod.failed ? pod.none : pod.going;
      if (kind === pod.going) return pod.none;
      return kind === pod.startingA || kind === pod.startingB ? kind + 1 : kind;
    });
    if (next.every((kind, ordinal) => kind === pods[ordinal])) return { pods, looks };
    pods = next;
  }
  return { pods, looks: Infinity };
}

describe('wherever a set begins, it ends as it should', () => {
  for (const [why, options] of [
    ['in order', {}],
    ['in parallel', { parallel: true }],
    ['in parallel, two at once', { parallel: true, update: { maxUnavailable: 2 } }],
    ['all anew', { update: 'Recreate' }],
  ] as const)
    test(why, (t) => {
      const decide = decider(options);
      const kinds = Object.values(pod);
      let longest = 0;
      for (const a of kinds)
        for (const b of kinds)
          for (const c of kinds)
            for (let replicas = 0; replicas <= 3; replicas++) {
              const { pods, looks } = settled(decide, [a, b, c], 2 * replicas);
              longest = Math.max(longest, looks);
              assert.deepEqual(
                pods,
                [0, 1, 2].map((ordinal) => (ordinal < replicas ? pod.readyA : pod.none)),
                `${replicas} of ${[a, b, c].join(' ')}`,
              );
            }
      t.diagnostic(`after ${longest} looks at most`);
    });
});
