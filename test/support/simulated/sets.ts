/** A DaemonSet `default/NAME` for all nodes. */
export function daemonSet(
  name: string,
  spec: Record<string, unknown> = {},
  annotations: Record<string, string> = {},
): Record<string, unknown> {
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name, namespace: 'default', annotations },
    spec: {
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'c', image: 'v1' }] } },
      ...spec,
    },
  };
}
