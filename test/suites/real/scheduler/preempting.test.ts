import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { PodDisruptionBudgetStatus } from 'kubernetes-types/policy/v1.js';
import { seededRandom } from '../../../../base/random.ts';
import { type KubeObject, namespaces, nodes, podDisruptionBudgets, pods, priorityClasses } from '../../../../kube/api/object.ts';
import type { Node, Pod } from '../../../../scheduler/types.ts';
import { givenRelease } from '../../../support/real-parts/release.ts';
import { Chance } from '../../../unit/scheduler/oracle/chance.ts';
import { RealWorld } from '../cluster/real-world.ts';
import { withRealParts } from '../suite.ts';
import { startScheduler } from './subjects.ts';
import { reasonsOf } from './texts.ts';

const CLUSTERS = Number(process.env['DKC_CLUSTERS'] ?? 10);
const WITHIN_MS = 60_000;
const LOOKS = 4;
const HOME = 'here';
const priorities: Readonly<Record<string, number>> = { below: -5, low: 1, mid: 5, high: 10, top: 100 };
const apps = ['web', 'db', 'cache'] as const;

/*
 * A pod that finds no room, put to kube-scheduler and, on the same cluster made again, to ours: the same pods have to go for it, on the same node, or nobody, for
 * the same reasons. SEED=N for other clusters.
 */
const release = await givenRelease();
const compare = (): void => {
  test(`on ${CLUSTERS} random clusters the same pods are preempted as by kube-scheduler ${release.version}`, async (t) => {
    const first = Number(process.env['SEED'] ?? 0);
    const world = await RealWorld.begin({ release, more: [nodes], controllers: '', scheduler: false });
    try {
      const { client } = world;
      for (const [name, value] of Object.entries(priorities))
        await client.create<KubeObject & { value: number }>(priorityClasses, { metadata: { name }, value });
      await client.create<KubeObject>(namespaces, { metadata: { name: HOME } });
      await using _theirs = await startScheduler('kube-scheduler', world.plane, { schedulerName: 'theirs' });
      await using _ours = await startScheduler('dkc', world.plane, { schedulerName: 'ours' });
      let preempted = 0;
      for (let seed = first; seed < first + CLUSTERS; seed++) {
        let [theirs, ours] = [await outcome(world, seed, 'theirs'), await outcome(world, seed, 'ours')];
        // Nodes, pods and budgets come by watches of their own: a scheduler that was asked before it knew of all of them is asked again.
        for (let look = 1; look < LOOKS && !isDeepStrictEqual(ours, theirs); look++)
          [theirs, ours] = [await outcome(world, seed, 'theirs'), await outcome(world, seed, 'ours')];
        assert.deepEqual(ours, theirs, `SEED=${seed}`);
        if (theirs.victims.length > 0) preempted += 1;
      }
      t.diagnostic(`${preempted} of ${CLUSTERS} preempted`);
      assert.ok(preempted > CLUSTERS / 10);
    } finally {
      await world.stop();
    }
  });
};
await withRealParts('pods that are preempted', ['etcd', 'kube-apiserver', 'kube-scheduler'], compare, release);

/** Whether it just fits, no matter on which node; else who has to go, and the reasons of the nodes and of preemption. */
async function outcome(world: RealWorld, seed: number, schedulerName: string) {
  const { client } = world;
  const { all, bound, budgets, probe } = cluster(new Chance(seededRandom(seed)), `n${seed}`);
  await Promise.all(all.map((node) => client.create<Node>(nodes, node)));
  const written = { type: 'merge', subresource: 'status' } as const;
  const budget = async ({ name, status }: (typeof budgets)[number]): Promise<void> => {
    const spec = { selector: { matchLabels: { app: name } }, maxUnavailable: 1 };
    await client.create<KubeObject & { spec: object }>(podDisruptionBudgets, { metadata: { name, namespace: HOME }, spec });
    await client.patch(podDisruptionBudgets, { name, namespace: HOME }, { status }, written);
  };
  const standing = async ({ pod, startTime }: (typeof bound)[number]): Promise<void> => {
    const { name = '' } = (await client.create<Pod>(pods, pod)).metadata;
    const ref = { name, namespace: HOME };
    await world.hasSeen(pods, await client.patch<Pod>(pods, ref, { status: { phase: 'Running', startTime } }, written));
  };
  await Promise.all([...budgets.map(budget), ...bound.map(standing)]);
  const held = (): Pod[] => [...world.pods.list(HOME)] as Pod[];
  const until = async (what: string, holds: () => boolean): Promise<void> => {
    for (const end = performance.now() + WITHIN_MS; !holds();) {
      if (performance.now() > end) throw new Error(`it did not happen: SEED=${seed}: ${what}`);
      await world.changed(HOME, 1_000);
    }
  };
  await client.create<Pod>(pods, { ...probe, spec: { containers: [], ...probe.spec, schedulerName } });
  const asked = (): Pod | undefined => held().find(({ metadata }) => metadata.name === probe.metadata.name);
  const said = (): string =>
    asked()?.status?.conditions?.find(({ type, status }) => type === 'PodScheduled' && status === 'False')?.message ?? '';
  const nominated = (): string => asked()?.status?.nominatedNodeName ?? '';
  const victims = (): string[] =>
    held().flatMap(({ metadata: { name = '', deletionTimestamp } }) => (deletionTimestamp === undefined ? [] : [name]));
  await until('it is decided', () => asked()?.spec?.nodeName !== undefined || said() !== '');
  // Each victim is needed: without all of them it does not fit.
  if (asked()?.spec?.nodeName === undefined && !said().includes(' preemption: '))
    await until('its victims go', () => all.some((node) => node.metadata.name === nominated() && fits(node, held(), probe)));
  // DynamicResources also says what it could do, which is nothing.
  const [message = '', preemption = ''] = said().replace('no new claims to deallocate, ', '').split(' preemption: ');
  const reasons = [reasonsOf(message), reasonsOf(preemption)].map((list) => list.map((one) => one.replace(/taint \{.*/, 'taint(s)')));
  const result = { fits: asked()?.spec?.nodeName !== undefined, nominated: nominated(), victims: victims().toSorted(), reasons };
  const now = { body: { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0 } };
  await Promise.all(held().map(({ metadata: { name = '' } }) => client.delete(pods, { name, namespace: HOME }, now)));
  for (const { name } of budgets) await client.delete(podDisruptionBudgets, { name, namespace: HOME });
  for (const { metadata } of all) await client.delete(nodes, { name: metadata.name ?? '' });
  await until('all is gone', () => held().length === 0 && world.more.get(nodes.resource)?.list().length === 0);
  return result;
}

/** By cpus and places, when all that go are gone. */
function fits({ metadata: { name }, status }: Node, all: readonly Pod[], probe: Pod): boolean {
  const stay = all.filter(({ metadata, spec }) => spec?.nodeName === name && metadata.deletionTimestamp === undefined);
  const cpus = [...stay, probe].reduce((sum, pod) => sum + cpusOf(pod), 0);
  return cpus <= Number(status?.allocatable?.['cpu']) && stay.length < Number(status?.allocatable?.['pods']);
}

const cpusOf = ({ spec }: Pod): number => {
  const cpu = spec?.containers[0]?.resources?.requests?.['cpu'] ?? '0';
  return cpu.endsWith('m') ? Number.parseInt(cpu, 10) / 1_000 : Number(cpu);
};

function cluster(chance: Chance, id: string) {
  const all = Array.from({ length: 2 + chance.upTo(5) }, (_, n): Node => {
    const room = { cpu: chance.one(['2', '3', '4']), memory: '8Gi', pods: chance.one(['3', '5', '110']) };
    const spec = { ...(chance.of(8) && { unschedulable: true }), ...(chance.of(10) && { taints: [{ key: 'k', effect: 'NoSchedule' }] }) };
    return {
      metadata: { name: `${id}-${n}` },
      spec,
      status: { capacity: room, allocatable: room, conditions: [{ type: 'Ready', status: 'True' }] },
    };
  });
  const podOf = (name: string, priorityClassName: string, cpu: string, spec: object = {}): Pod => ({
    metadata: { name, namespace: HOME, labels: { app: chance.one(apps) } },
    spec: {
      ...spec,
      priorityClassName,
      terminationGracePeriodSeconds: 600,
      containers: [{ name: 'c', image: 'a:1', resources: { requests: { cpu } } }],
    },
  });
  const bound = all.flatMap(({ metadata: { name: nodeName = '' } }) =>
    Array.from({ length: 1 + chance.upTo(4) }, (_, n) => ({
      pod: podOf(`on-${nodeName}-${n}`, chance.one(Object.keys(priorities)), chance.one(['250m', '500m', '1', '2']), { nodeName }),
      startTime: new Date(Date.UTC(2026, 0, 1, 0, chance.upTo(50))).toISOString(),
    })),
  );
  const counts = { currentHealthy: 3, desiredHealthy: 1, expectedPods: 3, observedGeneration: 1 };
  const budgets = chance.some(apps, 50).map((name): { name: string; status: PodDisruptionBudgetStatus } => ({
    name,
    status: { ...counts, disruptionsAllowed: chance.upTo(3) },
  }));
  return { all, bound, budgets, probe: podOf('probe', chance.one(['mid', 'high', 'top', 'top']), chance.one(['1', '2', '3', '5'])) };
}
