import type { Random } from '../../../../base/random.ts';
import type { Pod } from '../../../../controllers/common/types.ts';
import { type KubeObject, pods, type Resource } from '../../../../kube/api/object.ts';
import { controllerOf } from '../../../../kube/controller/owners.ts';
import { behave } from '../../../support/hollow/hollow-nodes.ts';
import { pick, type Act } from '../../../support/simulated/rough-acts.ts';
import type { SimWorld } from '../../../support/simulated/sim-world.ts';

/** What a kind of sets brings to acts. */
export interface ActedOn {
  resource: Resource;
  sets: (world: SimWorld) => readonly KubeObject[];
  /** Of sets, and of the labels that their pods have. */
  names: readonly string[];
  /** A set with anything that it may say. */
  setUp: (name: string, random: Random) => Record<string, unknown>;
}

export const refOf = ({ metadata: { name = '' } }: Pick<KubeObject, 'metadata'>): { name: string; namespace: string } => ({
  name,
  namespace: 'default',
});

export const annotated = (annotations: object): object => ({ metadata: { annotations } });

/** A few, so that revisions come back; one of them never gets ready. */
export const image = (random: Random): string => (random() < 0.1 ? 'hollow/unready' : `v${Math.floor(random() * 4)}`);

/** Changes one of the sets. @param change - what is merged into it */
export function onSet({ resource, sets }: ActedOn, what: string, weight: number, change: (random: Random) => object): Act {
  return {
    what,
    weight,
    do: async ({ world, random }) => {
      const [set, patch] = [pick(sets(world), random), change(random)];
      if (set === undefined) return 'no set';
      await world.user.patch(resource, refOf(set), patch, { type: 'merge' });
      return `${set.metadata.name} ${JSON.stringify(patch)}`;
    },
  };
}

/** Changes one of the pods that sets of the kind own. */
export function onPod({ resource }: ActedOn, what: string, weight: number, change: (random: Random) => object): Act {
  return {
    what,
    weight,
    do: async ({ world, random }) => {
      const own = world.pods().filter((one) => controllerOf(one)?.kind === resource.kind);
      const [pod, patch] = [pick(own, random), change(random)];
      if (pod === undefined) return 'no pod';
      await world.user.patch(pods, refOf(pod), patch, { type: 'merge' });
      return `${pod.metadata.name} ${JSON.stringify(patch)}`;
    },
  };
}

/** What may happen to sets of both kinds and their pods. */
export function setActs(on: ActedOn): Act[] {
  const { resource, sets, names, setUp } = on;
  return [
    onSet(on, 'template', 8, (random) => ({ spec: { template: { spec: { containers: [{ name: 'c', image: image(random) }] } } } })),
    onSet(on, 'minReadySeconds', 2, (random) => ({ spec: { minReadySeconds: pick([0, 2, 10], random) } })),
    onSet(on, 'paused', 2, (random) => annotated({ 'dkc.dev/paused': pick(['true', null, null], random) })),
    onSet(on, 'deadline', 1, (random) => annotated({ 'dkc.dev/progress-deadline': pick(['30s', null], random) })),
    {
      what: 'set made',
      weight: 5,
      do: ({ world, random }) => {
        const there = new Set(sets(world).map(({ metadata }) => metadata.name));
        const missing = names.filter((one) => !there.has(one));
        const name = pick(missing, random);
        if (name !== undefined) world.api.add(setUp(name, random));
        return name ?? 'all are there';
      },
    },
    {
      what: 'set deleted',
      weight: 2,
      do: async ({ world, random }) => {
        const set = pick(sets(world), random);
        if (set === undefined) return 'none';
        const propagationPolicy = pick(['Background', 'Foreground', 'Orphan'], random);
        await world.user.delete(resource, refOf(set), { body: { propagationPolicy } });
        const again = random() < 0.5 && !sets(world).some(({ metadata }) => metadata.name === set.metadata.name);
        if (again) world.api.add(setUp(set.metadata.name ?? '', random));
        return `${set.metadata.name} ${propagationPolicy}${again ? ', and made again' : ''}`;
      },
    },
    {
      what: 'pod deleted',
      weight: 5,
      do: async ({ world, random }) => {
        const pod = pick<Pod>(world.pods(), random);
        if (pod === undefined) return 'no pod';
        const body = random() < 0.3 ? { gracePeriodSeconds: 0 } : {};
        await world.user.delete(pods, refOf(pod), { body });
        return pod.metadata.name ?? '';
      },
    },
    onPod(on, 'pod fails', 4, () => behave('failed:Evicted')),
    onPod(on, 'pod succeeds', 1, () => behave('succeeded')),
    onPod(on, 'pod unready', 4, () => behave('unready')),
    onPod(on, 'pod ready', 3, () => behave(undefined)),
    onPod(on, 'pod relabelled', 3, (random) => ({ metadata: { labels: { app: pick([...names, 'other'], random) } } })),
    onPod(on, 'pod orphaned', 2, () => ({ metadata: { ownerReferences: null } })),
  ];
}
