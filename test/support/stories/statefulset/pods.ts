import type { Story } from './story.ts';

/** Pods that end, fail, lose their labels or their storage. */
export const podsGoneWrong: readonly Story[] = [
  {
    name: 'pod-deleted',
    async play(s) {
      await s.create({ claims: ['data'] });
      await s.rolledOut();
      await s.replacePod(s.pod(1));
      await s.shows({ ready: 3 });
    },
  },
  {
    name: 'pod-deleted-on-a-dead-node',
    async play(s) {
      await s.create();
      await s.rolledOut();
      await s.kubelet(0, 'dead');
      const pod = s.pod(1);
      await s.terminate(pod);
      await s.quiet();
      s.note(`${s.pods().length} pods while it is stuck`);
      await s.kubelet(0, 'alive');
      await s.replaced(pod);
      await s.shows({ ready: 3 });
    },
  },
  {
    name: 'pod-failed',
    async play(s) {
      await s.create({ claims: ['data'] });
      await s.rolledOut();
      const pod = s.pod(1);
      await s.behave(pod, 'failed:Evicted');
      await s.replaced(pod);
      await s.shows({ ready: 3 });
    },
  },
  {
    name: 'pod-failed-parallel',
    async play(s) {
      await s.create({ parallel: true });
      await s.rolledOut();
      const pod = s.pod(0);
      await s.behave(pod, 'failed:Evicted');
      await s.replaced(pod);
      await s.shows({ ready: 3 });
    },
    anyOrder: true,
  },
  {
    name: 'pod-succeeded',
    async play(s) {
      await s.create({ replicas: 2 });
      await s.rolledOut();
      await s.behave(s.pod(0), 'succeeded');
      await s.until(
        'it has succeeded, or another is there',
        () => s.pod(0).status?.phase === 'Succeeded' || s.pod(0).metadata.annotations === undefined,
      );
      await s.quiet();
    },
  },
  {
    name: 'pod-unready-and-back',
    async play(s) {
      await s.create({ replicas: 2 });
      await s.rolledOut();
      await s.behave(s.pod(0), 'unready');
      await s.shows({ ready: 1 });
      await s.scale(3);
      await s.shows({ replicas: 2 });
      await s.behave(s.pod(0), 'ready');
      await s.rolledOut();
    },
  },
  {
    name: 'pod-name-label-repaired',
    async play(s) {
      await s.create({ replicas: 2 });
      await s.rolledOut();
      for (const label of ['web-7', null]) {
        await s.patchPod(s.pod(1), { metadata: { labels: { 'statefulset.kubernetes.io/pod-name': label } } });
        await s.until('it is put right', () => s.pod(1).metadata.labels?.['statefulset.kubernetes.io/pod-name'] === 'web-1');
        await s.quiet();
      }
    },
  },
  {
    name: 'hash-taken-away',
    async play(s) {
      await s.create({ replicas: 2 });
      await s.rolledOut();
      const pod = s.pod(0);
      await s.patchPod(pod, { metadata: { labels: { 'controller-revision-hash': null } } });
      await s.replaced(pod);
      await s.rolledOut();
    },
  },
  {
    name: 'hash-taken-away-on-delete',
    async play(s) {
      await s.create({ replicas: 2, spec: { updateStrategy: { type: 'OnDelete' } } });
      await s.rolledOut();
      await s.patchPod(s.pod(0), { metadata: { labels: { 'controller-revision-hash': null } } });
      await s.shows({ ready: 2 });
    },
  },
  {
    name: 'claim-lost-under-a-running-pod',
    async play(s) {
      await s.create({ replicas: 2, claims: ['data'] });
      await s.rolledOut();
      await s.deleteClaim('data-web-1');
      await s.nudge();
      await s.quiet();
      s.note(`${s.claims().length} claims while it runs`);
      await s.deletePod(s.pod(1));
      await s.rolledOut();
    },
  },
  {
    name: 'claim-lost-under-a-pending-pod',
    async play(s) {
      await s.create({ replicas: 2, claims: ['data'], image: 'hollow/unpullable:1' });
      await s.shows({ replicas: 1, ready: 0 });
      await s.until('it is pending', () => s.pod(0).status?.containerStatuses !== undefined);
      await s.deleteClaim('data-web-0');
      await s.nudge();
      await s.quiet();
      s.note(`${s.claims().length} claims`);
    },
  },
  {
    name: 'claim-is-somebody-elses',
    async play(s) {
      const claim = s.manifest({ claims: ['data'] }).spec?.volumeClaimTemplates?.[0];
      await s.client.create(
        { group: '', version: 'v1', resource: 'persistentvolumeclaims', kind: 'PersistentVolumeClaim', namespaced: true },
        {
          ...claim,
          metadata: { name: 'data-web-0', namespace: s.name, labels: { made: 'by-hand' } },
          spec: { ...claim?.spec, resources: { requests: { storage: '5Gi' } } },
        },
      );
      await s.create({ replicas: 2, claims: ['data'] });
      await s.rolledOut();
    },
  },
  {
    name: 'volume-of-the-template-gives-way',
    async play(s) {
      const volumes = [
        { name: 'data', emptyDir: {} },
        { name: 'tmp', emptyDir: {} },
      ];
      await s.create({ replicas: 1, claims: ['data'], pod: { volumes } });
      await s.rolledOut();
    },
  },
];
