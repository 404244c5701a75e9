import { persistentVolumeClaims } from '../../../../kube/api/object.ts';
import { story, type Story } from '../story.ts';
import type { Stage } from './stage.ts';

/** Pods that end, fail, lose their labels or their storage. */
export const podsGoneWrong: readonly Story<Stage>[] = [
  story('pod-deleted-on-a-dead-node', async (s) => {
    await s.running();
    await s.kubelet(0, 'dead');
    const pod = s.pod(1);
    await s.terminate(pod);
    await s.quiet();
    s.note(`${s.pods().length} pods while it is stuck`);
    await s.kubelet(0, 'alive');
    await s.replaced(pod);
    await s.shows({ ready: 3 });
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
  story('hash-taken-away', async (s) => {
    await s.running({ replicas: 2 });
    const pod = s.pod(0);
    await s.patchPod(pod, { metadata: { labels: { 'controller-revision-hash': null } } });
    await s.replaced(pod);
    await s.rolledOut();
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
  story('claim-is-somebody-elses', async (s) => {
    const claim = s.manifest({ claims: ['data'] }).spec?.volumeClaimTemplates?.[0];
    const metadata = { name: 'data-web-0', namespace: s.name, labels: { made: 'by-hand' } };
    const spec = { ...claim?.spec, resources: { requests: { storage: '5Gi' } } };
    await s.client.create(persistentVolumeClaims, { ...claim, metadata, spec });
    await s.running({ replicas: 2, claims: ['data'] });
  }),
];
