import { story, type Story } from '../story.ts';
import type { Stage } from './stage.ts';

/** Whose pods and revisions they are, and what becomes of them with their set. */
export const ownership: readonly Story<Stage>[] = [
  story('released-and-adopted-again', async (s) => {
    await s.running(2);
    const pod = s.podOn(0);
    await s.patchPod(pod, { metadata: { labels: { app: 'mine' } } });
    await s.until('another takes its place', () => s.pods().length === 3);
    await s.rolledOut();
    await s.patchPod(pod, { metadata: { labels: { app: 'web' } } });
    await s.until('one of two goes', () => s.pods().length === 2);
    await s.rolledOut();
    s.note(s.isGone(pod) ? 'the old one goes' : 'the old one stays');
  }),
  story('orphaned-and-replaced', async (s) => {
    await s.running(3);
    await s.remove('Orphan');
    await s.create({ image: 'app:2' });
    await s.rolledOut();
  }),
  story('made-by-hand', async (s) => {
    await s.nodes(3);
    await s.byHand('first');
    await s.byHand('foreign', s.appLabels('db'), 1);
    await s.quiet();
    await s.create({ spec: { updateStrategy: { type: 'OnDelete' } } });
    await s.shows({ desired: 3, available: 3, updated: 2 });
    await s.byHand('second', s.appLabels('web'), 2);
    await s.until('only one stays', () => s.pods().length === 4);
    await s.quiet();
  }),
  story('hash-taken-away', async (s) => {
    await s.running(2);
    await s.patchPod(s.podOn(1), { metadata: { labels: { 'controller-revision-hash': null } } });
    await s.quiet();
    await s.rolledOut();
  }),
  ...(['Background', 'Foreground'] as const).map((propagation) =>
    story(`deleted-in-${propagation.toLowerCase()}`, async (s: Stage) => {
      await s.running(3);
      await s.remove(propagation);
      await s.until('pods and revisions go', () => s.pods().length + s.revisions().length === 0);
      await s.quiet();
    }),
  ),
  // Whoever patches a revision later must find the very bytes that a server would write.
  story('orphaned-with-a-shell-command', async (s) => {
    const command = ['sh', '-c', 'test -e /a && test 1 \\< 2 > /dev/null; echo "\\u2028 \u2028"'];
    await s.running(1);
    await s.patch({ spec: { template: { spec: { containers: [{ name: 'main', command }] } } } });
    await s.rolledOut();
    await s.remove('Orphan');
    await s.create();
    await s.rolledOut();
  }),
  story('hash-collision', async (s) => {
    await s.running(1);
    const [revision] = s.revisions();
    await s.remove('Foreground');
    await s.until('its revision goes', () => s.revisions().length === 0);
    const { name = '' } = revision?.metadata ?? {};
    const data = { spec: { template: { $patch: 'replace', spec: { containers: [] } } } };
    const metadata = { name, namespace: s.name, labels: { app: 'nobody' } };
    await s.createRevision({ apiVersion: 'apps/v1', kind: 'ControllerRevision', metadata, revision: 1, data });
    await s.create();
    await s.rolledOut();
    s.note(`collisions: ${s.set().status?.collisionCount}`);
  }),
  story('duplicate-revision', async (s) => {
    await s.running(2);
    const [first] = s.revisions();
    if (first === undefined) throw new Error('there is no revision');
    const { labels = {}, annotations = {}, ownerReferences = [] } = first.metadata;
    const metadata = {
      name: 'web-copy',
      namespace: s.name,
      labels: { ...labels, 'controller-revision-hash': 'copy' },
      annotations,
      ownerReferences,
    };
    await s.createRevision({ apiVersion: 'apps/v1', kind: 'ControllerRevision', metadata, revision: 7, data: first.data });
    await s.patch({ metadata: { annotations: { look: 'again' } } }); // nobody is woken by a revision that has an owner
    await s.until('one is left', () => s.revisions().length === 1);
    await s.rolledOut();
  }),
  story('revisions-lost', async (s) => {
    await s.running(2);
    await s.rolls('app:2');
    const pods = new Set(s.pods().map(({ metadata }) => metadata.uid));
    const [old, current] = s.revisions();
    if (old === undefined || current === undefined) throw new Error('there are no two revisions');
    await s.deleteRevision(current);
    await s.until('it is made again', () => s.revisions().length === 2);
    await s.quiet();
    await s.patchRevision(old, { metadata: { ownerReferences: null } });
    await s.until('it is adopted', () => s.revisions().every(({ metadata }) => metadata.ownerReferences?.length === 1));
    await s.quiet();
    s.note(`${s.pods().filter(({ metadata }) => pods.has(metadata.uid)).length} pods kept`);
  }),
];
