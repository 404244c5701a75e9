import { story, type Story } from '../story.ts';
import type { Stage } from './stage.ts';

/** Which nodes get a pod, and which keep theirs. */
export const placement: readonly Story<Stage>[] = [
  story('scaled-by-labels', async (s) => {
    await s.nodes(2, { labels: { tier: 'web' } });
    await s.nodes(2, {}, 2);
    await s.create({ pod: { nodeSelector: { tier: 'web' } } });
    await s.shows({ desired: 2, available: 2 });
    await s.label(2, { tier: 'web' });
    await s.shows({ desired: 3, available: 3 });
    await s.label(0, { tier: null });
    await s.until('the pod goes', () => s.pods().length === 2);
    await s.shows({ desired: 2, available: 2, misscheduled: 0 });
  }),
  story('fields-of-nodes', async (s) => {
    await s.nodes(3);
    const matchFields = [{ key: 'metadata.name', operator: 'In', values: [s.node(1)] }];
    const required = { nodeSelectorTerms: [{ matchFields }] };
    await s.create({ pod: { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } } } });
    await s.shows({ desired: 1, available: 1 });
  }),
  story('no-node', async (s) => {
    await s.nodes(2);
    await s.create({ pod: { nodeSelector: { tier: 'none' } } });
    await s.shows({ desired: 0, available: 0 });
    await s.patch({ spec: { template: { spec: { nodeSelector: { tier: null } } } } });
    await s.rolledOut();
    await s.patch({ spec: { template: { spec: { nodeSelector: { tier: 'none' } } } } });
    await s.until('all pods go', () => s.pods().length === 0);
    await s.shows({ desired: 0 });
  }),
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
  story('taint-no-execute', async (s) => {
    await s.running(2);
    await s.taint(0, 'gone=yes:NoExecute');
    await s.until('the pod goes', () => s.pods().length === 1);
    await s.shows({ desired: 1, misscheduled: 0 });
    await s.taint(0);
    await s.shows({ desired: 2, available: 2 });
  }),
  story('tolerations', async (s) => {
    await s.nodes(1, { taints: [{ key: 'gpu', value: 'a', effect: 'NoSchedule' }] });
    await s.nodes(1, { taints: [{ key: 'gpu', value: 'b', effect: 'NoSchedule' }] }, 1);
    await s.nodes(1, { taints: [{ key: 'slow', effect: 'NoExecute' }] }, 2);
    await s.nodes(1, { taints: [{ key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' }] }, 3);
    await s.nodes(1, { taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] }, 4);
    await s.create({
      pod: {
        tolerations: [
          { key: 'gpu', operator: 'Equal', value: 'a', effect: 'NoSchedule' },
          { key: 'slow', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 3_600 },
          { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 },
          { key: 'node.kubernetes.io/unreachable', operator: 'Equal', value: 'x', effect: 'NoExecute' },
        ],
      },
    });
    await s.shows({ desired: 3, available: 3 });
    await s.taint(4);
    await s.shows({ desired: 4, available: 4 });
  }),
  story('cordoned', async (s) => {
    await s.running(2);
    await s.cordon(0);
    await s.taint(0, 'node.kubernetes.io/unschedulable:NoSchedule');
    await s.quiet();
    await s.rolls('app:2');
    await s.create({ name: 'late' });
    await s.rolledOut('late');
    await s.taint(0);
    await s.cordon(0, false);
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
  story('too-big', { anyNode: true }, async (s) => {
    await s.nodes(2, { allocatable: { cpu: '1' } });
    const container = (cpu: string) => ({ containers: [{ name: 'main', image: 'app:1', resources: { requests: { cpu } } }] });
    await s.create();
    await s.rolledOut();
    await s.patch({ spec: { template: { spec: container('2') } } });
    await s.shows({ desired: 2, current: 2, available: 1, updated: 1 });
    await s.patch({ spec: { template: { spec: container('500m') } } });
    await s.rolledOut();
  }),
  story('pending-for-a-lost-node', async (s) => {
    await s.nodes(2);
    const resources = { requests: { cpu: '100' } };
    await s.create();
    await s.rolledOut();
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
];
