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

/**
 * The one spelling of a configuration for people, logs and events: `local`, or `NAMESPACE/NAME:KEY@RV`, such as `dkc-system/web:kubelet@4711`.
 * Without a resourceVersion (a spec names none) it ends after the key; what is not known is `?`. The command line takes it as a REF.
 */
export function sourceText(source: (SpecSource & Partial<PayloadRef>) | null): string {
  if (source === null) return 'local';
  const { namespace, name, kubeletConfigKey, resourceVersion = '' } = source;
  const version = resourceVersion === '' ? '' : `@${resourceVersion}`;
  return `${namespace || '?'}/${name || '?'}:${kubeletConfigKey || '?'}${version}`;
}

/** A REF by name: `[NAMESPACE/]NAME[:KEY][@RV]`. What is absent is not asked for. */
export interface NamedRef {
  namespace?: string;
  name: string;
  kubeletConfigKey?: string;
  resourceVersion?: string;
}

const NAMED = /^(?:(?<namespace>[^/:@\s]+)\/)?(?<name>[^/:@\s]+)(?::(?<kubeletConfigKey>[^/:@\s]+))?(?:@(?<resourceVersion>[^/:@\s]+))?$/;

/** Reads what {@link sourceText} writes, and shorter forms of it. @returns undefined where the text cannot be one */
export function parseNamedRef(text: string): NamedRef | undefined {
  const groups = NAMED.exec(text)?.groups;
  if (groups?.['name'] === undefined) return undefined;
  const { namespace, name, kubeletConfigKey, resourceVersion } = groups;
  return {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(kubeletConfigKey === undefined ? {} : { kubeletConfigKey }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
}

/** What a ConfigMap holds for us: all its data keys, and the annotations in our own domain. `binaryData` is ignored, as upstream does. */
export interface Payload {
  namespace: string;
  name: string;
  uid: string;
  resourceVersion: string;
  files: ReadonlyMap<string, Uint8Array>;
  /** Only those that start with `dkc.dev/`. */
  annotations: Readonly<Record<string, string>>;
}

/** One line of a manifest. */
export interface FileDigest {
  key: string;
  bytes: number;
  sha256: string;
}

/** `..manifest.json` of a checkpoint: what was downloaded, so that a torn or altered checkpoint is seen. */
export interface Manifest extends Pick<Payload, 'namespace' | 'name' | 'annotations'> {
  /** RFC 3339, UTC. */
  savedAt: string;
  /** Sorted by key. */
  files: readonly FileDigest[];
}

/** A checkpoint that was read and found equal to its manifest. */
export interface Checkpoint {
  payload: Payload;
  manifest: Manifest;
}

/** What happens to a node is decided by content, not by resourceVersion: a touched label is the same content. */
export interface ContentRef {
  kubeletConfigKey: string;
  /** See {@link file://../store/content.ts}: SHA-256 over the sorted lines `sha256 key` of all data keys, plus kubeletConfigKey. */
  contentSha256: string;
}
