import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import type { Pod } from '../../../../controllers/common/types.ts';
import type { KubeObject } from '../../../../kube/api/object.ts';
import { Kubectl } from '../../../support/kubectl.ts';
import { givenRelease, type Release } from '../../../support/real-parts/release.ts';
import { withRealParts } from '../suite.ts';
import type { Stage, WorkloadSet } from '../../../support/stories/stage.ts';
import type { Subject } from './controllers.ts';
import { type RealWorld, worldParts } from './real-world.ts';

/** `dkc controllers run` at work on a real control plane whose own controller of the kind is off. */
export interface SetsAtWork {
  world: RealWorld;
  subject: Subject;
  kubectl: Kubectl;
}

/** What both controllers do alike is in differential.test.ts; here is what can be said of ours alone, and what kubectl has to do with it. */
export async function withSets(
  kinds: string,
  begin: (release: Release) => Promise<RealWorld>,
  start: (world: RealWorld) => Promise<Subject>,
  suite: (here: () => SetsAtWork) => void,
): Promise<void> {
  const release = await givenRelease();
  const run = (): void => {
    let started: SetsAtWork | undefined;
    before(async () => {
      const world = await begin(release);
      try {
        const { kubectl: program } = await release.programs(['kubectl']);
        const kubectl = await Kubectl.start(program, world.plane.kubeconfig());
        started = { world, kubectl, subject: await start(world) };
      } catch (error) {
        await world.stop();
        throw error;
      }
    });
    after(async () => {
      const log = await started?.subject.log();
      await started?.subject[Symbol.asyncDispose]();
      await started?.kubectl.stop();
      await started?.world.stop();
      assert.doesNotMatch(log ?? '', / ERROR /);
    });
    suite(() => {
      if (started === undefined) throw new Error('the control plane did not start');
      return started;
    });
  };
  await withRealParts(`${kinds} on a real API server ${release.version}`, [...worldParts, 'kubectl'], run, release);
}

/** The controller has looked at every set when it is through with a new one, and nothing changes any more. */
export async function settled<S extends WorkloadSet>(s: Stage<S>, create: (name: string) => Promise<unknown>): Promise<void> {
  await create('probe');
  await s.rolledOut('probe');
  await s.remove('Background', 'probe');
  await s.until('it goes', () => [...s.pods(), ...s.revisions()].every(({ metadata }) => metadata.labels?.['app'] !== 'probe'));
  await s.quiet();
}

/** Who they are, and their versions: any write shows. */
export function writesOf(objects: readonly Readonly<KubeObject>[]): string[] {
  return objects.map(({ metadata }) => `${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`).toSorted();
}

/**
 * kubectl shows the history of a set that has rolled from `app:1` to `app:2`, undoes and restarts it.
 * @param set - as kubectl calls it, `ds/web`
 * @param pod - one of those that there are
 */
export async function undoneAndRestarted<S extends WorkloadSet>(
  kubectl: Kubectl,
  s: Stage<S>,
  set: string,
  pod: (n: number) => Readonly<Pod>,
): Promise<void> {
  const rollout = (words: string): Promise<string> => kubectl.good(`rollout ${words} -n ${s.name}`);
  const numbers = async () => [...(await rollout(`history ${set}`)).matchAll(/^(\d+)\s/gm)].map(([, number]) => number);
  assert.deepEqual(await numbers(), ['1', '2']);
  assert.match(await rollout(`history ${set} --revision=1`), /app:1/);

  assert.match(await rollout(`undo ${set}`), /rolled back/);
  await s.rolledOut();
  assert.equal(pod(0).spec?.containers[0]?.image, 'app:1');
  assert.deepEqual(await numbers(), ['2', '3'], 'the old revision has a new number');
  assert.match(await rollout(`undo ${set} --to-revision=2`), /rolled back/);
  await s.rolledOut();
  assert.equal(pod(0).spec?.containers[0]?.image, 'app:2');
  assert.match(await rollout(`undo ${set} --to-revision=4`), /skipped rollback/);

  const before = pod(1);
  assert.match(await rollout(`restart ${set}`), /restarted/);
  await rollout(`status ${set} --timeout=90s`);
  await s.rolledOut();
  assert.ok(s.isGone(before));
  assert.deepEqual(await numbers(), ['3', '4', '5']);
}
