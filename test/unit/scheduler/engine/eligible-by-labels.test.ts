import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../../../base/random.ts';
import { Cluster } from '../../../../scheduler/cache/cluster.ts';
import { defaultSchedulerConfig } from '../../../../scheduler/config/config.ts';
import { Engine } from '../../../../scheduler/engine/engine.ts';
import { podInfoOf } from '../../../../scheduler/pod/pod-info.ts';
import { node, pod } from '../builders.ts';

const HOSTNAME = 'kubernetes.io/hostname';
const ZONE = 'topology.kubernetes.io/zone';

test('a soft rule counts nodes that have its own label, whatever label a hard rule beside it names', () => {
  const cluster = new Cluster(() => ({}));
  cluster.setNode(
    node('a')
      .labels({ [HOSTNAME]: 'a', [ZONE]: 'a' })
      .build(),
  );
  cluster.setNode(
    node('b')
      .labels({ [HOSTNAME]: 'b', [ZONE]: 'b' })
      .build(),
  );
  // Without a host name, and all the same in zone a.
  const bare = node('c')
    .labels({ [ZONE]: 'a' })
    .build();
  const { [HOSTNAME]: _, ...labels } = bare.metadata.labels ?? {};
  cluster.setNode({ ...bare, metadata: { ...bare.metadata, labels } });
  for (const name of ['one', 'two', 'three']) cluster.addPod(podInfoOf(pod(name).labels({ app: 'x' }).on('c').build()));
  const engine = new Engine({
    cluster,
    random: seededRandom(1),
    compat: defaultSchedulerConfig.compat,
    defaultSelectorOf: () => undefined,
    nominations: { nodes: [], on: () => [] },
    volumes: { key: () => '', prepare: () => undefined },
  });
  const rule = (topologyKey: string, whenUnsatisfiable: 'DoNotSchedule' | 'ScheduleAnyway') => ({
    topologyKey,
    whenUnsatisfiable,
    maxSkew: 1,
    labelSelector: { matchLabels: { app: 'x' } },
  });
  const asking = pod('new')
    .labels({ app: 'x' })
    .spec({ topologySpreadConstraints: [rule(HOSTNAME, 'DoNotSchedule'), rule(ZONE, 'ScheduleAnyway')] });
  const [profile = assert.fail()] = defaultSchedulerConfig.profiles.values();
  const decision = engine.decide(podInfoOf(asking.build()), profile);
  assert.deepEqual(decision, { placed: true, node: 'b', feasible: 2, ties: 1 });
});
