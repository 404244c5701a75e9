import { ownership } from './ownership.ts';
import type { Stage } from './stage.ts';
import { story, type Story } from '../story.ts';

/** Played beside kube-controller-manager: what is left must be the same. */
export const stories: readonly Story<Stage>[] = [
  ...ownership,
  story('taint-no-schedule', async (s) => {
    await s.running(3);
    await s.taint(1, 'busy=yes:NoSchedule');
    await s.nudge();
    await s.shows({ desired: 2, misscheduled: 1 });
    await s.deletePod(s.podOn(1));
    await s.shows({ desired: 2, misscheduled: 0 });
    s.note(`${s.pods().length} pods while tainted`);
    await s.taint(1);
    await s.rolledOut();
    await s.taint(0, 'busy=a-bit:PreferNoSchedule');
    await s.quiet();
  }),
  story('nodes-come-and-go', async (s) => {
    await s.running(2);
    await s.nodes(2, {}, 2);
    await s.shows({ desired: 4, available: 4 });
    await s.removeNode(1);
    await s.shows({ desired: 3, available: 3 });
    await s.nodes(1, {}, 1);
    await s.shows({ desired: 4, available: 4 });
  }),
  story('pending-for-a-lost-node', async (s) => {
    await s.running(2);
    const resources = { requests: { cpu: '100' } };
    await s.patch({
      spec: {
        updateStrategy: { rollingUpdate: { maxUnavailable: 2 } },
        template: { spec: { containers: [{ name: 'main', resources }] } },
      },
    });
    await s.shows({ desired: 2, current: 2, available: 0, updated: 2 });
    await s.removeNode(1);
    await s.nodes(1, {}, 2);
    await s.shows({ desired: 2, current: 2 });
    await s.until('nothing waits for the lost node', () => s.pods().length === 2);
  }),

  // From one template to another, and back.
  story('bad-image-then-undone', { anyNode: true }, async (s) => {
    await s.running(3);
    const before = new Set(s.pods().map(({ metadata }) => metadata.uid));
    await s.image('hollow/crash:2');
    await s.shows({ desired: 3, updated: 1, available: 2 });
    await s.undo(1);
    await s.rolledOut();
    s.note(`${s.pods().filter(({ metadata }) => before.has(metadata.uid)).length} pods were never restarted`);
  }),
  story('on-delete', async (s) => {
    await s.running(3, { spec: { updateStrategy: { type: 'OnDelete' } } });
    await s.image('app:2');
    await s.shows({ desired: 3, updated: 0, available: 3 });
    await s.deletePod(s.podOn(1));
    await s.shows({ desired: 3, updated: 1, available: 3 });
    await s.patch({ spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '100%' } } } });
    await s.rolledOut();
  }),
  story('history-limit', async (s) => {
    await s.running(1, { spec: { revisionHistoryLimit: 2 } });
    for (const tag of [2, 3, 4, 5]) await s.rolls(`app:${tag}`);
    await s.until('old revisions go', () => s.revisions().length === 3);
    await s.patch({ spec: { revisionHistoryLimit: 0 } });
    await s.until('all old revisions go', () => s.revisions().length === 1);
    await s.quiet();
  }),
  story('rolls-beside-a-dead-node', async (s) => {
    await s.running(3, { spec: { updateStrategy: { rollingUpdate: { maxUnavailable: 2 } } } });
    const stuck = s.podOn(0);
    await s.behave(stuck, 'unready'); // as the node lifecycle controller says of pods whose node is silent
    await s.shows({ desired: 3, available: 2 });
    await s.kubelet(0, 'dead');
    await s.image('app:2');
    await s.until('the stuck one ends', () =>
      s.pods().some(({ metadata }) => metadata.uid === stuck.metadata.uid && metadata.deletionTimestamp),
    );
    await s.shows({ desired: 3, updated: 2, available: 2 });
    s.note(`${s.pods().length} pods while it is stuck`);
    await s.kubelet(0, 'alive');
    await s.rolledOut();
  }),

  // What comes of a template: into pods, into revisions, and past an API server that refuses.
  story('rich-template', async (s) => {
    await s.running(1);
    await s.patch({
      spec: {
        template: {
          metadata: { annotations: { 'example.com/why': '<b>"&"</b>', empty: '' }, labels: { tier: 'node' } },
          spec: {
            containers: [
              {
                name: 'main',
                args: ['--level=3', 'ünïcode', '\u2028'],
                ports: [{ containerPort: 80, hostPort: 8080, name: 'http' }],
                resources: { requests: { cpu: '0.1', memory: '64Mi' }, limits: { memory: '0.5Gi' } },
                volumeMounts: [{ name: 'host', mountPath: '/host', readOnly: true }],
              },
            ],
            volumes: [{ name: 'host', hostPath: { path: '/var/log', type: '' } }],
            priorityClassName: 'system-node-critical',
            terminationGracePeriodSeconds: 0,
          },
        },
      },
    });
    await s.rolledOut();
  }),
  story('long-name', async (s) => {
    await s.nodes(1);
    // Longer than what is left of it in the names of pods.
    const name = 'a-set-with-a-name-of-more-than-the-fifty-eight-letters-that-fit';
    await s.create({ name });
    await s.rolledOut(name);
    await s.rolls('app:2', name);
  }),

  // Pods that fail, end, vanish or are there twice.
  story('failed', async (s) => {
    await s.running(2);
    for (let times = 0; times < 3; times++) {
      const pod = s.podOn(0);
      await s.behave(pod, 'failed:Evicted');
      await s.until('it is replaced', () => s.isGone(pod) && s.pods().length === 2);
      await s.rolledOut();
    }
  }),
  story('failed-and-held', async (s) => {
    await s.running(1);
    const pod = s.podOn(0);
    await s.patchPod(pod, { metadata: { finalizers: ['example.com/held'] } });
    await s.behave(pod, 'failed:Evicted');
    await s.until('it ends', () => s.pods().some(({ metadata }) => metadata.deletionTimestamp !== undefined));
    await s.quiet();
    s.note(`${s.pods().length} pods while it is held`);
    await s.patchPod(pod, { metadata: { finalizers: null } });
    await s.until('it is gone', () => s.isGone(pod));
    await s.rolledOut();
  }),
  story('succeeded', async (s) => {
    await s.running(2);
    await s.behave(s.podOn(1), 'succeeded');
    await s.until('it is over', () => s.set().status?.numberReady !== 2 || s.pods().every(({ status }) => status?.phase === 'Running'));
    await s.quiet();
  }),
  story('deleted-on-a-dead-node', async (s) => {
    await s.running(2);
    const pod = s.podOn(0);
    await s.kubelet(0, 'dead');
    await s.deletePod(pod);
    await s.quiet();
    s.note(`${s.pods().length} pods while it is stuck`);
    await s.kubelet(0, 'alive');
    await s.until('it is gone', () => s.isGone(pod));
    await s.rolledOut();
  }),
  story('twice-on-a-node', async (s) => {
    await s.running(2);
    const { metadata, spec } = s.podOn(0);
    const { labels = {}, ownerReferences = [] } = metadata;
    if (spec === undefined) throw new Error('a pod without a spec');
    await s.createPod({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'second', namespace: s.name, labels, ownerReferences }, spec });
    await s.until('one is left', () => s.pods().length === 2);
    await s.rolledOut();
    s.note(`left: ${s.pods().some((pod) => pod.metadata.name === 'second') ? 'the second' : 'the first'}`);
  }),
];
