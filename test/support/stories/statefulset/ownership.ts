import { story, type Story } from '../story.ts';
import type { Stage } from './stage.ts';

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
  ...(['Background', 'Foreground'] as const).map((propagation) =>
    story(`deleted-in-${propagation.toLowerCase()}`, { anyOrder: true }, async (s: Stage) => {
      await s.running({ claims: ['data'] });
      await s.remove(propagation);
      await s.until('pods and revisions go', () => s.pods().length + s.revisions().length === 0);
      await s.quiet();
      s.note(`${s.claims().length} claims stay`);
    }),
  ),
  story('made-by-hand', async (s) => {
    for (const name of ['web-1', 'web-5']) await s.byHand(name);
    await s.quiet();
    await s.create({ spec: { updateStrategy: { type: 'OnDelete' } } });
    await s.until('what is one too many goes', () => s.pods().every(({ metadata }) => metadata.name !== 'web-5'));
    await s.shows({ replicas: 3, ready: 3, updated: 2 });
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
];
