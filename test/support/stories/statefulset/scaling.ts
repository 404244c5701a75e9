import type { Story } from './story.ts';

/** Pods come and go, one by one or all at once; their claims stay. */
export const scaling: readonly Story[] = [
  {
    name: 'ordered',
    async play(s) {
      await s.create();
      await s.rolledOut();
    },
  },
  {
    name: 'ordered-waits',
    async play(s) {
      await s.create({ image: 'hollow/unready:1' });
      await s.shows({ replicas: 1, ready: 0 });
      await s.behave(s.pod(0), 'ready');
      await s.shows({ replicas: 2, ready: 1 });
      await s.behave(s.pod(0), 'unready');
      await s.behave(s.pod(1), 'ready');
      await s.shows({ replicas: 2, ready: 1 });
      await s.behave(s.pod(0), 'ready');
      await s.shows({ replicas: 3, ready: 2 });
    },
  },
  {
    name: 'parallel',
    anyOrder: true,
    async play(s) {
      await s.create({ replicas: 4, parallel: true });
      await s.rolledOut();
    },
  },
  {
    name: 'parallel-waits-for-none',
    anyOrder: true,
    async play(s) {
      await s.create({ parallel: true, image: 'hollow/unready:1' });
      await s.shows({ replicas: 3, ready: 0 });
      await s.behave(s.pod(1), 'ready');
      await s.shows({ replicas: 3, ready: 1 });
      await s.scale(1);
      await s.shows({ replicas: 1, ready: 0 });
    },
  },
  ...([true, false] as const).map((parallel): Story => ({
    name: parallel ? 'claims-parallel' : 'claims-ordered',
    anyOrder: true,
    async play(s) {
      const manifest = s.manifest({ parallel, claims: ['data', 'log'] });
      const [data] = manifest.spec?.volumeClaimTemplates ?? [];
      Object.assign(data?.metadata ?? {}, { labels: { of: 'data', app: 'claims' }, annotations: { note: 'kept' } });
      await s.createSet(manifest);
      await s.rolledOut();
      await s.scale(1);
      await s.shows({ replicas: 1, ready: 1 });
      await s.scale(2);
      await s.rolledOut();
      s.note(`${s.claims().length} claims`);
    },
  })),
  ...([true, false] as const).map((parallel): Story => ({
    name: parallel ? 'up-and-down-parallel' : 'up-and-down-ordered',
    ...(parallel ? { anyOrder: true } : {}),
    async play(s) {
      await s.create({ replicas: 1, parallel });
      await s.rolledOut();
      await s.scale(4);
      await s.rolledOut();
      await s.scale(2);
      await s.rolledOut();
    },
  })),
  {
    name: 'down-past-an-unready-one',
    async play(s) {
      await s.create();
      await s.rolledOut();
      await s.behave(s.pod(0), 'unready');
      await s.shows({ ready: 2 });
      await s.scale(1);
      await s.shows({ replicas: 3 });
      s.note(`${s.pods().length} pods wait for the first`);
      await s.behave(s.pod(0), 'ready');
      await s.rolledOut();
    },
  },
  {
    name: 'down-while-the-top-is-unready',
    async play(s) {
      await s.create();
      await s.rolledOut();
      await s.behave(s.pod(2), 'unready');
      await s.shows({ ready: 2 });
      await s.scale(1);
      await s.rolledOut();
    },
  },
  {
    name: 'to-none-and-back',
    async play(s) {
      await s.create({ claims: ['data'] });
      await s.rolledOut();
      const before = new Set(s.claims().map(({ metadata }) => metadata.uid));
      await s.scale(0);
      await s.rolledOut();
      await s.scale(2);
      await s.rolledOut();
      s.note(`${s.claims().filter(({ metadata }) => before.has(metadata.uid)).length} claims kept`);
    },
  },
  {
    name: 'none-at-all',
    async play(s) {
      await s.create({ replicas: 0 });
      await s.rolledOut();
      await s.image('app:2');
      await s.rolledOut();
    },
  },
  {
    name: 'none-while-all-are-unready',
    async play(s) {
      await s.create({ replicas: 2 });
      await s.rolledOut();
      for (const n of [0, 1]) await s.behave(s.pod(n), 'unready');
      await s.shows({ ready: 0 });
      await s.scale(0);
      await s.shows({ replicas: s.pods().length });
      s.note(`${s.pods().length} pods wait`);
      await s.behave(s.pod(0), 'ready');
      await s.rolledOut();
    },
  },
  {
    name: 'two-sets',
    anyOrder: true,
    async play(s) {
      await s.create({ replicas: 2 });
      await s.create({ name: 'web-1', replicas: 2, image: 'other:1' }); // its name is one that the other's pod has
      await Promise.all([s.rolledOut(), s.rolledOut('web-1')]);
      await s.image('other:2', 'web-1');
      await s.rolledOut('web-1');
      await s.remove('Background', 'web-1');
      await s.until('its pods go', () => s.pods().length === 2);
      await s.quiet();
    },
  },
];
