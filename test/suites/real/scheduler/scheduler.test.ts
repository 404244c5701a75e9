import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { daemonSets, nodes, persistentVolumeClaims, persistentVolumes, pods, storageClasses } from '../../../../kube/api/object.ts';
import type { Claim, PersistentVolume, StorageClass } from '../../../../scheduler/types.ts';
import { Kubectl } from '../../../support/kubectl.ts';
import { realParts } from '../../../support/real-parts/real-kubelet.ts';
import { startSubject } from '../cluster/controllers.ts';
import { DENIED } from '../cluster/play-stories.ts';
import { type RealWorld, worldParts } from '../cluster/real-world.ts';
import type { Event } from '../../../support/stories/remains.ts';
import { withRealParts } from '../suite.ts';
import { nodeOf, Stage, worldWith } from './stage.ts';
import { startScheduler } from './subjects.ts';

const END_MS = 800;
/*
 * `dkc scheduler run` as the scheduler of a real control plane whose kube-controller-manager collects garbage and nothing else.
 */
await withRealParts('a scheduler on a real API server', [...worldParts, 'kubectl'], () => {
  const prepare = async (world: RealWorld, ending: AsyncDisposableStack) => {
    const { dir } = await realParts(['kubectl']);
    const kubectl = await Kubectl.start(join(dir, 'kubectl'), world.plane.kubeconfig());
    ending.defer(() => kubectl.stop());
    const scheduler = ending.use(await startScheduler('dkc', world.planeForScheduler));
    ending.defer(async () => {
      const log = await readFile(scheduler.logFile, 'utf8');
      assert.doesNotMatch(log, / ERROR /);
      assert.doesNotMatch(log, DENIED);
    });
    return { world, kubectl, scheduler };
  };
  const here = worldWith(prepare, { endMs: END_MS });
  /** Alone in the cluster while the test goes on. */
  const story = (title: string, name: string, [count, cpus]: [number, number], play: (s: Stage) => Promise<void>): void => {
    void test(title, async () => {
      const { world, scheduler } = here();
      const s = await Stage.open(world, name, count, cpus);
      try {
        await play(s);
      } catch (error) {
        throw new Error(`the scheduler's log ends with\n${await scheduler.log()}`, { cause: error });
      } finally {
        await s.clear();
        await s.until('its pods are gone', () => s.pods().length === 0);
      }
    });
  };

  story('it is all that DaemonSets and StatefulSets of ours need', 'alone', [3, 4], async (s) => {
    const { world } = here();
    await using _controllers = await startSubject('dkc', world.planeFor('dkc'), ['--leader-elect=false'], 'daemonset,statefulset');
    await s.cluster.create({ name: 'agent' });
    await s.statefulSet('web', { replicas: 3 });
    await s.cluster.rolledOut('agent');
    await s.until('the set runs', () => s.hasRolled('web', 'app:1'));
    assert.deepEqual(
      s.ofApp('agent').map(nodeOf).toSorted(),
      [0, 1, 2].map((n) => s.cluster.node(n)),
    );
    await s.cluster.image('app:2', 'agent');
    await s.image('app:2', 'web');
    await s.cluster.rolledOut('agent');
    await s.until('the set is rolled', () => s.hasRolled('web', 'app:2'));
    for (const { metadata, spec } of s.pods()) {
      const told = (await s.events(metadata.name ?? '', scheduled)).filter(isScheduled);
      // A pod of the set has had this name before.
      assert.ok(told.length <= 2);
      assert.ok(told.some(({ message }) => message === `Successfully assigned ${s.name}/${metadata.name} to ${spec?.nodeName}`));
    }
    await s.client.delete(daemonSets, { name: 'agent', namespace: s.name });
  });

  story('kubectl describe tells why a pod waits, and where it went', 'describe', [3, 2], async (s) => {
    const describe = (name: string) => here().kubectl.good(`describe pod ${name} -n ${s.name}`);
    await s.create('small');
    const node = await s.bound('small');
    await s.events('small', scheduled);
    const placed = new RegExp(`Normal +Scheduled .*default-scheduler +Successfully assigned describe/small to ${node}\n`);
    assert.match(await describe('small'), placed);
    await s.cluster.taint(0, 'dedicated=db:NoSchedule');
    await s.cluster.cordon(1);
    await s.known(0);
    await s.known(1);
    await s.create('large', { cpu: '3' });
    await s.events('large', (events) => events.some(({ reason }) => reason === 'FailedScheduling'));
    const told = await describe('large');
    assert.match(
      told,
      /Warning +FailedScheduling .*default-scheduler +0\/3 nodes are available: 1 Insufficient cpu, 1 node\(s\) had untolerated taint/,
    );
    assert.match(told, /PodScheduled +False/);
    assert.match(told, /preemption: 0\/3 nodes are available: 3 Preemption is not helpful for scheduling\./);
  });

  story('a volume that is local to a node takes its first consumer there', 'volume', [3, 4], async (s) => {
    const { world, kubectl } = here();
    await using _binder = await startSubject('kube-controller-manager', world.plane, ['--leader-elect=false'], 'persistentvolume-binder');
    await s.client.create<StorageClass>(storageClasses, {
      metadata: { name: 'local' },
      provisioner: 'kubernetes.io/no-provisioner',
      volumeBindingMode: 'WaitForFirstConsumer',
    });
    const host = { key: 'kubernetes.io/hostname', operator: 'In', values: [s.cluster.node(2)] };
    await s.client.create<PersistentVolume>(persistentVolumes, {
      metadata: { name: 'disk' },
      spec: {
        accessModes: ['ReadWriteOnce'],
        capacity: { storage: '10Gi' },
        storageClassName: 'local',
        local: { path: '/mnt/disk' },
        nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [host] }] } },
      },
    });
    await s.client.create<Claim>(persistentVolumeClaims, {
      metadata: { name: 'data', namespace: s.name },
      spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'local', resources: { requests: { storage: '5Gi' } } },
    });
    const volumes = (claimName: string) => ({ spec: { volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }] } });
    await s.create('consumer', volumes('data'));
    assert.equal(await s.bound('consumer'), s.cluster.node(2));
    assert.match(await kubectl.good(`get pvc data -n ${s.name}`), /data +Bound +disk /);
    await s.create('lost', volumes('nowhere'));
    assert.match(await s.refused('lost'), /persistentvolumeclaim "nowhere" not found/);
    await s.client.delete(pods, { name: 'lost', namespace: s.name });
    await s.client.delete(pods, { name: 'consumer', namespace: s.name });
    await s.until('its pods are gone', () => s.pods().length === 0);
    await s.client.delete(nodes, { name: s.cluster.node(2) });
  });
});

const isScheduled = ({ reason }: Event): boolean => reason === 'Scheduled';
const scheduled = (events: readonly Event[]): boolean => events.some(isScheduled);
