import type { Rules } from '../../../../controllers/statefulset/rules.ts';
import type { Pvc, Pod, StatefulSet } from '../../../../controllers/common/types.ts';

export interface SetOptions {
  spec?: Omit<Partial<NonNullable<StatefulSet['spec']>>, 'volumeClaimTemplates'>;
  annotations?: Record<string, string>;
  /** Names, or whole templates. */
  claims?: readonly (string | Pvc)[];
}

/** `ns/web`, as a server stores it, with three replicas. */
export function statefulSet({ spec, annotations, claims = [] }: SetOptions = {}): StatefulSet {
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'web', namespace: 'ns', uid: 'set-uid', generation: 1, ...(annotations === undefined ? {} : { annotations }) },
    spec: {
      serviceName: 'web',
      replicas: 3,
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'new' }] } },
      volumeClaimTemplates: claims.map((claim) => (typeof claim === 'string' ? claimTemplate(claim) : claim)),
      ...spec,
    },
  };
}

/** Of 1Gi. */
export function claimTemplate(name: string, storage = '1Gi', metadata: Pvc['metadata'] = {}): Pvc {
  return { metadata: { name, ...metadata }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } } };
}

/** A claim in `ns`, of 1Gi, as a server has it. */
export function claim(name: string, metadata: Pvc['metadata'] = {}, spec: Pvc['spec'] = {}): Pvc {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, namespace: 'ns', uid: `${name}-uid`, resourceVersion: '7', ...metadata },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, volumeName: `pv-${name}`, ...spec },
    status: { phase: 'Bound', capacity: { storage: '1Gi' } },
  };
}

/** `ns/web-ORDINAL` as this controller makes it, with its label and a volume for each of `claims`. */
export function pod(ordinal: number, claims: readonly string[] = []): Pod {
  const name = `web-${ordinal}`;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'ns',
      uid: `${name}-uid`,
      resourceVersion: '5',
      labels: {
        app: 'web',
        'statefulset.kubernetes.io/pod-name': name,
        'apps.kubernetes.io/pod-index': `${ordinal}`,
        'controller-revision-hash': 'web-1',
      },
    },
    spec: {
      containers: [{ name: 'c', image: 'new' }],
      volumes: claims.map((template) => ({ name: template, persistentVolumeClaim: { claimName: `${template}-${name}` } })),
    },
  };
}

/** Looks up by name. */
export function lookupOf(...claims: readonly Readonly<Pvc>[]): (name: string) => Readonly<Pvc> | undefined {
  return (name) => claims.find(({ metadata }) => metadata.name === name);
}

/** All ordinals of a small set. */
export function ordinalsOf({ places }: Pick<Rules, 'places'>): number[] {
  return Array.from({ length: places.length }, (_, at) => places.ordinalAt(at));
}
