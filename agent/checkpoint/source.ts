/** Which key of which ConfigMap, as an admin writes it (spec 2.2, spec form). */
export interface SpecSource {
  namespace: string;
  name: string;
  kubeletConfigKey: string;
}

/** The same with uid and resourceVersion, which together name one immutable payload. Never compare a resourceVersion as a number. */
export interface Source extends SpecSource {
  uid: string;
  resourceVersion: string;
}

/** In records, in status and on the command line, no source at all means the local config. */
export type MaybeSource = Source | null;

/** Same in every part; null equals null. */
export function sameSource(a: MaybeSource, b: MaybeSource): boolean {
  if (a === null || b === null) return a === b;
  return samePayload(a, b) && a.namespace === b.namespace && a.name === b.name && a.kubeletConfigKey === b.kubeletConfigKey;
}

/** Same checkpoint directory, whatever key is read from it. */
export function samePayload(a: PayloadRef, b: PayloadRef): boolean {
  return a.uid === b.uid && a.resourceVersion === b.resourceVersion;
}

/** Names a checkpoint directory. */
export type PayloadRef = Pick<Source, 'uid' | 'resourceVersion'>;

/** `/api/v1/namespaces/NS/configmaps/NAME`, as upstream writes it in messages and metrics. */
export function apiPath(source: Pick<Source, 'namespace' | 'name'>): string {
  return `/api/v1/namespaces/${source.namespace}/configmaps/${source.name}`;
}

/** For people and logs: `local`, or `NS/NAME UID/RV KEY`. */
export function sourceText(source: MaybeSource): string {
  if (source === null) return 'local';
  return `${source.namespace}/${source.name} ${source.uid}/${source.resourceVersion} ${source.kubeletConfigKey}`;
}
