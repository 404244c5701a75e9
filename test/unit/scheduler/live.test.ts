import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { test } from 'node:test';
import {
  nodes as nodeKind,
  persistentVolumeClaims,
  persistentVolumes,
  pods as podKind,
  volumeAttachments,
} from '../../../kube/api/object.ts';
import { defaultSchedulerConfig } from '../../../scheduler/config/config.ts';
import { pod } from './builders.ts';
import { ExtenderServer, extenderConfig } from './extenders/extender-server.ts';
import { liveClaim, liveClass, liveVolume } from './volumes/live-storage.ts';
import { podWith } from './volumes/storage-builders.ts';
import { LiveWorld } from './live-world.ts';

const LIMIT = { timeout: 120_000 };

test('the profile that places a pod reports its events, also those of pods that it preempts', LIMIT, async (t) => {
  const [profile] = defaultSchedulerConfig.profiles.values();
  assert.ok(profile);
  const profiles = new Map(['default-scheduler', 'batch'].map((name) => [name, profile]));
  const world = await LiveWorld.start(t, ['a'], { config: { profiles }, endMs: 3_600_000 });
  world.add(pod('low').cpu('3'));
  await world.bound('low', 'a');
  world.add(pod('high').cpu('2').priority(10).spec({ schedulerName: 'batch' }));
  await world.until('both are told', () => world.reportersOf('low').length === 2 && world.reportersOf('high').length === 1);
  assert.deepEqual(world.reportersOf('low'), [
    `Scheduled default-scheduler default-scheduler default-scheduler-${hostname()}`,
    `Preempted batch batch batch-${hostname()}`,
  ]);
  assert.deepEqual(world.reportersOf('high'), [`FailedScheduling batch batch batch-${hostname()}`]);
});

test('a pod that finds no room waits, is told why, and has the room of one that goes', LIMIT, async (t) => {
  const world = await LiveWorld.start(t, ['a', { name: 'b', allocatable: { cpu: '1', memory: '1Mi' } }]);
  world.add(pod('first').cpu('3').memory('1Gi'));
  await world.bound('first', 'a');
  world.add(pod('second').cpu('2').memory('2Mi'));
  await world.refused('second');
  const why =
    '0/2 nodes are available: 1 Insufficient memory, 2 Insufficient cpu. preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.';
  assert.equal(world.conditionOf('second'), `Unschedulable: ${why}`);
  await world.until('it is told', () => world.eventsOf('second').length > 0);
  assert.deepEqual(world.eventsOf('second'), [`Warning FailedScheduling ${why}`]);
  await world.delete('first');
  await world.bound('second', 'a');
  await world.until('it is told', () => world.eventsOf('second').includes('Normal Scheduled Successfully assigned default/second to a'));
  await world.until('its condition says so', () => world.conditionOf('second') === 'True');
});

test('a node that comes later is used, also the first of all', LIMIT, async (t) => {
  const world = await LiveWorld.start(t, []);
  world.add(pod('web').cpu('1'));
  await world.refused('web');
  assert.equal(world.conditionOf('web'), 'Unschedulable: no nodes available to schedule pods');
  await world.addNodes('late');
  await world.bound('web', 'late');
});

test('a node that is uncordoned, relieved of a taint, or grows is used', LIMIT, async (t) => {
  const taints = [{ key: 'sick', effect: 'NoSchedule' }];
  const world = await LiveWorld.start(t, [{ name: 'a', allocatable: { cpu: '1' }, taints }]);
  await world.patchNode('a', { spec: { unschedulable: true } });
  world.add(pod('web').cpu('2'));
  await world.refused('web', /unschedulable/);
  await world.patchNode('a', { spec: { unschedulable: false } });
  await world.refused('web', /untolerated taint \{sick: \}/);
  await world.patchNode('a', { spec: { taints: null } });
  await world.refused('web', /Insufficient cpu/);
  await world.client.patch(
    nodeKind,
    { name: 'a' },
    { status: { allocatable: { cpu: '2' }, capacity: { cpu: '2' } } },
    { type: 'merge', subresource: 'status' },
  );
  await world.bound('web', 'a');
});

test('pods of other schedulers are left alone, and counted where they are', LIMIT, async (t) => {
  const world = await LiveWorld.start(t, ['a']);
  world.add(pod('foreign').cpu('3').spec({ schedulerName: 'another' }));
  world.add(pod('ours').cpu('1'));
  await world.bound('ours');
  assert.equal(world.nodeOf('foreign'), '');
  await world.client.post(podKind, { namespace: 'default', name: 'foreign' }, 'binding', {
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { name: 'foreign', namespace: 'default' },
    target: { apiVersion: 'v1', kind: 'Node', name: 'a' },
  });
  world.add(pod('more').cpu('1'));
  await world.refused('more', /Insufficient cpu/);
  await world.delete('foreign');
  await world.bound('more', 'a');
});

test('a pod names its node in nominatedNodeName while its volumes are bound, and no more when that fails', LIMIT, async (t) => {
  const world = await LiveWorld.start(t, ['a'], { config: { initialBackoffMs: 1, maxBackoffMs: 1 } });
  const nominated = (): string | undefined => world.find('web')?.status?.nominatedNodeName;
  const key = 'volume.kubernetes.io/selected-node';
  const selected = () => world.api.hooks.storage.get('/persistentvolumeclaims', 'default/data')?.metadata.annotations?.[key];
  for (const one of [liveClass('csi'), liveClaim('data')]) world.api.add(one);
  world.add(pod('plain'), podWith('web', 'data'));
  await world.bound('plain');
  assert.equal(world.find('plain')?.status?.nominatedNodeName, undefined);
  await world.until('its volume is to be made on the node', () => selected() === 'a');
  assert.equal(nominated(), 'a');
  await world.patchNode('a', { spec: { unschedulable: true } });
  // The provisioner cannot make it there.
  const given = { metadata: { annotations: { [key]: null } } };
  await world.client.patch(persistentVolumeClaims, { name: 'data', namespace: 'default' }, given, { type: 'merge' });
  await world.refused('web', /unschedulable|SchedulerError/);
  await world.until('it names no node', () => nominated() === undefined);
  await world.patchNode('a', { spec: { unschedulable: null } });
  await world.until('it is tried again', () => selected() === 'a');
  assert.equal(nominated(), 'a');
});

test('a volume that is still attached takes its place on the node until it is detached', LIMIT, async (t) => {
  const world = await LiveWorld.start(t, ['a']);
  for (const name of ['old', 'new']) {
    const annotations = { 'pv.kubernetes.io/bind-completed': 'yes' };
    const { metadata, ...claim } = liveClaim(name, { volumeName: name, storageClassName: '' });
    world.api.add({ ...claim, metadata: { ...(metadata as object), annotations } });
    const csi = { driver: 'csi', volumeHandle: name };
    world.api.add(liveVolume(name, { storageClassName: '', hostPath: undefined, claimRef: { namespace: 'default', name }, csi }));
  }
  const storage = { apiVersion: 'storage.k8s.io/v1' };
  const drivers = [{ name: 'csi', nodeID: 'a', topologyKeys: [], allocatable: { count: 1 } }];
  const attached = { attacher: 'csi', nodeName: 'a', source: { persistentVolumeName: 'old' } };
  world.api.add({ ...storage, kind: 'CSINode', metadata: { name: 'a' }, spec: { drivers } });
  world.api.add({ ...storage, kind: 'VolumeAttachment', metadata: { name: 'left-over' }, spec: attached });
  world.add(podWith('web', 'new'));
  await world.refused('web', /1 node\(s\) exceed max volume count/);
  await world.client.delete(volumeAttachments, { name: 'left-over' });
  await world.bound('web', 'a');
});

test('a claim that waits for its pod gets a volume where the pod fits, and the pod goes there', LIMIT, async (t) => {
  const world = await LiveWorld.start(t, ['a', 'b']);
  bindClaims(world);
  for (const one of [liveClass(), liveClaim('data-0')]) world.api.add(one);
  world.add(podWith('db-0', 'data-0').cpu('1'));
  await world.refused('db-0', /2 node\(s\) didn't find available persistent volumes to bind/);
  const onB = [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['b'] }] }];
  world.api.add(liveVolume('on-b', { nodeAffinity: { required: { nodeSelectorTerms: onB } } }));
  const status = { type: 'merge', subresource: 'status' } as const;
  await world.client.patch(persistentVolumes, { name: 'on-b' }, { status: { phase: 'Available' } }, status);
  await world.bound('db-0', 'b');
  // The next claim finds nothing: the volume is taken.
  world.api.add(liveClaim('data-1'));
  world.add(podWith('db-1', 'data-1').cpu('1'));
  await world.refused('db-1', /didn't find available persistent volumes to bind/);
});

test('extenders say no, count, and bind', LIMIT, async (t) => {
  const extender = await ExtenderServer.start(t, {
    filter: ({ NodeNames }) => ({
      NodeNames: (NodeNames as string[]).filter((name) => name !== 'a'),
      FailedNodes: { a: 'the extender does not like it' },
    }),
    prioritize: ({ NodeNames }) => (NodeNames as string[]).map((Host) => ({ Host, Score: Host === 'c' ? 10 : 0 })),
  });
  const config = extenderConfig(extender.url, { filterVerb: 'filter', prioritizeVerb: 'prioritize', weight: 5 });
  const world = await LiveWorld.start(t, ['a', 'b', 'c'], { config: { extenders: [config] } });
  world.add(pod('web').cpu('1'));
  await world.bound('web', 'c');
  world.add(pod('other').cpu('1').selects({ 'kubernetes.io/hostname': 'a' }));
  await world.refused('other', /1 the extender does not like it/);
});

test('a pod that is deleted while it is being bound is not counted any more', LIMIT, async (t) => {
  const asked = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const world = await LiveWorld.start(t, ['a'], {
    by: {
      async call({ resource, key }, pass) {
        if (resource === 'pods/binding' && key === 'default/first') {
          asked.resolve();
          await go.promise;
        }
        return pass();
      },
    },
  });
  world.add(pod('first').cpu('4'));
  await asked.promise;
  world.add(pod('second').cpu('4'));
  await world.refused('second');
  await world.delete('first');
  // Nothing comes of the binding: whoever waits need not wait for the answer.
  await world.bound('second', 'a');
  go.resolve();
  world.add(pod('third').cpu('4'));
  await world.refused('third');
  await world.delete('second');
  await world.bound('third', 'a');
});

test('a pod whose refusal is written slowly is never said to have no place once it has one', LIMIT, async (t) => {
  const writing = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const bindings: string[] = [];
  const world = await LiveWorld.start(t, ['a'], {
    kubelets: false,
    by: {
      async call({ resource, key }, pass) {
        if (resource === 'pods/binding') bindings.push(key);
        if (resource === 'pods/status' && key === 'default/second') {
          writing.resolve();
          await go.promise;
        }
        return pass();
      },
    },
  });
  world.add(pod('first').cpu('4'));
  await world.bound('first', 'a');
  world.add(pod('second').cpu('4'));
  await writing.promise;
  await world.client.delete(podKind, { name: 'first', namespace: 'default' }, { body: { gracePeriodSeconds: 0 } });
  await world.until('it is decided anew', () => JSON.stringify(world.dump('scheduler-queue')).includes('in-flight'));
  assert.deepEqual(bindings, ['default/first']);
  go.resolve();
  await world.bound('second', 'a');
  assert.equal(world.conditionOf('second'), 'True');
});

/** Binds claims to the volumes that are reserved for them, as kube-controller-manager does. */
function bindClaims(world: LiveWorld): void {
  world.api.hooks.storage.onChange((kind, { object, type }) => {
    const { claimRef } = (object['spec'] ?? {}) as { claimRef?: { namespace: string; name: string } };
    if (kind !== '/persistentvolumes' || type === 'DELETED' || claimRef === undefined) return;
    const metadata = { annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } };
    const change = { metadata, spec: { volumeName: object.metadata.name } };
    const { namespace, name } = claimRef;
    setImmediate(() => void world.client.patch(persistentVolumeClaims, { namespace, name }, change, { type: 'merge' }));
  });
}
