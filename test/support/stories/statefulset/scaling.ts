import { story, type Story } from '../story.ts';
import type { Stage } from './stage.ts';

/** Pods come and go, one by one or all at once; their claims stay. */
export const scaling: readonly Story<Stage>[] = [
  story('ordered-waits', async (s) => {
    await s.create({ image: 'hollow/unready:1' });
    await s.shows({ replicas: 1, ready: 0 });
    await s.behave(s.pod(0), 'ready');
    await s.shows({ replicas: 2, ready: 1 });
    await s.behave(s.pod(0), 'unready');
    await s.behave(s.pod(1), 'ready');
    await s.shows({ replicas: 2, ready: 1 });
    await s.behave(s.pod(0), 'ready');
    await s.shows({ replicas: 3, ready: 2 });
  }),
  story('parallel-waits-for-none', { anyOrder: true }, async (s) => {
    await s.create({ parallel: true, image: 'hollow/unready:1' });
    await s.shows({ replicas: 3, ready: 0 });
    await s.behave(s.pod(1), 'ready');
    await s.shows({ replicas: 3, ready: 1 });
    await s.scale(1);
    await s.shows({ replicas: 1, ready: 0 });
  }),
  story('claims', { anyOrder: true }, async (s) => {
    const manifest = s.manifest({ claims: ['data', 'log'] });
    const [data] = manifest.spec?.volumeClaimTemplates ?? [];
    Object.assign(data?.metadata ?? {}, { labels: { of: 'data', app: 'claims' }, annotations: { note: 'kept' } });
    await s.createSet(manifest);
    await s.rolledOut();
    await s.scale(1);
    await s.shows({ replicas: 1, ready: 1 });
    await s.scale(2);
    await s.rolledOut();
    s.note(`${s.claims().length} claims`);
  }),
  story('up-and-down-parallel', { anyOrder: true }, async (s) => {
    await s.running({ replicas: 1, parallel: true });
    await s.scale(4);
    await s.rolledOut();
    await s.scale(2);
    await s.rolledOut();
  }),
  story('down-past-an-unready-one', async (s) => {
    await s.running();
    await s.behave(s.pod(0), 'unready');
    await s.shows({ ready: 2 });
    await s.scale(1);
    await s.shows({ replicas: 3 });
    s.note(`${s.pods().length} pods wait for the first`);
    await s.behave(s.pod(0), 'ready');
    await s.rolledOut();
  }),
  story('to-none-and-back', async (s) => {
    await s.running({ claims: ['data'] });
    const before = new Set(s.claims().map(({ metadata }) => metadata.uid));
    await s.scale(0);
    await s.rolledOut();
    await s.scale(2);
    await s.rolledOut();
    s.note(`${s.claims().filter(({ metadata }) => before.has(metadata.uid)).length} claims kept`);
  }),
  // Upstream writes pods whose claims change hands, and may tell of it.
  story('claims-change-hands', { anyOrder: true, manyEvents: true }, async (s) => {
    await s.running({ claims: ['data'] });
    const owners = (): string[] =>
      s.claims().map(({ metadata }) => `${metadata.name} of ${metadata.ownerReferences?.map(({ kind }) => kind).join()}`);
    for (const policy of ['Delete Retain', 'Delete Delete', 'Retain Delete', 'Retain Retain', 'Delete Delete']) {
      const [whenDeleted, whenScaled] = policy.split(' ');
      await s.patch({ spec: { persistentVolumeClaimRetentionPolicy: { whenDeleted, whenScaled } } });
      await s.quiet();
      s.note(`${policy}: ${owners().toSorted().join(' ')}`);
    }
    await s.scale(1);
    await s.rolledOut();
    s.note(`${s.claims().length} claims once it is smaller`);
    await s.remove('Background');
    await s.until('its pods go', () => s.pods().length === 0);
    await s.quiet();
    s.note(`${s.claims().length} claims without it`);
  }),
  story('two-sets', { anyOrder: true }, async (s) => {
    await s.create({ replicas: 2 });
    await s.create({ name: 'web-1', replicas: 2, image: 'other:1' }); // its name is one that the other's pod has
    await Promise.all([s.rolledOut(), s.rolledOut('web-1')]);
    await s.rolls('other:2', 'web-1');
    await s.remove('Background', 'web-1');
    await s.until('its pods go', () => s.pods().length === 2);
    await s.quiet();
  }),
];
