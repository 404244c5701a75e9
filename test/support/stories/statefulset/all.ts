import { ownership } from './ownership.ts';
import type { Stage } from './stage.ts';
import { story, type Story } from '../story.ts';

/** Played beside kube-controller-manager: what is left must be the same. */
export const stories: readonly Story<Stage>[] = [
  ...ownership,
  // Pods come and go, one by one or all at once; their claims stay.
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

  // From one template to the next.
  ...([true, false] as const).map((parallel) =>
    story(parallel ? 'rolls-parallel' : 'rolls', parallel ? { anyOrder: true } : {}, async (s: Stage) => {
      await s.running({ parallel });
      await s.rolls('app:2');
    }),
  ),
  story('partitioned', async (s) => {
    await s.running({ replicas: 4 });
    await s.partition(2);
    await s.image('app:2');
    await s.shows({ updated: 2, current: 2, ready: 4 });
    await s.replacePod(s.pod(0)); // below the partition it comes back as it was
    await s.shows({ updated: 2, current: 2, ready: 4 });
    await s.partition(1);
    await s.shows({ updated: 3, current: 1, ready: 4 });
    await s.partition(0);
    await s.rolledOut();
  }),
  story('rolled-back', async (s) => {
    await s.running();
    await s.rolls('app:2');
    await s.rolls('app:1');
    await s.undo(2);
    await s.rolledOut();
    s.note(`revisions ${s.revisionNumbers().join()}`);
  }),
  story('on-delete', async (s) => {
    await s.running({ spec: { updateStrategy: { type: 'OnDelete' } } });
    await s.image('app:2');
    await s.shows({ updated: 0, current: 3 });
    await s.replacePod(s.pod(1));
    await s.shows({ updated: 1, current: 2, ready: 3 });
    await s.scale(4);
    await s.shows({ updated: 2, current: 2, ready: 4 });
    for (const n of [0, 2]) {
      await s.replacePod(s.pod(n));
      await s.shows({ ready: 4 });
    }
    await s.shows({ updated: 4, ready: 4 });
    await s.nudge();
    await s.quiet();
  }),
  story('stuck', async (s) => {
    await s.running();
    await s.image('hollow/crash:2');
    await s.shows({ updated: 1, ready: 2 });
    await s.image('app:3');
    await s.shows({ updated: 0, ready: 2 });
    s.note(`${s.pod(2).spec?.containers[0]?.image} still`);
    await s.deletePod(s.pod(2));
    await s.rolledOut();
  }),

  // What comes of a template: into pods, into revisions, and past an API server that refuses.
  // Whoever patches a revision later must find the very bytes that a server would write.
  story('shell-command-orphaned', async (s) => {
    const command = ['sh', '-c', 'test -e /a && test 1 \\< 2 > /dev/null; echo "\\u2028 \u2028 ä \u007f"'];
    await s.running({ replicas: 1 });
    await s.patch({ spec: { template: { spec: { containers: [{ name: 'main', command }] } } } });
    await s.rolledOut();
    await s.remove('Orphan');
    await s.quiet();
    await s.running({ replicas: 1 });
  }),
  story('rich-template', async (s) => {
    await s.running({ replicas: 1, claims: ['data'] });
    await s.patch({
      spec: {
        template: {
          metadata: { annotations: { 'example.com/why': '<b>"&"</b>', empty: '' }, labels: { tier: 'db' } },
          spec: {
            containers: [
              {
                name: 'main',
                args: ['--level=3', 'ünïcode'],
                ports: [{ containerPort: 80, name: 'http' }],
                resources: { requests: { cpu: '0.1', memory: '64Mi' }, limits: { memory: '0.5Gi' } },
                volumeMounts: [{ name: 'data', mountPath: '/data' }],
              },
            ],
            hostname: 'not-this',
            subdomain: 'nor-this',
            terminationGracePeriodSeconds: 0,
          },
        },
      },
    });
    await s.rolledOut();
  }),
  story('name-too-long', { manyFailures: true }, async (s) => {
    const name = 'a-set-whose-name-leaves-no-room-for-the-hash-in-a-label-value';
    await s.create({ name, replicas: 1 });
    await s.reported('FailedCreate');
    await s.quiet({ observed: false }); // kube-controller-manager never writes its status
  }),
  story('refused-by-the-server', { manyFailures: true }, async (s) => {
    await s.create({ replicas: 2, claims: ['data'], pod: { priorityClassName: 'there-is-none' } });
    await s.reported('FailedCreate');
    await s.patch({ spec: { template: { spec: { priorityClassName: null } } } });
    await s.rolledOut();
  }),

  story('pod-failed', async (s) => {
    await s.running({ claims: ['data'] });
    const pod = s.pod(1);
    await s.behave(pod, 'failed:Evicted');
    await s.replaced(pod);
    await s.shows({ ready: 3 });
  }),
  story('pod-succeeded', async (s) => {
    await s.running({ replicas: 2 });
    await s.behave(s.pod(0), 'succeeded');
    await s.until(
      'it has succeeded, or another is there',
      () => s.pod(0).status?.phase === 'Succeeded' || s.pod(0).metadata.annotations === undefined,
    );
    await s.quiet();
  }),
  story('pod-unready-and-back', async (s) => {
    await s.running({ replicas: 2 });
    await s.behave(s.pod(0), 'unready');
    await s.shows({ ready: 1 });
    await s.scale(3);
    await s.shows({ replicas: 2 });
    await s.behave(s.pod(0), 'ready');
    await s.rolledOut();
  }),
  story('pod-name-label-repaired', async (s) => {
    await s.running({ replicas: 2 });
    for (const label of ['web-7', null]) {
      await s.patchPod(s.pod(1), { metadata: { labels: { 'statefulset.kubernetes.io/pod-name': label } } });
      await s.until('it is put right', () => s.pod(1).metadata.labels?.['statefulset.kubernetes.io/pod-name'] === 'web-1');
      await s.quiet();
    }
  }),
  story('claim-lost-under-a-running-pod', async (s) => {
    await s.running({ replicas: 2, claims: ['data'] });
    await s.deleteClaim('data-web-1');
    await s.nudge();
    await s.quiet();
    s.note(`${s.claims().length} claims while it runs`);
    await s.deletePod(s.pod(1));
    await s.rolledOut();
  }),
  story('claim-lost-under-a-pending-pod', async (s) => {
    await s.create({ replicas: 2, claims: ['data'], image: 'hollow/unpullable:1' });
    await s.shows({ replicas: 1, ready: 0 });
    await s.until('it is pending', () => s.pod(0).status?.containerStatuses !== undefined);
    await s.deleteClaim('data-web-0');
    await s.nudge();
    await s.quiet();
    s.note(`${s.claims().length} claims`);
  }),
];
