import type { Random } from '../../../../base/random.ts';
import type { DaemonSet, Pod } from '../../../../controllers/common/types.ts';
import { annotation } from '../../hollow/behaviour.ts';
import { type Act, held, letGo, oneOf, patches, randomStories as stories, withRevision } from '../random.ts';
import type { Story } from '../story.ts';
import type { Stage } from './stage.ts';

const NODES = 4;

/** What is known of a node besides its pods, in the order of their numbers: a node is called by nothing else, as it is left to chance which is first. */
const traits = new WeakMap<Stage, Map<number, string>>();
const looks = new WeakMap<Stage, number>();
const traitsOf = (s: Stage): Map<number, string> => traits.get(s) ?? new Map();

function podInWords(pod: Readonly<Pod>): string {
  const { metadata, spec, status } = pod;
  const isReady = status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;
  const asked = metadata.annotations?.[annotation] ?? '';
  const hash = metadata.labels?.['controller-revision-hash'] === undefined ? '~' : '';
  const ending = metadata.deletionTimestamp === undefined ? '' : '-';
  const isHeld = metadata.finalizers === undefined ? '' : '*';
  return `${spec?.containers[0]?.image} ${asked} ${status?.phase}${isReady ? '' : '!'}${ending}${isHeld}${hash}${metadata.ownerReferences === undefined ? '?' : ''}`;
}

const podsOn = (s: Stage, n: number): Readonly<Pod>[] => s.pods().filter(({ spec }) => spec?.nodeName === s.node(n));
const nodeInWords = (s: Stage, n: number): string => `{${traitsOf(s).get(n)}: ${podsOn(s, n).map(podInWords).toSorted().join(', ')}}`;
const nodesOf = (s: Stage): number[] =>
  [...traitsOf(s).keys()].toSorted((a, b) => (`${nodeInWords(s, a)} ${a}` < `${nodeInWords(s, b)} ${b}` ? -1 : 1));

/** By how it looks. */
function anyNode(s: Stage, random: Random): number {
  const nodes = nodesOf(s);
  return nodes[Math.floor(random() * nodes.length)] ?? 0;
}

function toNode(what: string, act: (s: Stage, n: number) => Promise<unknown>, becomes?: string): Act<Stage> {
  return async (s, random) => {
    if (traitsOf(s).size === 0) return `${what} none`;
    const n = anyNode(s, random);
    const before = nodeInWords(s, n);
    await act(s, n);
    if (becomes !== undefined) traitsOf(s).set(n, becomes);
    return `${what} ${before}`;
  };
}

function toPod(what: string, act: (s: Stage, pod: Readonly<Pod>) => Promise<unknown>): Act<Stage> {
  return async (s, random) => {
    const live = s.pods().filter(({ metadata }) => metadata.deletionTimestamp === undefined && metadata.ownerReferences !== undefined);
    const place = (pod: Readonly<Pod>): string => {
      const n = nodesOf(s).find((one) => s.node(one) === pod.spec?.nodeName);
      return `${podInWords(pod)} ${n === undefined ? '' : nodeInWords(s, n)}`;
    };
    const inOrder = live.toSorted((a, b) => (place(a) < place(b) ? -1 : 1));
    const pod = inOrder[Math.floor(random() * inOrder.length)];
    if (pod === undefined) return `${what} none`;
    const before = podInWords(pod);
    await act(s, pod);
    return `${what} ${before}`;
  };
}

/** Good ones: where a rollout stands still it is left to chance on which nodes it does. */
const image = (random: Random, step: number): string => oneOf(random, 'app:2', 'app:3', `app:${step + 10}`);

const ofImage = (name: string) => ({ spec: { containers: [{ name: 'main', image: name }] } });
const rolling = (rollingUpdate: unknown) => ({ updateStrategy: { type: 'RollingUpdate', rollingUpdate } });

const madeAgain: Act<Stage> = async (s, random, step) => {
  await letGo(s, random, step);
  await rest(s);
  const { spec } = s.set();
  const policy = oneOf(random, 'Background', 'Foreground');
  await s.remove(policy);
  await s.until('all go', () => s.pods().every(({ metadata }) => metadata.ownerReferences === undefined) && s.revisions().length === 0);
  await rest(s);
  const between = seen(s);
  await s.createSet({ apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { name: 'web', namespace: s.name }, spec } as DaemonSet);
  return `${policy} and made again (${between})`;
};

const acts: readonly (readonly [number, Act<Stage>])[] = [
  [5, patches((random, step) => ({ template: ofImage(image(random, step)) }))],
  [4, patches((random) => rolling({ maxSurge: 0, maxUnavailable: oneOf<unknown>(random, 1, 2, '1%', '30%', '100%') }))],
  [4, patches((random) => rolling({ maxUnavailable: 0, maxSurge: oneOf<unknown>(random, 1, 2, '1%', '30%', '100%') }))],
  [1, patches(() => rolling({ maxSurge: 1, maxUnavailable: 1 }))],
  [1, patches(() => ({ updateStrategy: { type: 'OnDelete', rollingUpdate: null } }))],
  [2, patches((random) => ({ minReadySeconds: oneOf(random, 0, 0, 1) }))],
  [1, patches((random) => ({ revisionHistoryLimit: oneOf(random, 0, 1, 2, 10) }))],
  [1, patches((random) => ({ template: { spec: { nodeSelector: { disk: oneOf<unknown>(random, null, 'ssd') } } } }))],
  [
    1,
    patches((random) => ({
      template: { spec: { tolerations: oneOf<unknown>(random, null, [{ operator: 'Exists' }], [{ key: 'busy', operator: 'Exists' }]) } },
    })),
  ],
  [2, toNode('taint', (s, n) => s.taint(n, 'busy=yes:NoSchedule'), 'busy')],
  [1, toNode('taint hard', (s, n) => s.taint(n, 'busy=yes:NoExecute'), 'hard')],
  [1, toNode('cordon', (s, n) => s.cordon(n).then(() => s.taint(n, 'node.kubernetes.io/unschedulable:NoSchedule')), 'cordoned')],
  [2, toNode('free', (s, n) => s.cordon(n, false).then(() => s.taint(n)), 'free')],
  [2, toNode('ssd', (s, n) => s.label(n, { disk: 'ssd' }), 'free ssd')],
  [1, toNode('hdd', (s, n) => s.label(n, { disk: null }), 'free')],
  [
    1,
    async (s, random) => {
      if (traitsOf(s).size < 2) return 'lost none';
      const n = anyNode(s, random);
      const before = nodeInWords(s, n);
      traitsOf(s).delete(n);
      await s.removeNode(n);
      return `lost ${before}`;
    },
  ],
  [
    2,
    async (s, _random, step) => {
      traitsOf(s).set(NODES + step, 'free');
      await s.nodes(1, {}, NODES + step);
      return 'a node';
    },
  ],
  [2, toPod('delete', (s, pod) => s.terminate(pod))],
  [2, toPod('unready', (s, pod) => s.behave(pod, 'unready'))],
  [3, toPod('ready', (s, pod) => s.behave(pod, 'ready'))],
  [2, toPod('fail', (s, pod) => s.behave(pod, 'failed:Evicted'))],
  [1, toPod('succeed', (s, pod) => s.behave(pod, 'succeeded'))],
  [1, toPod('release', (s, pod) => s.patchPod(pod, { metadata: { labels: { app: 'mine' } } }))],
  [
    2,
    async (s) => {
      for (const pod of s.pods().filter(({ metadata }) => metadata.ownerReferences === undefined))
        await s.patchPod(pod, { metadata: { labels: { app: 'web' } } });
      return 'strays come back';
    },
  ],
  [
    1,
    async (s, random) => {
      const { revision = 0 } = s.revisions()[Math.floor(random() * s.revisions().length)] ?? {};
      await s.undo(revision);
      return `undo ${revision}`;
    },
  ],
  [1, madeAgain],
  [2, toPod('hold', held)],
  [2, letGo],
  [1, toPod('disown', (s, pod) => s.patchPod(pod, { metadata: { ownerReferences: null } }))],
  [
    1,
    toPod('steal', (s, pod) =>
      s.patchPod(pod, { metadata: { ownerReferences: [{ ...pod.metadata.ownerReferences?.[0], name: 'thief', uid: 'thief' }] } }),
    ),
  ],
  [1, toPod('unlabel', (s, pod) => s.patchPod(pod, { metadata: { labels: { 'controller-revision-hash': null } } }))],
  [1, patches((random) => ({ template: { metadata: { labels: { tier: oneOf<unknown>(random, null, 'front', 'back') } } } }))],
  [
    1,
    patches((random) => ({
      template: {
        spec: {
          containers: [{ name: 'main', image: 'app:1', ports: oneOf<unknown>(random, null, [{ containerPort: 80, hostPort: 80 }]) }],
        },
      },
    })),
  ],
  [1, withRevision('lost', (s, revision) => s.deleteRevision(revision))],
  [1, withRevision('renumbered', (s, revision) => s.patchRevision(revision, { revision: revision.revision + 7 }))],
  [1, withRevision('disowned', (s, revision) => s.patchRevision(revision, { metadata: { ownerReferences: null } }))],
  [
    1,
    withRevision('unlabelled', (s, revision) => s.patchRevision(revision, { metadata: { labels: { 'controller-revision-hash': null } } })),
  ],
];

const begin: Act<Stage> = async (s) => {
  traits.set(s, new Map(Array.from({ length: NODES }, (_, n) => [n, 'free'])));
  await s.nodes(NODES);
  await s.create();
  return 'made';
};

async function rest(s: Stage): Promise<void> {
  do {
    await s.quiet();
  } while (!(await s.still(1_500)));
  // kube-controller-manager counts a node that has a taint since, and a pod, when the set is synced for another reason: by now its cache has the taint.
  if (s.sets().length > 0) {
    looks.set(s, (looks.get(s) ?? 0) + 1);
    await s.nudge(`${looks.get(s)}`);
  }
  // The back-off of a failed pod.
  for (let times = 0; times < 10 && s.pods().some(({ status }) => status?.phase === 'Failed'); times++) await s.still(1_000);
  do {
    await s.quiet();
  } while (!(await s.still(1_500)));
}

function seen(s: Stage): string {
  const set = s.sets().find(({ metadata }) => metadata.name === 'web');
  const homeless = s
    .pods()
    .filter(({ spec }) => spec?.nodeName === undefined)
    .map(podInWords)
    .toSorted();
  return [JSON.stringify(set?.status), ...nodesOf(s).map((n) => nodeInWords(s, n)), ...homeless, s.revisionNumbers().join()].join(' | ');
}

export const randomStories = (seed: number, count: number): Story<Stage>[] =>
  stories({ acts, begin, rest, seen, end: async () => {}, chance: { anyNode: true, manyEvents: true } }, seed, count);
