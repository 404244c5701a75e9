import { type KubeObject, services } from '../../../../kube/api/object.ts';
import { story, type Story } from '../story.ts';
import type { Stage } from './stage.ts';

/** What comes of a template: into pods, into revisions, and past an API server that refuses. */
export const templates: readonly Story<Stage>[] = [
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
            initContainers: [
              { name: 'first', image: 'init:1', env: [{ name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }] },
            ],
            containers: [
              {
                name: 'main',
                args: ['--level=3', '--name=$(POD)', 'ünïcode'],
                ports: [{ containerPort: 80, name: 'http' }],
                resources: { requests: { cpu: '0.1', memory: '64Mi' }, limits: { memory: '0.5Gi' } },
                livenessProbe: { exec: { command: ['true'] }, periodSeconds: 5 },
                volumeMounts: [{ name: 'data', mountPath: '/data' }],
                securityContext: { privileged: true, runAsUser: 0 },
              },
            ],
            hostname: 'not-this',
            subdomain: 'nor-this',
            securityContext: { fsGroup: 7 },
            affinity: {
              podAntiAffinity: {
                preferredDuringSchedulingIgnoredDuringExecution: [
                  { weight: 1, podAffinityTerm: { topologyKey: 'zone', labelSelector: { matchLabels: { app: 'web' } } } },
                ],
              },
            },
            terminationGracePeriodSeconds: 0,
          },
        },
      },
    });
    await s.rolledOut();
  }),
  story('min-ready-seconds-dropped', async (s) => {
    await s.running({ replicas: 2, spec: { minReadySeconds: 2 } });
    await s.rolls('app:2');
  }),
  story('headless-service', async (s) => {
    const spec = { clusterIP: 'None', selector: s.appLabels('web'), ports: [{ port: 80 }] };
    await s.client.create<KubeObject>(services, { metadata: { name: 'names', namespace: s.name }, spec });
    await s.running({ replicas: 2, spec: { serviceName: 'names' } });
    s.note(
      s
        .pods()
        .map(({ spec: of }) => `${of?.hostname}.${of?.subdomain}`)
        .toSorted()
        .join(' '),
    );
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
  story('expressions-in-the-selector', async (s) => {
    const selector = { matchLabels: { story: s.name }, matchExpressions: [{ key: 'app', operator: 'In', values: ['web', 'old'] }] };
    const set = s.manifest({ replicas: 1, claims: ['data'] });
    await s.createSet({ ...set, spec: { ...set.spec, serviceName: 'web', template: set.spec?.template ?? {}, selector } });
    await s.rolledOut();
  }),
];
