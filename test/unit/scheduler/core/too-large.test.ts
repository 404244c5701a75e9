import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pods as podKind } from '../../../../kube/api/object.ts';
import { explainPod } from '../../../../scheduler/explain.ts';
import { defaultSchedulerConfig } from '../../../../scheduler/config/config.ts';
import { MAX_TERMS } from '../../../../scheduler/pod/pod-limits.ts';
import type { Pod } from '../../../../scheduler/types.ts';
import { node, pod } from '../builders.ts';
import { Stage } from '../simulated/stage.ts';
import { SchedulerWorld } from '../simulated/world.ts';

const TERMS = MAX_TERMS + 50;
const WHY = `pod has ${TERMS} terms of pod affinity and anti-affinity, more than the ${MAX_TERMS} that this scheduler supports.`;

const tooLarge = (name: string) =>
  pod(name).affinity({
    podAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: Array.from({ length: TERMS }, (_, at) => ({
        weight: 1,
        podAffinityTerm: { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: `a${at}` } } },
      })),
    },
  });

test('a pod that asks for too much is told so, once, and the others are placed', async () => {
  const world = await SchedulerWorld.make({ pace: { bindMs: () => 0, startMs: () => 100, endMs: () => 100 } });
  try {
    world.start();
    const stage = new Stage(world);
    stage.begin(['a', 'b']);
    await stage.pass(1_000);
    stage.add(tooLarge('large'), pod('small').cpu('1'));
    await stage.pass(5_000);
    const [large, small] = await Promise.all(
      ['large', 'small'].map((name) => world.user.get<Pod>(podKind, { namespace: 'default', name })),
    );
    assert.notEqual(small?.spec?.nodeName ?? '', '');
    const condition = large?.status?.conditions?.find(({ type }) => type === 'PodScheduled');
    assert.equal(condition?.reason, 'Unschedulable');
    assert.ok(condition?.message?.startsWith(`0/2 nodes are available: ${WHY}`), condition?.message);
    assert.deepEqual(
      [...(world.parts?.queue.list() ?? [])].map(({ queued }) => [...queued.rejectedBy]),
      [['PodLimits']],
    );
    const attempts = (): number | undefined => world.parts?.queue.find(large?.metadata.uid ?? '')?.queued.attempts;
    const before = attempts();
    stage.add(pod('another').cpu('1'));
    await world.user.delete(podKind, { namespace: 'default', name: 'small' });
    await stage.pass(60_000);
    assert.equal(attempts(), before);
  } finally {
    await world.stop();
  }
});

test('dkc why pod says the same', () => {
  const large = tooLarge('large').build();
  const nothing = {
    namespaces: [],
    services: [],
    replicationControllers: [],
    replicaSets: [],
    statefulSets: [],
    budgets: [],
    deviceClasses: [],
    claims: [],
  };
  const storage = { volumes: [], storageClasses: [], csiNodes: [], csiDrivers: [], capacities: [], attachments: [] };
  const cluster = { pods: [large], nodes: [node('a').build()], ...nothing, ...storage };
  const [first] = explainPod({ ...cluster, pod: large, config: defaultSchedulerConfig, running: undefined, now: 0 });
  assert.deepEqual(first, { object: 'default/large', reason: 'PodLimits', detail: `no node can run it: ${WHY.slice(0, -1)}` });
});
