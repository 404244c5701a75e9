type Fields = Record<string, unknown>;

/** A DaemonSet `default/NAME` for all nodes. */
export const daemonSet = (name: string, spec: Fields = {}, annotations: Record<string, string> = {}): Fields =>
  workload('DaemonSet', name, spec, annotations);

/** `default/NAME`, whose pods have one container. */
export function workload(kind: 'DaemonSet' | 'StatefulSet', name: string, spec: Fields, annotations: Record<string, string>): Fields {
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata: { name, namespace: 'default', annotations },
    spec: {
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'c', image: 'v1' }] } },
      ...spec,
    },
  };
}
