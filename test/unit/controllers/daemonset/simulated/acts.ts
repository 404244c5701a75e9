import type { Random } from '../../../../../base/random.ts';
import type { DaemonSet, Pod } from '../../../../../controllers/daemonset/types.ts';
import { daemonSets, nodes, pods } from '../../../../../kube/api/object.ts';
import { controllerOf } from '../../../../../kube/controller/owners.ts';
import { behave } from '../../../../support/hollow/hollow-nodes.ts';
import { daemonSet } from '../../../../support/simulated/sets.ts';
import { pick, roughActs, type Act, type Scene } from '../../../../support/simulated/rough-acts.ts';

const NAMES = ['web', 'logs'];
const MAX_NODES = 12;
const pools = ['x', 'y'];

function ownPods({ world }: Scene): Pod[] {
  return world.pods().filter((pod) => controllerOf(pod)?.kind === 'DaemonSet');
}

const refOf = ({ metadata: { name = '', namespace = 'default' } }: Pod | DaemonSet): { name: string; namespace: string } => ({
  name,
  namespace,
});

async function onPod(scene: Scene, change: object): Promise<string> {
  const pod = pick(ownPods(scene), scene.random);
  if (pod === undefined) return 'no pod';
  await scene.world.user.patch(pods, refOf(pod), change, { type: 'merge' });
  return `${pod.metadata.name} ${JSON.stringify(change)}`;
}

async function onSet({ world, random }: Scene, change: object): Promise<string> {
  const set = pick(world.sets(), random);
  if (set === undefined) return 'no set';
  await world.user.patch(daemonSets, refOf(set), change, { type: 'merge' });
  return `${set.metadata.name} ${JSON.stringify(change)}`;
}

async function onNode({ world, random }: Scene, change: object): Promise<string> {
  const node = pick(world.nodes(), random);
  if (node === undefined) return 'no node';
  await world.patchNode(node.metadata.name ?? '', change);
  return `${node.metadata.name} ${JSON.stringify(change)}`;
}

const annotated = (annotations: object): object => ({ metadata: { annotations } });

function strategy(random: Random): object {
  const dice = random();
  if (dice < 0.15) return { type: 'OnDelete', rollingUpdate: null };
  const many = pick([1, 2, 3, '30%', '50%'], random) ?? 1;
  const rollingUpdate = dice < 0.5 ? { maxSurge: many, maxUnavailable: 0 } : { maxUnavailable: many, maxSurge: 0 };
  return { type: 'RollingUpdate', rollingUpdate };
}

function setUp(name: string, random: Random): Record<string, unknown> {
  const selector = random() < 0.4 ? { nodeSelector: { pool: pick(pools, random) } } : {};
  const spec = { ...selector, containers: [{ name: 'c', image: image(random) }] };
  return daemonSet(name, {
    template: { metadata: { labels: { app: name } }, spec },
    minReadySeconds: random() < 0.3 ? 5 : 0,
    revisionHistoryLimit: Math.floor(random() * 4),
    updateStrategy: strategy(random),
  });
}

/** A few, so that revisions come back; one of them never gets ready. */
const image = (random: Random): string => (random() < 0.1 ? 'hollow/unready' : `v${Math.floor(random() * 4)}`);

const troubles: readonly Record<string, unknown>[] = [
  { verb: 'create', resource: 'pods', status: 500, probability: 0.3 },
  { verb: 'create', resource: 'pods', status: 'half', probability: 0.2 },
  { verb: 'create', resource: 'pods', status: 'drop', probability: 0.2 },
  { verb: 'create', resource: 'pods', status: 429, probability: 0.3 },
  { verb: 'create', resource: 'controllerrevisions', status: 'half', probability: 0.4 },
  { verb: 'delete', resource: 'pods', status: 'half', probability: 0.3 },
  { verb: 'delete', resource: 'pods', status: 500, probability: 0.3 },
  { verb: 'delete', resource: 'pods', status: 409, probability: 0.3 },
  { verb: 'delete', resource: 'controllerrevisions', status: 503, probability: 0.4 },
  { verb: 'patch', resource: 'pods', status: 'half', probability: 0.3 },
  { verb: 'patch', resource: 'pods', status: 409, probability: 0.3 },
  { verb: 'update', resource: 'daemonsets/status', status: 409, probability: 0.3 },
  { verb: 'update', resource: 'daemonsets/status', status: 'half', probability: 0.3 },
  { verb: 'update', resource: 'daemonsets/status', status: 'delay', ms: 700, probability: 0.3 },
  { verb: 'get', resource: 'daemonsets', status: 500, probability: 0.4 },
  { verb: 'watch', resource: 'pods', status: 'lag', ms: 1500, probability: 0.2 },
  { verb: 'watch', resource: 'nodes', status: 'lag', ms: 3000, probability: 0.3 },
  { verb: 'watch', resource: 'daemonsets', status: 'lag', ms: 2000, probability: 0.3 },
  { verb: 'watch', resource: 'controllerrevisions', status: 'lag', ms: 2000, probability: 0.3 },
  { verb: 'watch', resource: '*', status: 'duplicate', probability: 0.2 },
  { verb: 'watch', resource: '*', status: 'early-gone', probability: 0.05 },
  { verb: 'watch', resource: '*', status: 'half', probability: 0.3 },
  { verb: 'watch', resource: '*', status: 503, probability: 0.3 },
  { verb: 'list', resource: '*', status: 500, probability: 0.3 },
];

export const acts: readonly Act[] = [
  {
    what: 'template',
    weight: 8,
    do: (scene) => onSet(scene, { spec: { template: { spec: { containers: [{ name: 'c', image: image(scene.random) }] } } } }),
  },
  { what: 'strategy', weight: 4, do: (scene) => onSet(scene, { spec: { updateStrategy: strategy(scene.random) } }) },
  { what: 'minReadySeconds', weight: 2, do: (scene) => onSet(scene, { spec: { minReadySeconds: pick([0, 2, 10], scene.random) } }) },
  {
    what: 'node selector',
    weight: 2,
    do: (scene) => onSet(scene, { spec: { template: { spec: { nodeSelector: { pool: pick([...pools, null], scene.random) } } } } }),
  },
  { what: 'paused', weight: 2, do: (scene) => onSet(scene, annotated({ 'dkc.dev/paused': pick(['true', null], scene.random) })) },
  {
    what: 'partition',
    weight: 2,
    do: (scene) => onSet(scene, annotated({ 'dkc.dev/partition': pick(['1', '50%', null, null], scene.random) })),
  },
  {
    what: 'rollout nodes',
    weight: 2,
    do: (scene) => onSet(scene, annotated({ 'dkc.dev/rollout-node-selector': pick(['pool=x', null, null], scene.random) })),
  },
  {
    what: 'deadline',
    weight: 1,
    do: (scene) => onSet(scene, annotated({ 'dkc.dev/progress-deadline': pick(['30s', null], scene.random) })),
  },
  {
    what: 'set made',
    weight: 4,
    do: ({ world, random }) => {
      const missing = NAMES.filter((name) => world.set(name) === undefined);
      const name = pick(missing, random);
      if (name !== undefined) world.api.add(setUp(name, random));
      return name ?? 'all are there';
    },
  },
  {
    what: 'set deleted',
    weight: 2,
    do: async ({ world, random }) => {
      const set = pick(world.sets(), random);
      if (set === undefined) return 'none';
      const propagationPolicy = pick(['Background', 'Foreground', 'Orphan'], random);
      await world.user.delete(daemonSets, refOf(set), { body: { propagationPolicy } });
      const again = random() < 0.5 && world.set(set.metadata.name) === undefined;
      if (again) world.api.add(setUp(set.metadata.name ?? '', random));
      return `${set.metadata.name} ${propagationPolicy}${again ? ', and made again' : ''}`;
    },
  },
  {
    what: 'node added',
    weight: 3,
    do: ({ world, random }) => {
      const free = Array.from({ length: MAX_NODES }, (_, n) => `n${n}`).filter(
        (name) => !world.nodes().some(({ metadata }) => metadata.name === name),
      );
      const name = pick(free, random);
      if (name !== undefined) world.addNodes({ name, labels: { pool: pick(pools, random) ?? 'x' } });
      return name ?? 'all are there';
    },
  },
  {
    what: 'node deleted',
    weight: 2,
    do: async ({ world, random }) => {
      const node = pick(world.nodes(), random);
      if (node === undefined || world.nodes().length <= 2) return 'too few';
      await world.user.delete(nodes, { name: node.metadata.name ?? '' });
      return node.metadata.name ?? '';
    },
  },
  {
    what: 'node labels',
    weight: 3,
    do: (scene) => onNode(scene, { metadata: { labels: { pool: pick([...pools, null], scene.random) } } }),
  },
  {
    what: 'node taints',
    weight: 4,
    do: (scene) => {
      const effect = pick(['NoSchedule', 'NoExecute', undefined, undefined], scene.random);
      return onNode(scene, { spec: { taints: effect === undefined ? null : [{ key: 'k', effect }] } });
    },
  },
  {
    what: 'pod deleted',
    weight: 4,
    do: async (scene) => {
      const pod = pick(ownPods(scene), scene.random);
      if (pod === undefined) return 'no pod';
      const body = scene.random() < 0.3 ? { gracePeriodSeconds: 0 } : {};
      await scene.world.user.delete(pods, refOf(pod), { body });
      return pod.metadata.name ?? '';
    },
  },
  { what: 'pod fails', weight: 4, do: (scene) => onPod(scene, behave('failed:Evicted')) },
  { what: 'pod succeeds', weight: 1, do: (scene) => onPod(scene, behave('succeeded')) },
  { what: 'pod unready', weight: 4, do: (scene) => onPod(scene, behave('unready')) },
  { what: 'pod ready', weight: 3, do: (scene) => onPod(scene, behave(undefined)) },
  {
    what: 'pod relabelled',
    weight: 3,
    do: (scene) => onPod(scene, { metadata: { labels: { app: pick([...NAMES, 'other'], scene.random) } } }),
  },
  { what: 'pod orphaned', weight: 2, do: (scene) => onPod(scene, { metadata: { ownerReferences: null } }) },
  {
    what: 'stray pods go',
    weight: 2,
    do: async ({ world }) => {
      const strays = world.pods().filter((pod) => controllerOf(pod) === undefined);
      for (const stray of strays) await world.user.delete(pods, refOf(stray), { body: { gracePeriodSeconds: 0 } });
      return String(strays.length);
    },
  },
  ...roughActs(troubles),
];
