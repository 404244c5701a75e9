import type { Random } from '../../../../../base/random.ts';
import type { Pod, StatefulSet } from '../../../../../controllers/statefulset/types.ts';
import { persistentVolumeClaims, pods, statefulSets } from '../../../../../kube/api/object.ts';
import { controllerOf } from '../../../../../kube/controller/owners.ts';
import { behave } from '../../../../support/hollow/hollow-nodes.ts';
import { pick, roughActs, type Act, type Scene as AnyScene } from '../../../../support/simulated/rough-acts.ts';
import type { Invariants } from './invariants.ts';
import { troubles } from './troubles.ts';
import { claimsOf, setsOf, statefulSet, template } from './world.ts';

export interface Scene extends AnyScene {
  invariants: Invariants;
}

const NAMES = ['web', 'db'];

const refOf = ({ metadata: { name = '' } }: Pick<Pod | StatefulSet, 'metadata'>): { name: string; namespace: string } => ({
  name,
  namespace: 'default',
});

async function onPod({ world, random }: Scene, change: object): Promise<string> {
  const pod = pick(
    (world.pods() as Pod[]).filter((one) => controllerOf(one)?.kind === 'StatefulSet'),
    random,
  );
  if (pod === undefined) return 'no pod';
  await world.user.patch(pods, refOf(pod), change, { type: 'merge' });
  return `${pod.metadata.name} ${JSON.stringify(change)}`;
}

async function onSet({ world, random }: Scene, change: object): Promise<string> {
  const set = pick(setsOf(world), random);
  if (set === undefined) return 'no set';
  await world.user.patch(statefulSets, refOf(set), change, { type: 'merge' });
  return `${set.metadata.name} ${JSON.stringify(change)}`;
}

const annotated = (annotations: object): object => ({ metadata: { annotations } });

function strategy(random: Random): object {
  const dice = random();
  if (dice < 0.15) return { updateStrategy: { type: 'OnDelete', rollingUpdate: null } };
  const partition = dice < 0.4 ? 1 + Math.floor(random() * 2) : 0;
  return { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition } } };
}

/** A few, so that revisions come back; one of them never gets ready. */
const image = (random: Random): string => (random() < 0.1 ? 'hollow/unready' : `v${Math.floor(random() * 4)}`);

const retention = (random: Random): object => ({
  persistentVolumeClaimRetentionPolicy: {
    whenScaled: pick(['Retain', 'Delete'], random),
    whenDeleted: pick(['Retain', 'Delete'], random),
  },
});

function setUp(name: string, random: Random): Record<string, unknown> {
  return statefulSet(name, {
    replicas: 1 + Math.floor(random() * 4),
    podManagementPolicy: random() < 0.5 ? 'Parallel' : 'OrderedReady',
    template: template(name, image(random)),
    minReadySeconds: random() < 0.3 ? 5 : 0,
    revisionHistoryLimit: Math.floor(random() * 4),
    ...strategy(random),
    ...retention(random),
  });
}

export const acts: readonly Act<Scene>[] = [
  {
    what: 'template',
    weight: 8,
    do: (scene) => onSet(scene, { spec: { template: { spec: { containers: [{ name: 'c', image: image(scene.random) }] } } } }),
  },
  { what: 'replicas', weight: 8, do: (scene) => onSet(scene, { spec: { replicas: Math.floor(scene.random() * 6) } }) },
  { what: 'first ordinal', weight: 2, do: (scene) => onSet(scene, { spec: { ordinals: { start: Math.floor(scene.random() * 3) } } }) },
  { what: 'strategy', weight: 3, do: (scene) => onSet(scene, { spec: strategy(scene.random) }) },
  { what: 'minReadySeconds', weight: 2, do: (scene) => onSet(scene, { spec: { minReadySeconds: pick([0, 2, 10], scene.random) } }) },
  { what: 'retention', weight: 3, do: (scene) => onSet(scene, { spec: retention(scene.random) }) },
  { what: 'paused', weight: 2, do: (scene) => onSet(scene, annotated({ 'dkc.dev/paused': pick(['true', null, null], scene.random) })) },
  {
    what: 'budget',
    weight: 3,
    do: (scene) => onSet(scene, annotated({ 'dkc.dev/max-unavailable': pick(['2', '50%', null], scene.random) })),
  },
  {
    what: 'reserved',
    weight: 2,
    do: (scene) => onSet(scene, annotated({ 'dkc.dev/reserve-ordinals': pick(['1', '0,2', 'none of them', null, null], scene.random) })),
  },
  {
    what: 'forced rollback',
    weight: 2,
    do: (scene) => onSet(scene, annotated({ 'dkc.dev/forced-rollback': pick(['true', null], scene.random) })),
  },
  {
    what: 'deadline',
    weight: 1,
    do: (scene) => onSet(scene, annotated({ 'dkc.dev/progress-deadline': pick(['30s', null], scene.random) })),
  },
  {
    what: 'set made',
    weight: 5,
    do: ({ world, random }) => {
      const there = new Set(setsOf(world).map(({ metadata }) => metadata.name));
      const name = pick(
        NAMES.filter((one) => !there.has(one)),
        random,
      );
      if (name !== undefined) world.api.add(setUp(name, random));
      return name ?? 'all are there';
    },
  },
  {
    what: 'set deleted',
    weight: 2,
    do: async ({ world, random }) => {
      const set = pick(setsOf(world), random);
      if (set === undefined) return 'none';
      const propagationPolicy = pick(['Background', 'Foreground', 'Orphan'], random);
      await world.user.delete(statefulSets, refOf(set), { body: { propagationPolicy } });
      const again = random() < 0.5 && !setsOf(world).some(({ metadata }) => metadata.name === set.metadata.name);
      if (again) world.api.add(setUp(set.metadata.name ?? '', random));
      return `${set.metadata.name} ${propagationPolicy}${again ? ', and made again' : ''}`;
    },
  },
  {
    what: 'pod deleted',
    weight: 5,
    do: async ({ world, random }) => {
      const pod = pick(world.pods() as Pod[], random);
      if (pod === undefined) return 'no pod';
      const body = random() < 0.3 ? { gracePeriodSeconds: 0 } : {};
      await world.user.delete(pods, refOf(pod), { body });
      return pod.metadata.name ?? '';
    },
  },
  {
    what: 'claim deleted',
    weight: 2,
    do: async ({ world, random, invariants }) => {
      const { name = '' } = pick(claimsOf(world), random)?.metadata ?? {};
      if (name === '') return 'no claim';
      invariants.takes(name);
      await world.user.delete(persistentVolumeClaims, { name, namespace: 'default' });
      return name;
    },
  },
  { what: 'pod fails', weight: 4, do: (scene) => onPod(scene, behave('failed:Evicted')) },
  { what: 'pod succeeds', weight: 1, do: (scene) => onPod(scene, behave('succeeded')) },
  { what: 'pod unready', weight: 3, do: (scene) => onPod(scene, behave('unready')) },
  { what: 'pod ready', weight: 3, do: (scene) => onPod(scene, behave(undefined)) },
  {
    what: 'pod relabelled',
    weight: 2,
    do: (scene) => onPod(scene, { metadata: { labels: { app: pick([...NAMES, 'other'], scene.random) } } }),
  },
  {
    what: 'pod loses its name label',
    weight: 1,
    do: (scene) => onPod(scene, { metadata: { labels: { 'statefulset.kubernetes.io/pod-name': null } } }),
  },
  { what: 'pod orphaned', weight: 2, do: (scene) => onPod(scene, { metadata: { ownerReferences: null } }) },
  ...roughActs(troubles),
];
