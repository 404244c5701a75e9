import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../../../../base/random.ts';
import { decider } from './decision.ts';
import { moves, type Model } from './moves.ts';
import { inOrder, inParallel } from './promises.ts';
import { call, inWords, Layout, pod } from './state.ts';

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
