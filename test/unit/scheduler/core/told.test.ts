import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { test } from 'node:test';
import { coreEvents, type KubeObject, pods as podKind } from '../../../../kube/api/object.ts';
import { defaultSchedulerConfig } from '../../../../scheduler/config/config.ts';
import { pod } from '../builders.ts';
import { scene } from '../simulated/scene.ts';
import type { SchedulerWorld } from '../simulated/world.ts';

type Told = KubeObject & Record<string, unknown> & { source: { component: string }; involvedObject: { name: string } };

async function eventsOf(world: SchedulerWorld, name: string): Promise<Told[]> {
  const { items } = await world.user.list<Told>(coreEvents, { namespace: 'default' });
  return items.filter(({ involvedObject }) => involvedObject.name === name);
}

test('the profile that places a pod reports its events, also those of pods that it preempts', async (t) => {
  const [profile = assert.fail()] = defaultSchedulerConfig.profiles.values();
  const profiles = new Map(['default-scheduler', 'batch'].map((name) => [name, profile]));
  const { world, stage } = await scene(t, ['a'], { config: { profiles }, endMs: 3_600_000 });
  stage.add(pod('low').cpu('3'));
  await stage.pass(2_000);
  stage.add(pod('high').cpu('2').priority(10).spec({ schedulerName: 'batch' }));
  await stage.pass(5_000);
  const reporters = async (name: string) =>
    (await eventsOf(world, name)).map((event) =>
      [event['reason'], event.source.component, event['reportingComponent'], event['reportingInstance']].join(' '),
    );
  const by = (reason: string, who: string) => `${reason} ${who} ${who} ${who}-${hostname()}`;
  assert.deepEqual(await reporters('low'), [by('Scheduled', 'default-scheduler'), by('Preempted', 'batch')]);
  assert.deepEqual(await reporters('high'), [by('FailedScheduling', 'batch')]);
});

test('a pod that finds no room waits, is told why, and has the room of one that goes; pods of other schedulers count where they are', async (t) => {
  const { world, stage, find, nodeOf } = await scene(t, []);
  stage.begin(['a', { name: 'b', allocatable: { cpu: '1', memory: '1Mi' } }]);
  stage.add(pod('foreign').cpu('3').memory('1Gi').spec({ schedulerName: 'another' }));
  await stage.pass(1_000);
  assert.equal(nodeOf('foreign'), '');
  const ref = { namespace: 'default', name: 'foreign' };
  const binding = { apiVersion: 'v1', kind: 'Binding', metadata: ref, target: { apiVersion: 'v1', kind: 'Node', name: 'a' } };
  await world.user.post(podKind, ref, 'binding', binding);
  await stage.pass(1_000);
  stage.add(pod('ours').cpu('2').memory('2Mi'));
  await stage.pass(3_000);
  const why =
    '0/2 nodes are available: 1 Insufficient memory, 2 Insufficient cpu. preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.';
  const condition = () => find('ours')?.status?.conditions?.find(({ type }) => type === 'PodScheduled');
  assert.deepEqual([condition()?.reason, condition()?.message], ['Unschedulable', why]);
  await stage.delete('foreign');
  await stage.pass(10_000);
  assert.deepEqual([nodeOf('ours'), condition()?.status], ['a', 'True']);
  assert.deepEqual(
    (await eventsOf(world, 'ours')).map((event) => [event['type'], event['reason'], event['message']].join(' ')),
    [`Warning FailedScheduling ${why}`, 'Normal Scheduled Successfully assigned default/ours to a'],
  );
});
