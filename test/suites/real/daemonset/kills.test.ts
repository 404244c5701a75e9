import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../../../controllers/common/types.ts';
import { daemonSets } from '../../../../kube/api/object.ts';
import { controllerOf } from '../../../../kube/controller/owners.ts';
import { withRealParts } from '../suite.ts';
import { Stage } from '../../../support/stories/daemonset/stage.ts';
import { startSubject } from '../cluster/controllers.ts';
import { assertOrderly, killWhileRolling, quickElection } from '../cluster/kills.ts';
import { RealWorld, worldParts } from '../cluster/real-world.ts';

const SETS = 6;
const NODES = 6;
const KILLS = 10;
const names = Array.from({ length: SETS }, (_, n) => `set-${String.fromCodePoint(97 + n)}`);

await withRealParts('DaemonSets and killed controllers', worldParts, () => {
  test('two processes are killed again and again while sets are made and rolled, and nothing is there twice', async (t) => {
    const world = await RealWorld.begin({ fence: daemonSets });
    t.after(() => world.stop());
    const s = await Stage.open(world, 'kills');
    await s.nodes(NODES);
    const watched = watchForTwins(world);
    await killWhileRolling(t, {
      killing: { times: KILLS, apart: 15, made: () => watched.made },
      names,
      pauseMs: 700,
      start: () => startSubject('dkc', world.plane, quickElection),
      create: (name) => s.create({ name, spec: { updateStrategy: { rollingUpdate: { maxUnavailable: 2 } } } }),
      image: (image, name) => s.image(image, name),
      until: (what, holds) => s.until(what, holds),
      check: async (last) => {
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
      },
    });
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
