import type { LocalApi } from '../../../../apiserver/local-api.ts';
import type { Pod } from '../../../../scheduler/types.ts';

/** With a class for each priority. */
export function addPods(api: LocalApi, pods: readonly { build(): Pod }[]): void {
  for (const one of pods) {
    const pod = one.build();
    const { priority: value = 0 } = pod.spec ?? {};
    const metadata = { name: `p${value}` };
    if (value !== 0 && api.hooks.storage.get('scheduling.k8s.io/priorityclasses', metadata.name) === undefined)
      api.add({ apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata, value });
    api.add(manifestOf(pod));
  }
}

/** As people write it: the server gives the rest. Who is more important than others is so by a class. */
function manifestOf({ apiVersion, kind, metadata, spec }: Pod): Record<string, unknown> {
  const { namespace, name, labels, ownerReferences } = metadata;
  const { priority = 0, ...rest } = spec ?? { containers: [] };
  const important = priority === 0 ? {} : { priorityClassName: `p${priority}` };
  return {
    apiVersion,
    kind,
    metadata: { namespace, name, labels, ...(ownerReferences && { ownerReferences }) },
    spec: { ...rest, ...important },
  };
}

/** Of pods with one container of this many cpus. */
export function statefulSet(name: string, cpu: string, spec: Record<string, unknown> = {}, podSpec: object = {}): Record<string, unknown> {
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name, namespace: 'default' },
    spec: {
      serviceName: name,
      replicas: 3,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { containers: [{ name: 'c', image: 'v1', resources: { requests: { cpu } } }], ...podSpec },
      },
      ...spec,
    },
  };
}
