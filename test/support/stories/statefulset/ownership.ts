import type { Revision } from '../world.ts';
import type { Stage } from './stage.ts';
import { story, type Story } from '../story.ts';

const uids = (s: Stage): Set<string | undefined> =>
  new Set([...s.pods(), ...s.revisions(), ...s.claims()].map(({ metadata }) => metadata.uid));
const kept = (s: Stage, before: ReadonlySet<string | undefined>): string =>
  `${[...uids(s)].filter((uid) => before.has(uid)).length} objects kept`;

/** Whose pods and revisions they are, and what becomes of them with their set. */
export const ownership: readonly Story<Stage>[] = [
  story('orphaned-and-adopted', async (s) => {
    await s.running({ claims: ['data'] });
    await s.rolls('app:2');
    const before = uids(s);
    await s.remove('Orphan');
    await s.quiet();
    s.note(`${s.pods().filter(({ metadata }) => metadata.ownerReferences === undefined).length} orphans`);
    await s.running({ claims: ['data'], image: 'app:2' });
    s.note(kept(s, before));
  }),
  story('orphaned-and-replaced', async (s) => {
    await s.running();
    await s.remove('Orphan');
    await s.quiet();
    await s.running({ image: 'app:2' });
  }),
  story('orphaned-and-fewer', async (s) => {
    await s.running();
    await s.remove('Orphan');
    await s.quiet();
    await s.running({ replicas: 1 });
  }),
  ...(['Background', 'Foreground'] as const).map((propagation) =>
    story(`deleted-in-${propagation.toLowerCase()}`, { anyOrder: true }, async (s: Stage) => {
      await s.running({ claims: ['data'] });
      await s.remove(propagation);
      await s.until('pods and revisions go', () => s.pods().length + s.revisions().length === 0);
      await s.quiet();
      s.note(`${s.claims().length} claims stay`);
    }),
  ),
  story('deleted-and-stuck', { anyOrder: true }, async (s) => {
    await s.running({ replicas: 2 });
    await s.kubelet(0, 'dead');
    const removed = s.remove('Foreground');
    await s.until('its pods end', () => s.pods().every(({ metadata }) => metadata.deletionTimestamp !== undefined));
    await s.scale(3);
    await s.quiet();
    s.note(`${s.pods().length} pods while they are stuck`);
    await s.kubelet(0, 'alive');
    await removed;
    await s.quiet();
  }),
  story('released-and-adopted-again', async (s) => {
    await s.running({ replicas: 2 });
    const before = uids(s);
    const pod = s.pod(1);
    await s.patchPod(pod, { metadata: { labels: { app: 'mine' } } });
    await s.until('it is released', () => s.pod(1).metadata.ownerReferences === undefined);
    await s.quiet();
    await s.patchPod(pod, { metadata: { labels: { app: 'web' } } });
    await s.until('it is adopted', () => s.pod(1).metadata.ownerReferences !== undefined);
    await s.rolledOut();
    s.note(kept(s, before));
  }),
  story('released-and-gone', async (s) => {
    await s.running({ replicas: 2 });
    const pod = s.pod(1);
    await s.patchPod(pod, { metadata: { labels: { app: 'mine' } } });
    await s.until('it is released', () => s.pod(1).metadata.ownerReferences === undefined);
    await s.deletePod(pod);
    await s.rolledOut();
  }),
  ...(['OnDelete', 'RollingUpdate'] as const).map((type) =>
    story(type === 'OnDelete' ? 'made-by-hand-on-delete' : 'made-by-hand', async (s: Stage) => {
      for (const name of ['web-1', 'web-5']) await s.byHand(name);
      await s.quiet();
      await s.create({ spec: { updateStrategy: { type } } });
      await s.until('what is one too many goes', () => s.pods().every(({ metadata }) => metadata.name !== 'web-5'));
      await s.shows({ replicas: 3, ready: 3, ...(type === 'OnDelete' ? { updated: 2 } : { updated: 3 }) });
    }),
  ),
  story('made-by-hand-with-other-names', async (s) => {
    for (const name of ['web', 'web-x', 'other-0', 'webb-0', 'web-0-0']) await s.byHand(name);
    await s.byHand('web-9', s.appLabels('db'));
    await s.quiet();
    await s.running({ replicas: 2 });
    s.note(`${s.pods().length} pods`);
  }),
  story('its-place-is-taken', async (s) => {
    await s.byHand('web-1', s.appLabels('db'));
    await s.create({ replicas: 2 });
    await s.until('the first is ready', () => s.pods().length === 2 && s.pod(0).status?.phase === 'Running');
    await s.quiet(); // kube-controller-manager writes no status meanwhile
    await s.deletePod(s.pod(1));
    await s.rolledOut();
  }),
  story('revisions-lost', async (s) => {
    await s.running({ replicas: 2 });
    await s.rolls('app:2');
    const [old, current] = s.revisions();
    if (old === undefined || current === undefined) throw new Error('there are no two revisions');
    await s.deleteRevision(current);
    await s.nudge();
    await s.until('it is made again', () => s.revisions().length === 2);
    await s.quiet();
    await s.patchRevision(old, { metadata: { ownerReferences: null } });
    await s.nudge('once-more');
    await s.until('it is adopted', () => s.revisions().every(({ metadata }) => metadata.ownerReferences?.length === 1));
    await s.quiet();
  }),
  story('current-revision-lost-in-a-rollout', async (s) => {
    await s.running({ replicas: 2 });
    await s.partition(1);
    await s.image('app:2');
    await s.shows({ updated: 1, current: 1, ready: 2 });
    await s.deleteRevision(s.revisions()[0] as Revision);
    await s.nudge();
    await s.quiet();
    await s.replacePod(s.pod(0));
    await s.shows({ ready: 2 });
  }),
  story('hash-collision', async (s) => {
    await s.running({ replicas: 1 });
    const name = s.revisions()[0]?.metadata.name ?? '';
    await s.remove('Foreground');
    await s.until('its revision goes', () => s.revisions().length === 0);
    const data = { spec: { template: { $patch: 'replace', spec: { containers: [] } } } };
    const metadata = { name, namespace: s.name, labels: { app: 'nobody' } };
    await s.createRevision({ apiVersion: 'apps/v1', kind: 'ControllerRevision', metadata, revision: 1, data });
    await s.running({ replicas: 1 });
  }),
  story('recreated-at-once', { anyOrder: true }, async (s) => {
    await s.running();
    const before = s.pods();
    await s.remove('Background');
    await s.create({ image: 'app:2' });
    await s.until('the pods of the old one go', () => before.every((pod) => s.isGone(pod)));
    await s.rolledOut();
  }),
];
