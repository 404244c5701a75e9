import assert from 'node:assert/strict';
import { test } from 'node:test';
import { realClock } from '../../../base/clock.ts';
import { seededRandom } from '../../../base/random.ts';
import { LightFleet } from '../../../cli/demo/fleet/light-fleet.ts';
import { configMap, KEY, NAMESPACE } from '../../../cli/demo/stage.ts';
import { type NodeConfigRollout, rollouts } from '../../../controllers/rollout/types.ts';
import { configMaps } from '../../../kube/api/object.ts';
import { eventually } from '../../support/eventually.ts';
import { givenRelease } from '../../support/real-parts/release.ts';
import { startSubject } from './cluster/controllers.ts';
import { pace, rolloutPlane } from './cluster/rollout-account.ts';
import { ofRelease } from './suite.ts';

const NODES = 12;
const spec = {
  nodeSelector: {},
  configMap: { namespace: NAMESPACE, name: 'web', kubeletConfigKey: KEY },
  maxUnavailable: 6,
  steps: [{ nodes: 2, approve: true }, { nodes: '100%' }],
};
const release = await givenRelease();

await ofRelease(release, 'etcd is restored from a backup of the beginning of a rollout', ['etcd', 'kube-apiserver'], () => {
  test('the rollout, which was complete, takes its first step again and waits for the approval', async (t) => {
    const { plane, client, byRole } = await rolloutPlane(t, release);
    const ref = { name: 'web', namespace: NAMESPACE };
    await client.create(configMaps, { ...configMap('good'), metadata: ref });
    await using fleet = new LightFleet({ count: NODES, pace, clock: realClock, random: seededRandom(3), version: '0.1.0', client });
    await fleet.start(AbortSignal.timeout(120_000));
    await client.create(rollouts, { apiVersion: 'dkc.dev/v1alpha1', kind: 'NodeConfigRollout', metadata: { name: 'web' }, spec }); // prettier-ignore
    await plane.backUp();
    await using _ = await startSubject('dkc', byRole, ['--leader-elect=false'], 'rollout');
    const comesTo = (what: string, holds: (status: NonNullable<NodeConfigRollout['status']>) => boolean, ms: number) =>
        eventually(what, async () => {
          const { status } = await client.get<NodeConfigRollout>(rollouts, { name: 'web' }).catch(() => ({ status: undefined }));
          return status !== undefined && holds(status) ? status : undefined;
        }, ms); // prettier-ignore
    const { revision } = await comesTo('it waits for the approval', ({ waitsFor }) => waitsFor === 'Approval', 120_000);
    const approvals = [{ step: 1, revision, by: 'jane', at: '2026-03-01T00:00:00Z' }];
    await client.patch(rollouts, { name: 'web' }, { status: { approvals } }, { type: 'merge', subresource: 'status' });
    await comesTo('it is complete', ({ phase }) => phase === 'Complete', 120_000);
    // What is written after the restore does not catch up with these.
    for (let at = 0; at < 800; at++) await client.patch(configMaps, ref, { metadata: { annotations: { at: `${at}` } } }, { type: 'merge' });
    await plane.restore();
    const from = performance.now();
    const status = await comesTo('it waits for the approval again', ({ waitsFor }) => waitsFor === 'Approval', 240_000);
    t.diagnostic(`${Math.round(performance.now() - from)} ms`);
    assert.deepEqual([status.nodes?.selected, status.nodes?.settled, status.nodes?.updated], [NODES, 2, 2]);
  });
});
