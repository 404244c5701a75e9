import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decider, type Decide } from './decision.ts';
import { explore, type Explored } from './explore.ts';
import { isReady, type Model, moves } from './moves.ts';
import { inOrder, inParallel, oneDown } from './promises.ts';
import { call, Layout, pod, type Shape, type State, inWords } from './state.ts';
import { seededRandom } from '../../../../../base/random.ts';

/*
 * Every state that a small world can get into: the controller decides with what its caches show, which is behind the server; each of its calls may be lost
 * before it takes effect or after; another process may take over while calls of the first are still under way; kubelets start, lose, fail and end pods;
 * the user edits the template, scales, and deletes pods. What nobody may do is delete by force: then the server gives a name away whose pod may still run,
 * and no controller can know.
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

describe('no two pods of one name run, whatever happens', () => {
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
const twoAtOnce =
  (of: (ordinal: number, replicas: number) => boolean): Decide =>
  (pods, set) => {
    const calls = inOrderDecides(pods, set);
    const ordinal = calls.findIndex((kind, ordinal) => kind === call.delete && of(ordinal, set >> 1));
    const also = ordinal > 0 && isReady(pods[ordinal - 1] ?? 0) && of(ordinal - 1, set >> 1) ? ordinal - 1 : -1;
    return calls.map((kind, at) => (at === also ? call.delete : kind));
  };
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
    why: 'does not wait for them, and the server takes a name twice',
    model: { decide: blind, judge: anything, without: 'unique names' },
    found: /two pods called \d run/,
  },
  {
    why: 'does not wait for readiness',
    model: { decide: seeing((kind) => (kind === pod.startingA ? pod.readyA : kind)) },
    found: /is made while one below/,
  },
  { why: 'scales down two at once', model: { decide: twoAtOnce((ordinal, replicas) => ordinal >= replicas) }, found: /two things at once/ },
  {
    why: 'updates two at once, as the server sees it',
    model: { decide: twoAtOnce((ordinal, replicas) => ordinal < replicas), judge: anything },
    check: oneDown,
    found: /two available places down/,
  },
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
  {
    why: 'is right, and the user deletes by force',
    model: { decide: inOrderDecides, judge: anything, force: true },
    found: /two pods called \d run/,
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
    ['in order, two at once', { update: { maxUnavailable: 2 } }],
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

const STEPS = 4_000;

type Move = [what: string, ordinal: number, change: (state: number[]) => void];
/** What does not happen all the time. */
const rare = /^(the user|another leads|fails|is not ready|.*never arrives|.*answer does not)/;
const calm = /^(the leader|all caches|the cache sees|the call arrives$|the late call arrives$|is ready|is gone)/;

const policies: { why: string; model: Omit<Model, 'layout'> }[] = [
  { why: 'in order', model: { decide: decider({}), judge: inOrder } },
  { why: 'in parallel', model: { decide: decider({ parallel: true }), judge: inParallel() } },
  {
    why: 'in parallel, of which three may be down',
    model: { decide: decider({ parallel: true, update: { maxUnavailable: 3 } }), judge: inParallel(3) },
  },
];

for (const { why, model } of policies)
  for (const seed of [1, 2, 3])
    test(`twenty pods ${why}, through ${STEPS} steps of anything, ${seed}`, (t) => {
      const layout = new Layout({ n: 20, lag: 60 });
      const world = { ...model, layout, successors: true, silence: true };
      const random = seededRandom(seed);
      const state = layout.empty();
      state[layout.wants] = 40;
      let most = 0;
      const done = new Map<string, number>();
      const next = (allowed: (move: Move) => boolean): boolean => {
        const choices: Move[] = [];
        moves(world, state, (...move) => {
          if (allowed(move)) choices.push(move);
        });
        // Each kind of move is as likely as the others, however many pods it may happen to.
        const kinds = [...new Set(choices.map(([what]) => what))];
        const kind = kinds[Math.floor(random() * kinds.length)];
        const those = choices.filter(([what]) => what === kind);
        const [what, , change] = those[Math.floor(random() * those.length)] ?? [];
        if (what === undefined || change === undefined) return false;
        change(state);
        done.set(what, (done.get(what) ?? 0) + 1);
        return true;
      };
      for (let step = 0; step < STEPS; step++) {
        const luck = random();
        next(([what]) => luck < 0.06 || !rare.test(what));
        most = Math.max(most, state.slice(0, 20).filter((kind) => kind !== pod.none).length);
      }
      assert.ok(done.size >= 15, `only ${[...done.keys()].join(', ')}`);
      assert.ok(most >= 15, `there were never more than ${most} pods`);
      let steps = 0;
      while (next(([what]) => calm.test(what))) assert.ok(++steps < 20_000, `does not come to rest: ${inWords(layout, state)}`);
      t.diagnostic([...done].map(([what, count]) => `${what}: ${count}`).join('; '));
      const wants = layout.at(state, layout.wants);
      const wanted = Array.from({ length: 20 }, (_, ordinal) => {
        if (ordinal >= wants >> 1) return pod.none;
        return (wants & 1) === 0 ? pod.readyA : pod.readyB;
      });
      assert.deepEqual(state.slice(0, 20), wanted);
      assert.ok(state.slice(layout.calls, layout.calls + 20).every((kind) => kind === call.none));
    });
