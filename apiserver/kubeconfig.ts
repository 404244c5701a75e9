import { stringify } from 'yaml';

/** A kubeconfig for one user of this server, as YAML. */
export function kubeconfigText(server: { url: string; caPem: string; token: string; user: string }): string {
  const authority = server.caPem === '' ? {} : { 'certificate-authority-data': Buffer.from(server.caPem).toString('base64') };
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'dkc', cluster: { server: server.url, ...authority } }],
    users: [{ name: server.user, user: { token: server.token } }],
    contexts: [{ name: 'dkc', context: { cluster: 'dkc', user: server.user, namespace: 'default' } }],
    'current-context': 'dkc',
  });
}
