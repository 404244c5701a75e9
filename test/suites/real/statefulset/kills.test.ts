import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../../../controllers/common/types.ts';
import { controllerOf } from '../../../../kube/controller/owners.ts';
import { assertOrderly, killWhileRolling, quickElection } from '../cluster/kills.ts';
import { worldParts } from '../cluster/real-world.ts';
import type { World } from '../../../support/stories/world.ts';
import { withRealParts } from '../suite.ts';
import { startKeeper, startWorld } from '../cluster/set-world.ts';
import { Stage } from '../../../support/stories/statefulset/stage.ts';

const REPLICAS = 3;
const KILLS = 6;
/** The last two make their pods at once. */
const names = ['set-a', 'set-b', 'set-c', 'set-d', 'set-e'];
const parallel = new Set(['set-d', 'set-e']);

await withRealParts('StatefulSets and killed controllers', worldParts, () => {
  test('two processes are killed again and again while sets are made and rolled, and no two pods of an ordered set are ever down at once', async (t) => {
    const world = await startWorld();
    t.after(() => world.stop());
    const s = await Stage.open(world, 'kills');
    const watched = watchPods(world);
    await killWhileRolling(t, {
      killing: { times: KILLS, apart: 10, made: () => watched.made },
      names,
      pauseMs: 500,
      start: () => startKeeper('dkc', world.plane, quickElection),
      create: (name) => s.create({ name, replicas: REPLICAS, claims: ['data'], parallel: parallel.has(name) }),
      image: (image, name) => s.image(image, name),
      until: (what, holds) => s.until(what, holds),
      check: async (last) => {
        for (const name of names) await s.rolledOut(name);
        for (const name of names) {
          const set = s.set(name);
          const own = s.own(name);
          const ordinals = Array.from({ length: REPLICAS }, (_, n) => `${name}-${n}`);
          assert.deepEqual(own.map(({ metadata }) => metadata.name ?? '').toSorted(), ordinals);
          assert.ok(own.every(({ spec }) => spec?.containers[0]?.image === `app:${last}`));
          const revisions = s.revisions().filter((revision) => controllerOf(revision)?.uid === set.metadata.uid);
          assertOrderly(revisions, set.status?.collisionCount);
        }
        assert.equal(s.pods().length, names.length * REPLICAS, 'every pod belongs to a set');
        assert.equal(s.claims().length, names.length * REPLICAS, 'every pod has its claim');
        assert.deepEqual(watched.wrongs, []);
      },
    });
    s.close();
  });
});

/**
 * Follows every pod of every set, in the order in which the server tells of them, and notes what must never be: a pod while another of its name lives, one
 * that comes while an ordered set waits for an earlier one, and one of an ordered set that is taken down while another is down.
 */
function watchPods(world: World): { wrongs: string[]; made: number } {
  const seen = { wrongs: [] as string[], made: 0 };
  const live = new Map<string, Readonly<Pod>>();
  const full = new Set<string>();
  const setOf = (pod: Readonly<Pod>): string => controllerOf(pod)?.name ?? '';
  const nameOf = ({ metadata: { name = '' } }: Readonly<Pod>): string => name;
  const isUp = (pod: Readonly<Pod> | undefined): boolean =>
    pod?.metadata.deletionTimestamp === undefined &&
    pod?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;
  const down = (set: string): string[] => Array.from({ length: REPLICAS }, (_, n) => `${set}-${n}`).filter((name) => !isUp(live.get(name)));

  /** Before the pod counts as going. */
  const goes = (pod: Readonly<Pod>): void => {
    // When the template changes again, a parallel set replaces its last pod without waiting for what the change before has taken down.
    if (parallel.has(setOf(pod)) || !full.has(setOf(pod))) return;
    const others = down(setOf(pod)).filter((name) => name !== nameOf(pod));
    if (others.length > 0) seen.wrongs.push(`${nameOf(pod)} goes while ${others.join(' and ')} is down`);
  };
  const keepBook = (pod: Readonly<Pod>): void => {
    live.set(nameOf(pod), pod);
    if (down(setOf(pod)).length === 0) full.add(setOf(pod));
  };
  world.pods.addHandlers('invariants', {
    added: (pod) => {
      seen.made += 1;
      if (live.has(nameOf(pod))) seen.wrongs.push(`${nameOf(pod)} is there twice`);
      const earlier = down(setOf(pod)).filter((name) => name < nameOf(pod));
      if (!parallel.has(setOf(pod)) && earlier.length > 0) seen.wrongs.push(`${nameOf(pod)} comes before ${earlier.join(' and ')} is up`);
      keepBook(pod);
    },
    updated: (before, pod) => {
      if (before.metadata.deletionTimestamp === undefined && pod.metadata.deletionTimestamp !== undefined) goes(pod);
      keepBook(pod);
    },
    deleted: (pod) => {
      if (live.get(nameOf(pod))?.metadata.deletionTimestamp === undefined) goes(pod);
      live.delete(nameOf(pod));
    },
  });
  return seen;
}
