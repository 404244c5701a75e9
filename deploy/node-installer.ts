import { restricted, restrictedPod } from './workload.ts';
import type { KubeObject } from '../kube/api/object.ts';

/** Name of the namespace, where pods may be privileged, and of all objects in it. */
const INSTALLER = 'dkc-node-installer';
/** Nodes with this label get the package. */
const INSTALL_LABEL = 'dkc.dev/node-installer';
/** Where the root of the node is mounted in the container that installs. */
const ROOT = '/host';

const labels = { 'app.kubernetes.io/name': 'dkc', 'app.kubernetes.io/component': 'node-installer' };
const metadata = { name: INSTALLER, namespace: INSTALLER, labels };

/** Installs the package on nodes without a package manager. The privileged container ends; the other has no rights. @param image - such as `dkc:0.1.0` */
export function nodeInstaller(image: string): KubeObject[] {
  const resources = (limit: string) => ({ requests: { cpu: '10m', memory: '64Mi' }, limits: { memory: limit } });
  const install = {
    name: 'install',
    image,
    args: ['deploy', 'install-node', `--root=${ROOT}`],
    resources: resources('512Mi'),
    // Needs the whole root of the node, including systemd; the container ends within seconds.
    securityContext: { privileged: true, runAsNonRoot: false, runAsUser: 0, runAsGroup: 0, readOnlyRootFilesystem: true },
    terminationMessagePolicy: 'FallbackToLogsOnError',
    volumeMounts: [{ name: 'root', mountPath: ROOT }],
  };
  const hold = { name: 'hold', image, args: ['deploy', 'hold'], resources: resources('128Mi'), securityContext: restricted };
  return [
    {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: INSTALLER, labels: { ...labels, 'pod-security.kubernetes.io/enforce': 'privileged' } },
    },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata, automountServiceAccountToken: false },
    {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata,
      spec: {
        selector: { matchLabels: labels },
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } },
        template: {
          metadata: { labels },
          spec: {
            serviceAccountName: INSTALLER,
            automountServiceAccountToken: false,
            nodeSelector: { 'kubernetes.io/os': 'linux', [INSTALL_LABEL]: 'true' },
            tolerations: [{ operator: 'Exists' }],
            terminationGracePeriodSeconds: 5,
            securityContext: restrictedPod,
            initContainers: [install],
            containers: [hold],
            volumes: [{ name: 'root', hostPath: { path: '/', type: 'Directory' } }],
          },
        },
      },
    },
    // No traffic in either direction.
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata,
      spec: { podSelector: {}, policyTypes: ['Ingress', 'Egress'] },
    },
  ];
}
