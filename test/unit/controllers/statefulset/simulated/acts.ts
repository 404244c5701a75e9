import type { Random } from '../../../../../base/random.ts';
import { persistentVolumeClaims, statefulSets } from '../../../../../kube/api/object.ts';
import { pick, roughActs, type Act, type Scene as AnyScene } from '../../../../support/simulated/rough-acts.ts';
import { type ActedOn, annotated, image, onPod, onSet, setActs } from '../../simulated/acts.ts';
import { troublesOf } from '../../simulated/troubles.ts';
import type { Invariants } from './invariants.ts';
import { claimsOf, setsOf, statefulSet, template } from './world.ts';

export interface Scene extends AnyScene {
  invariants: Invariants;
}

function strategy(random: Random): object {
  const dice = random();
  if (dice < 0.15) return { updateStrategy: { type: 'OnDelete', rollingUpdate: null } };
  const partition = dice < 0.4 ? 1 + Math.floor(random() * 2) : 0;
  return { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition } } };
}

function retention(random: Random): object {
  const [whenScaled, whenDeleted] = [pick(['Retain', 'Delete'], random), pick(['Retain', 'Delete'], random)];
  return { persistentVolumeClaimRetentionPolicy: { whenScaled, whenDeleted } };
}

const on: ActedOn = {
  resource: statefulSets,
  sets: setsOf,
  names: ['web', 'db'],
  setUp: (name, random) =>
    statefulSet(name, {
      replicas: 1 + Math.floor(random() * 4),
      podManagementPolicy: random() < 0.5 ? 'Parallel' : 'OrderedReady',
      template: template(name, image(random)),
      minReadySeconds: random() < 0.3 ? 5 : 0,
      revisionHistoryLimit: Math.floor(random() * 4),
      ...strategy(random),
      ...retention(random),
    }),
};

export const acts: readonly Act<Scene>[] = [
  ...setActs(on),
  onSet(on, 'replicas', 8, (random) => ({ spec: { replicas: Math.floor(random() * 6) } })),
  onSet(on, 'first ordinal', 2, (random) => ({ spec: { ordinals: { start: Math.floor(random() * 3) } } })),
  onSet(on, 'strategy', 3, (random) => ({ spec: strategy(random) })),
  onSet(on, 'retention', 3, (random) => ({ spec: retention(random) })),
  onSet(on, 'budget', 3, (random) => annotated({ 'dkc.dev/max-unavailable': pick(['2', '50%', null], random) })),
  onSet(on, 'reserved', 2, (random) => annotated({ 'dkc.dev/reserve-ordinals': pick(['1', '0,2', 'none of them', null, null], random) })),
  onSet(on, 'forced rollback', 2, (random) => annotated({ 'dkc.dev/forced-rollback': pick(['true', null], random) })),
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
  onPod(on, 'pod loses its name label', 1, () => ({ metadata: { labels: { 'statefulset.kubernetes.io/pod-name': null } } })),
  ...roughActs(
    troublesOf('statefulsets', {
      'create persistentvolumeclaims': { half: 0.3, 500: 0.3 },
      'update persistentvolumeclaims': { half: 0.3, 409: 0.3 },
      'watch persistentvolumeclaims': { lag: 0.3 },
      'patch controllerrevisions': { half: 0.4 },
    }),
  ),
];
