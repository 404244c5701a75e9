import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from '../../../../base/random.ts';
import type { Pod } from '../../../../controllers/daemonset/types.ts';
import { daemonSets } from '../../../../kube/api/resources.ts';
import { controllerOf } from '../../../../kube/controller/owner-refs.ts';
import { withRealParts } from '../suite.ts';
import { Stage } from '../../../support/stories/daemonset/stage.ts';
import { startSubject } from '../cluster/controllers.ts';
import { assertOrderly, keepAlive, killAgainAndAgain, quickElection } from '../cluster/kills.ts';
import { RealWorld, worldParts } from '../cluster/real-world.ts';

const SETS = 6;
const NODES = 6;
const KILLS = 10;
const names = Array.from({ length: SETS }, (_, n) => `set-${String.fromCodePoint(97 + n)}`);

await withRealParts('DaemonSets and killed controllers', worldParts, () => {
  test('two processes are killed again and again while sets are made and rolled, and nothing is there twice', async (t) => {
    const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1e6));
    t.diagnostic(`SEED=${seed}`);
    const random = seededRandom(seed);
    const world = await RealWorld.begin({ fence: daemonSets });
    t.after(() => world.stop());
    const s = await Stage.open(world, 'kills');
    await s.nodes(NODES);
    const watched = watchForTwins(world);
    await using one = await startSubject('dkc', world.plane, quickElection);
    await using other = await startSubject('dkc', world.plane, quickElection);

    const ending = new AbortController();
    const kept = [one, other].map((subject) => keepAlive(subject, ending.signal));
    let isOver = false;
    const killing = async (): Promise<void> => {
      await killAgainAndAgain(one, other, {
        times: KILLS,
        apart: 15,
        random,
        made: () => watched.made,
        until: (what, holds) => s.until(what, holds),
      });
      isOver = true;
    };
    const administrating = async (): Promise<number> => {
      for (const name of names) await s.create({ name, spec: { updateStrategy: { rollingUpdate: { maxUnavailable: 2 } } } });
      for (let tag = 2; ; tag++) {
        for (const name of names) {
          await s.image(`app:${tag}`, name);
          await sleep(random() * 700);
        }
        if (isOver) return tag;
      }
    };
    const [last] = await Promise.all([administrating(), killing()]);
    try {
      for (const name of names) await s.rolledOut(name);
      for (const name of names) {
        const set = s.set(name);
        const own = s.pods().filter((pod) => controllerOf(pod)?.uid === set.metadata.uid);
        assert.deepEqual(
          own.map(({ spec }) => spec?.nodeName ?? '').toSorted((a, b) => (a < b ? -1 : 1)),
          Array.from({ length: NODES }, (_, n) => s.node(n)),
        );
        assert.ok(own.every(({ spec }) => spec?.containers[0]?.image === `app:${last}`));
        const revisions = s.revisions().filter((revision) => controllerOf(revision)?.uid === set.metadata.uid);
        assertOrderly(revisions, set.status?.collisionCount);
      }
      assert.equal(s.pods().length, SETS * NODES, 'every pod belongs to a set');
      assert.deepEqual(watched.twins, [], 'at no time two pods of a set on a node');
    } catch (error) {
      t.diagnostic(await one.log());
      t.diagnostic(await other.log());
      throw error;
    } finally {
      ending.abort();
      await Promise.all(kept);
    }
  });
});

/** Counts pods, and fills with `SET on NODE` whenever one is made where there is one that does not end. */
function watchForTwins(world: RealWorld): { twins: string[]; made: number } {
  const seen = { twins: [] as string[], made: 0 };
  const target = (pod: Readonly<Pod>): string | undefined => {
    const terms = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
    return terms?.[0]?.matchFields?.[0]?.values?.[0];
  };
  const isSame = (a: Readonly<Pod>, b: Readonly<Pod>): boolean =>
    controllerOf(a)?.uid === controllerOf(b)?.uid && target(a) === target(b) && a.metadata.uid !== b.metadata.uid;
  world.pods.addHandlers('twins', {
    added: (pod) => {
      seen.made += 1;
      const twins = world.pods
        .list(pod.metadata.namespace)
        .filter((one) => one.metadata.deletionTimestamp === undefined && isSame(one, pod));
      if (twins.length > 0) seen.twins.push(`${controllerOf(pod)?.name} on ${target(pod)}`);
    },
  });
  return seen;
}
