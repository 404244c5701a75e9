import type { Random } from '../../../../../base/random.ts';
import { daemonSets, nodes, pods } from '../../../../../kube/api/object.ts';
import { controllerOf } from '../../../../../kube/controller/owners.ts';
import { daemonSet } from '../../../../support/simulated/sets.ts';
import { pick, roughActs, type Act, type Scene } from '../../../../support/simulated/rough-acts.ts';
import { type ActedOn, annotated, image, onSet, refOf, setActs } from '../../simulated/acts.ts';
import { troublesOf } from '../../simulated/troubles.ts';

const MAX_NODES = 12;
const pools = ['x', 'y'];

async function onNode({ world, random }: Scene, change: object): Promise<string> {
  const node = pick(world.nodes(), random);
  if (node === undefined) return 'no node';
  await world.patchNode(node.metadata.name ?? '', change);
  return `${node.metadata.name} ${JSON.stringify(change)}`;
}

function strategy(random: Random): object {
  const dice = random();
  if (dice < 0.15) return { type: 'OnDelete', rollingUpdate: null };
  const many = pick([1, 2, 3, '30%', '50%'], random) ?? 1;
  const rollingUpdate = dice < 0.5 ? { maxSurge: many, maxUnavailable: 0 } : { maxUnavailable: many, maxSurge: 0 };
  return { type: 'RollingUpdate', rollingUpdate };
}

const on: ActedOn = {
  resource: daemonSets,
  sets: (world) => world.sets(),
  names: ['web', 'logs'],
  setUp: (name, random) => {
    const selector = random() < 0.4 ? { nodeSelector: { pool: pick(pools, random) } } : {};
    const spec = { ...selector, containers: [{ name: 'c', image: image(random) }] };
    return daemonSet(name, {
      template: { metadata: { labels: { app: name } }, spec },
      minReadySeconds: random() < 0.3 ? 5 : 0,
      revisionHistoryLimit: Math.floor(random() * 4),
      updateStrategy: strategy(random),
    });
  },
};

export const acts: readonly Act[] = [
  ...setActs(on),
  onSet(on, 'strategy', 4, (random) => ({ spec: { updateStrategy: strategy(random) } })),
  onSet(on, 'node selector', 2, (random) => ({ spec: { template: { spec: { nodeSelector: { pool: pick([...pools, null], random) } } } } })),
  onSet(on, 'partition', 2, (random) => annotated({ 'dkc.dev/partition': pick(['1', '50%', null, null], random) })),
  onSet(on, 'rollout nodes', 2, (random) => annotated({ 'dkc.dev/rollout-node-selector': pick(['pool=x', null, null], random) })),
  {
    what: 'node added',
    weight: 3,
    do: ({ world, random }) => {
      const there = new Set(world.nodes().map(({ metadata }) => metadata.name));
      const free = Array.from({ length: MAX_NODES }, (_, n) => `n${n}`).filter((name) => !there.has(name));
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
    what: 'stray pods go',
    weight: 2,
    do: async ({ world }) => {
      const strays = world.pods().filter((pod) => controllerOf(pod) === undefined);
      for (const stray of strays) await world.user.delete(pods, refOf(stray), { body: { gracePeriodSeconds: 0 } });
      return String(strays.length);
    },
  },
  ...roughActs(troublesOf('daemonsets', { 'watch nodes': { lag: 0.3 } })),
];
