import { story, type Story } from '../story.ts';
import type { Stage } from './stage.ts';

/** What comes of a template: into pods, into revisions, and past an API server that refuses. */
export const templates: readonly Story<Stage>[] = [
  story('rich-template', async (s) => {
    await s.nodes(1);
    const probe = { exec: { command: ['true'] }, periodSeconds: 5 };
    await s.create();
    await s.rolledOut();
    await s.patch({
      spec: {
        template: {
          metadata: { annotations: { 'example.com/why': '<b>"&"</b>', empty: '' }, labels: { tier: 'node' } },
          spec: {
            initContainers: [
              { name: 'first', image: 'init:1', env: [{ name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }] },
            ],
            containers: [
              {
                name: 'main',
                args: ['--level=3', '--name=$(NODE)', 'ünïcode', '\u2028'],
                ports: [{ containerPort: 80, hostPort: 8080, name: 'http' }],
                resources: { requests: { cpu: '0.1', memory: '64Mi' }, limits: { memory: '0.5Gi' } },
                livenessProbe: probe,
                volumeMounts: [{ name: 'host', mountPath: '/host', readOnly: true }],
                securityContext: { privileged: true, runAsUser: 0 },
              },
            ],
            volumes: [
              { name: 'host', hostPath: { path: '/var/log', type: '' } },
              { name: 'none', emptyDir: {} },
            ],
            priorityClassName: 'system-node-critical',
            hostPID: true,
            dnsPolicy: 'ClusterFirstWithHostNet',
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
  story('recreated-at-once', async (s) => {
    await s.running(3);
    const before = s.pods();
    await s.remove('Background');
    await s.create({ image: 'app:2' });
    await s.until('the pods of the old one go', () => before.every((pod) => s.isGone(pod)));
    await s.rolledOut();
  }),
  story('refused-by-the-server', async (s) => {
    await s.nodes(2);
    await s.create({ pod: { priorityClassName: 'there-is-none' } });
    await s.reported('FailedCreate');
    await s.patch({ spec: { template: { spec: { priorityClassName: null } } } });
    await s.rolledOut();
  }),
  story('node-replaced', async (s) => {
    await s.running(2);
    const pod = s.podOn(1);
    await s.removeNode(1);
    await s.nodes(1, { labels: { disk: 'new' } }, 1);
    await s.until('its pod goes', () => s.isGone(pod));
    await s.shows({ desired: 2, available: 2, updated: 2 });
  }),
];
