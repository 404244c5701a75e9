import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from '../../../../base/random.ts';
import type { Pod } from '../../../../controllers/common/types.ts';
import { controllerOf } from '../../../../kube/controller/owners.ts';
import type { Subject } from '../cluster/subject.ts';
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

/** As quick as a lease can change hands on a busy machine. */
const quickElection = ['lease-duration=3s', 'renew-deadline=2s', 'retry-period=200ms'].map((flag) => `--leader-elect-${flag}`);

/** As systemd does with Restart=always: also one that lost its lease, on a busy machine, comes back. */
async function keepAlive(subject: Subject, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    // It may be killed while it starts.
    if (subject.pid === undefined) await subject.start().catch(() => {});
    await sleep(100, undefined, { signal }).catch(() => {});
  }
}

await withRealParts('StatefulSets and killed controllers', worldParts, () => {
  test('two processes are killed again and again while sets are made and rolled, and no two pods of an ordered set are ever down at once', async (t) => {
    await using ends = new AsyncDisposableStack();
    const world = await startWorld();
    ends.defer(() => world.stop());
    const s = await Stage.open(world, 'kills');
    const watched = watchPods(world);
    const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1e6));
    t.diagnostic(`SEED=${seed}`);
    const random = seededRandom(seed);
    const subjects = [await startKeeper('dkc', world.plane, quickElection), await startKeeper('dkc', world.plane, quickElection)];
    const ending = new AbortController();
    const kept = subjects.map((subject) => keepAlive(subject, ending.signal));
    ends.defer(async () => {
      ending.abort();
      await Promise.all(kept);
      for (const subject of subjects) {
        t.diagnostic(await subject.log());
        await subject[Symbol.asyncDispose]();
      }
    });
    let isOver = false;
    const kill = async (): Promise<void> => {
      for (let kills = 0; kills < KILLS; kills++) {
        // In the middle of work, however slow the machine is.
        const enough = watched.made + Math.ceil(random() * 10);
        await s.until(`pod ${enough} is made`, () => watched.made >= enough);
        await sleep(random() * 200);
        // Now and then both: nobody is left to take over at once.
        const victims = random() < 0.3 ? subjects : subjects.slice(random() < 0.5 ? 0 : 1).slice(0, 1);
        await Promise.all(victims.map((victim) => victim.kill()));
      }
      isOver = true;
    };
    const administrate = async (): Promise<number> => {
      for (const name of names) await s.create({ name, replicas: REPLICAS, claims: ['data'], parallel: parallel.has(name) });
      for (let tag = 2; ; tag++) {
        for (const name of names) {
          await s.image(`app:${tag}`, name);
          await sleep(random() * 500);
        }
        if (isOver) return tag;
      }
    };
    const [last] = await Promise.all([administrate(), kill()]);
    for (const name of names) await s.rolledOut(name);
    for (const name of names) {
      const set = s.set(name);
      const own = s.own(name);
      assert.deepEqual(own.map(({ metadata }) => metadata.name ?? '').toSorted(), ordinalsOf(name));
      assert.ok(own.every(({ spec }) => spec?.containers[0]?.image === `app:${last}`));
      const revisions = s.revisions().filter((revision) => controllerOf(revision)?.uid === set.metadata.uid);
      assertAllDiffer(revisions.map(({ revision }) => String(revision)));
      assertAllDiffer(revisions.map(({ data }) => JSON.stringify(data)));
      assert.ok(revisions.length <= 11, 'ten old ones and the current');
      assert.equal(set.status?.collisionCount ?? 0, 0, 'no hash was taken by a revision of its own');
    }
    assert.equal(s.pods().length, names.length * REPLICAS, 'every pod belongs to a set');
    assert.equal(s.claims().length, names.length * REPLICAS, 'every pod has its claim');
    assert.deepEqual(watched.wrongs, []);
    s.close();
  });
});

const ordinalsOf = (set: string): string[] => Array.from({ length: REPLICAS }, (_, n) => `${set}-${n}`);
const assertAllDiffer = (texts: readonly string[]): void => assert.equal(new Set(texts).size, texts.length, texts.join('\n'));

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
  const down = (set: string): string[] => ordinalsOf(set).filter((name) => !isUp(live.get(name)));

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
