import type { Random } from '../../../../base/random.ts';
import type { Pod, StatefulSet } from '../../../../controllers/common/types.ts';
import { type Act, held, letGo, oneOf, patches, randomStories as stories, withRevision } from '../random.ts';
import type { Story } from '../story.ts';
import type { Stage } from './stage.ts';

const byName = (a: string, b: string): number => (a < b ? -1 : 1);
const nameOf = ({ metadata }: { metadata: { name?: string } }): string => metadata.name ?? '';

/** Of what the set owns and what lives. */
function anyPod(s: Stage, random: Random): Readonly<Pod> | undefined {
  const at = random();
  const pods = s.pods().filter(({ metadata }) => metadata.deletionTimestamp === undefined && metadata.ownerReferences !== undefined);
  return pods.toSorted((a, b) => byName(nameOf(a), nameOf(b)))[Math.floor(at * pods.length)];
}

function toPod(what: string, act: (s: Stage, pod: Readonly<Pod>) => Promise<unknown>): Act<Stage> {
  return async (s, random) => {
    const pod = anyPod(s, random);
    if (pod !== undefined) await act(s, pod);
    return `${what} ${pod === undefined ? 'none' : nameOf(pod)}`;
  };
}

function image(random: Random, step: number): string {
  return oneOf(random, 'app:2', 'app:3', `app:${step + 10}`, ...['unready', 'crash', 'unpullable'].map((bad) => `hollow/${bad}:${step}`));
}

const retention = (random: Random) => ({ whenDeleted: oneOf(random, 'Retain', 'Delete'), whenScaled: oneOf(random, 'Retain', 'Delete') });
const ofImage = (name: string) => ({ spec: { containers: [{ name: 'main', image: name }] } });
const rolling = (rollingUpdate: unknown) => ({ updateStrategy: { type: 'RollingUpdate', rollingUpdate } });
const strays = (s: Stage): Readonly<Pod>[] => s.pods().filter(({ metadata }) => metadata.ownerReferences === undefined);

/** Deletes the set, and makes one of its name. */
const madeAgain: Act<Stage> = async (s, random, step) => {
  await letGo(s, random, step);
  // On a dead node the pods of a set that is deleted in the foreground never go.
  await s.kubelet(0, 'alive');
  await rest(s);
  const { spec } = s.set();
  const policy = oneOf(random, 'Orphan', 'Orphan', 'Background', 'Foreground');
  await s.remove(policy);
  if (policy !== 'Orphan') await s.until('all go', () => s.pods().length === strays(s).length && s.revisions().length === 0);
  await rest(s);
  const between = seen(s);
  const other = oneOf<object>(
    random,
    {},
    {},
    { replicas: 2 },
    { template: { ...spec?.template, spec: { ...spec?.template.spec, ...ofImage(`app:${step + 20}`).spec } } },
  );
  const body = { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 'web', namespace: s.name }, spec: { ...spec, ...other } };
  await s.createSet(body as StatefulSet);
  return `${policy} and made again ${JSON.stringify(other)} (${between})`;
};

const acts: readonly (readonly [number, Act<Stage>])[] = [
  [4, patches((random) => ({ replicas: oneOf(random, 0, 1, 2, 3, 4, 5) }))],
  [5, patches((random, step) => ({ template: ofImage(image(random, step)) }))],
  [2, patches((random, step) => ({ replicas: oneOf(random, 1, 2, 4), template: ofImage(image(random, step)) }))],
  [2, patches((random) => rolling({ partition: oneOf(random, 0, 0, 1, 2, 3, 9) }))],
  [2, patches((random) => rolling({ maxUnavailable: oneOf<unknown>(random, null, 1, 2, 5, '1%', '50%', '100%') }))],
  [1, patches(() => rolling(null))],
  [2, patches((random) => ({ minReadySeconds: oneOf(random, 0, 0, 1, 3600) }))],
  [2, patches((random) => ({ ordinals: { start: oneOf(random, 0, 1, 2, 3) } }))],
  [1, patches((random) => ({ revisionHistoryLimit: oneOf(random, 0, 1, 2, 10) }))],
  [3, patches((random) => ({ persistentVolumeClaimRetentionPolicy: retention(random) }))],
  [2, toPod('delete', (s, pod) => s.terminate(pod))],
  [2, toPod('unready', (s, pod) => s.behave(pod, 'unready'))],
  [3, toPod('ready', (s, pod) => s.behave(pod, 'ready'))],
  [2, toPod('fail', (s, pod) => s.behave(pod, 'failed:Evicted'))],
  [1, toPod('succeed', (s, pod) => s.behave(pod, 'succeeded'))],
  [1, toPod('unhash', (s, pod) => s.patchPod(pod, { metadata: { labels: { 'controller-revision-hash': null } } }))],
  [1, toPod('rename', (s, pod) => s.patchPod(pod, { metadata: { labels: { 'statefulset.kubernetes.io/pod-name': 'x' } } }))],
  [
    1,
    // With Parallel upstream leaves other places empty too, as chance has it.
    async (s, random) => {
      const pod = anyPod(s, random);
      if (pod === undefined || s.set().spec?.podManagementPolicy === 'Parallel') return 'release none';
      await s.patchPod(pod, { metadata: { labels: { app: 'mine' } } });
      return `release ${nameOf(pod)}`;
    },
  ],
  [
    2,
    async (s) => {
      for (const pod of strays(s)) await s.patchPod(pod, { metadata: { labels: { app: 'web' } } });
      return 'strays come back';
    },
  ],
  [
    1,
    async (s, random) => {
      const claims = s.claims().map(nameOf).toSorted(byName);
      const name = claims[Math.floor(random() * claims.length)];
      if (name === undefined) return 'no claim';
      await s.deleteClaim(name);
      await s.nudge(name);
      return `lost ${name}`;
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
  [1, (s) => s.kubelet(0, 'dead').then(() => 'dead')],
  [2, (s) => s.kubelet(0, 'alive').then(() => 'alive')],
  [2, toPod('hold', held)],
  [2, letGo],
  [1, toPod('disown', (s, pod) => s.patchPod(pod, { metadata: { ownerReferences: null } }))],
  [
    1,
    toPod('steal', (s, pod) =>
      s.patchPod(pod, { metadata: { ownerReferences: [{ ...pod.metadata.ownerReferences?.[0], name: 'thief', uid: 'thief' }] } }),
    ),
  ],
  [1, patches((random) => ({ template: { metadata: { labels: { tier: oneOf<unknown>(random, null, 'front', 'back') } } } }))],
  [1, withRevision('lost', (s, revision) => s.deleteRevision(revision))],
  [1, withRevision('renumbered', (s, revision) => s.patchRevision(revision, { revision: revision.revision + 7 }))],
  [1, withRevision('disowned', (s, revision) => s.patchRevision(revision, { metadata: { ownerReferences: null } }))],
  [
    1,
    withRevision('unlabelled', (s, revision) =>
      s.patchRevision(revision, { metadata: { labels: { 'controller.kubernetes.io/hash': null } } }),
    ),
  ],
  [
    1,
    async (s, random) => {
      const name = `web-${oneOf(random, 0, 1, 2, 3, 4, 5)}`;
      if (s.pods().some((pod) => nameOf(pod) === name)) return `${name} is there`;
      const labels = oneOf<Record<string, string>>(random, s.appLabels('web'), s.appLabels('db'));
      // As with a pod that is released.
      if (s.set().spec?.podManagementPolicy === 'Parallel' && labels['app'] === 'db') return 'none by hand';
      await s.byHand(name, labels);
      return `${name} by hand as ${labels['app']}`;
    },
  ],
  [
    1,
    async (s) => {
      for (const pod of strays(s)) await s.terminate(pod);
      return 'strays go';
    },
  ],
];

const begin: Act<Stage> = async (s, random) => {
  const claims = random() < 0.5 ? ['data'] : [];
  const spec = random() < 0.3 ? { persistentVolumeClaimRetentionPolicy: retention(random) } : {};
  await s.create({ replicas: oneOf(random, 1, 2, 3), parallel: random() < 0.4, claims, spec });
  return 'made';
};

async function rest(s: Stage): Promise<void> {
  do {
    await s.quiet();
  } while (!(await s.still(1_500)));
}

/** Its status, its pods, whose its claims are, its revisions. */
function seen(s: Stage): string {
  const set = s.sets().find(({ metadata }) => metadata.name === 'web');
  const isEnding = ({ metadata }: { metadata: { deletionTimestamp?: string } }): string =>
    metadata.deletionTimestamp === undefined ? '' : '-';
  const pods = s.pods().map((pod) => {
    const { metadata, spec, status } = pod;
    const isReady = status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;
    const marks = [isReady ? '' : '!', isEnding(pod), metadata.ownerReferences === undefined ? '?' : ''].join('');
    return `${metadata.name}@${spec?.containers[0]?.image} ${metadata.labels?.['controller-revision-hash']} ${status?.phase}${marks}`;
  });
  const claims = s.claims().map((claim) => {
    const owners = claim.metadata.ownerReferences?.map(({ kind, name }) => `${kind} ${name}`) ?? [];
    return `${claim.metadata.name} of ${owners.join(' and ')}${isEnding(claim)}`;
  });
  const revisions = s.revisions().map(({ metadata, revision }) => `${revision} ${metadata.name}`);
  return [JSON.stringify(set?.status), ...pods.toSorted(byName), ...claims.toSorted(byName), ...revisions].join(' | ');
}

async function end(s: Stage): Promise<void> {
  await s.kubelet(0, 'alive');
  await rest(s);
  // kube-controller-manager does not hear that a name has become free which somebody else's pod had.
  if (s.sets().length > 0) await s.nudge('end');
}

export const randomStories = (seed: number, count: number): Story<Stage>[] =>
  stories({ acts, begin, rest, seen, end, chance: { anyOrder: true, manyEvents: true } }, seed, count);
