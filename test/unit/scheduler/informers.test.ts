import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../../base/random.ts';
import { defaultSchedulerConfig, type ExtenderConfig } from '../../../scheduler/config/config.ts';
import { declaredFeaturesOf, requiredFeatures } from '../../../scheduler/plugins/node-declared-features.ts';
import { isGated, requirementsKey } from '../../../scheduler/queue/equivalence-class.ts';
import { Images } from '../../../scheduler/cache/node-state.ts';
import { resourceNeeds } from '../../../scheduler/engine/resource-class.ts';
import { nodeSpecKey } from '../../../scheduler/engine/node-spec-class.ts';
import { topologyClassKey } from '../../../scheduler/engine/topology-class.ts';
import { podInfoOf } from '../../../scheduler/pod/pod-info.ts';
import { nominatedNodeOf } from '../../../scheduler/queue/nominator.ts';
import { claimsOf } from '../../../scheduler/reservation/capacity.ts';
import type { Pod } from '../../../scheduler/types.ts';
import { keeper } from './as-kept.ts';
import { node, pod } from './builders.ts';
import { randomCluster, randomPod } from './oracle/generate.ts';
import { plainProfile } from './oracle/profile.ts';

const everyImage = Object.assign(new Images(), { having: () => 1 });

/** All that is read of a pod for a decision. */
function read(of: Readonly<Pod>): object {
  const info = podInfoOf(of);
  const { pod: _, ...rest } = info;
  const { images } = resourceNeeds(info, plainProfile, everyImage, undefined);
  const keys = [requirementsKey(info), nodeSpecKey(info), topologyClassKey(info, '', ''), isGated(info), nominatedNodeOf(info)];
  return { ...rest, images, keys, policy: of.spec?.preemptionPolicy, started: of.status?.startTime, phase: of.status?.phase };
}

test('of random pods the caches keep all that decisions look at', () => {
  const random = seededRandom(7);
  const kept = keeper();
  for (let round = 0; round < 40; round++) {
    const cluster = randomCluster(random, 6);
    const some = [...cluster.pods, ...Array.from({ length: 20 }, () => randomPod(random, cluster))];
    for (const one of some) assert.deepEqual(read(kept.pod(one)), read(one));
  }
});

/** What random pods do not have. */
const claims = [
  { name: 'data', persistentVolumeClaim: { claimName: 'data-rare' } },
  { name: 'scratch', ephemeral: { volumeClaimTemplate: { spec: {} } } },
  { name: 'disk', gcePersistentDisk: { pdName: 'pd-1', readOnly: true } },
];
const restarts = { name: 'c', image: 'app:1', restartPolicyRules: [{ action: 'RestartAllContainers', exitCodes: { values: [1] } }] };

test('gates, claims and disks are kept, what required features are read from, and what nodes declare', () => {
  const rare = pod('rare')
    .spec({ schedulingGates: [{ name: 'example.com/wait' }], volumes: claims })
    .build();
  assert.deepEqual(read(keeper().pod(rare)), read(rare));
  assert.deepEqual(claimsOf(podInfoOf(keeper().pod(rare))), ['data-rare', 'rare-scratch']);
  const needing = pod('needing')
    .spec({ hostNetwork: true, hostUsers: false, containers: [restarts] })
    .build();
  const required = ['RestartAllContainersOnContainerExits', 'UserNamespacesHostNetworkSupport'];
  assert.deepEqual([requiredFeatures(needing.spec), requiredFeatures(keeper().pod(needing).spec)], [required, required]);
  assert.deepEqual(declaredFeaturesOf(keeper().node(node('n').declares('A').build())), ['A']);
});

const extender = (nodeCacheCapable: boolean): ExtenderConfig => ({ nodeCacheCapable }) as ExtenderConfig;
const annotated = pod('web').spec({ hostname: 'a' }).build();
const machine = { ...node('n1').build(), spec: { podCIDR: '10.0.0.0/24' } };

const cases = [
  { why: 'without extenders neither is', extenders: [], pods: false, nodes: false },
  { why: 'for an extender both are', extenders: [extender(false)], pods: true, nodes: true },
  { why: 'for one with a cache of nodes only pods are', extenders: [extender(true)], pods: true, nodes: false },
];
for (const { why, extenders, ...whole } of cases)
  test(`are objects kept whole? ${why}`, () => {
    const kept = keeper({ ...defaultSchedulerConfig, extenders });
    assert.equal(kept.pod(annotated).spec?.hostname, whole.pods ? 'a' : undefined);
    assert.equal(kept.node(machine).spec?.podCIDR, whole.nodes ? '10.0.0.0/24' : undefined);
  });
