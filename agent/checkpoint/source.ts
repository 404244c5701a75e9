/** Which key of which ConfigMap, as an admin writes it: without uid and resourceVersion. */
export interface SpecSource {
  namespace: string;
  name: string;
  kubeletConfigKey: string;
}

/** A SpecSource with uid and resourceVersion, which together name one immutable payload. Never compare resourceVersions as numbers. */
export interface Source extends SpecSource {
  uid: string;
  resourceVersion: string;
}

/** null is the local config, in records, in status and on the command line. */
export type MaybeSource = Source | null;

/** Same in every part; null equals null. */
export function sameSource(a: MaybeSource, b: MaybeSource): boolean {
  if (a === null || b === null) return a === b;
  return samePayload(a, b) && a.namespace === b.namespace && a.name === b.name && a.kubeletConfigKey === b.kubeletConfigKey;
}

/** Same checkpoint directory, with any key. */
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
 * The name of a configuration for people, logs and events: `local`, or `NAMESPACE/NAME:KEY@RV`, such as `dkc-system/web:kubelet@4711`.
 * Without a resourceVersion (a spec has none) it ends after the key; an unknown part is `?`. The command line accepts the name as a REF.
 */
export function sourceText(source: (SpecSource & Partial<PayloadRef>) | null): string {
  if (source === null) return 'local';
  const { namespace, name, kubeletConfigKey, resourceVersion = '' } = source;
  const version = resourceVersion === '' ? '' : `@${resourceVersion}`;
  return `${namespace || '?'}/${name || '?'}:${kubeletConfigKey || '?'}${version}`;
}

/** A REF by name: `[NAMESPACE/]NAME[:KEY][@RV]`. An absent part matches anything. */
export interface NamedRef {
  namespace?: string;
  name: string;
  kubeletConfigKey?: string;
  resourceVersion?: string;
}

const NAMED = /^(?:(?<namespace>[^/:@\s]+)\/)?(?<name>[^/:@\s]+)(?::(?<kubeletConfigKey>[^/:@\s]+))?(?:@(?<resourceVersion>[^/:@\s]+))?$/;

/** Parses the output of {@link sourceText}, and its shorter forms. @returns undefined for any other text */
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

/** The data keys of a ConfigMap, and its `dkc.dev/` annotations. `binaryData` is ignored, as upstream does. */
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

/** `..manifest.json` of a checkpoint: sizes and hashes of the download, so that a torn or altered checkpoint is detected. */
export interface Manifest extends Pick<Payload, 'namespace' | 'name' | 'annotations'> {
  /** RFC 3339, UTC. */
  savedAt: string;
  /** Sorted by key. */
  files: readonly FileDigest[];
  /** Upstream's kubelet wrote the files without a manifest: they were never compared with the ConfigMap on the API server. @default false */
  adopted?: true;
}

/** A checkpoint that was read and found equal to its manifest. */
export interface Checkpoint {
  payload: Payload;
  manifest: Manifest;
}

/** The agent decides by content, not by resourceVersion: a changed label leaves the content the same. */
export interface ContentRef {
  kubeletConfigKey: string;
  /** See {@link file://./payload.ts}: SHA-256 over the sorted lines `sha256 key` of all data keys, plus kubeletConfigKey. */
  contentSha256: string;
}

// Names from the API server become directory and file names on the node, and on clusters from 1.26 on no API server has checked them:
// every name is checked here before it becomes part of a path.

/** Longest name in a directory on Linux, in bytes. */
const MAX_NAME_LENGTH = 255;
/** Names of temporary files, ours and upstream's: the next start removes files with such names. */
const temporary = /^(?:\.dkc-tmp-|tmp_)/;

const dnsLabel = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/;
const dnsSubdomain = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;

/**
 * Why a ConfigMap's data key cannot be a file of a checkpoint, or undefined.
 * @see spec/dynamic-kubelet-config.md sections 2.2 (what a key may hold) and 4 (upstream's texts)
 */
export function keyProblem(key: string): string | undefined {
  if (key === '') return 'invalid file key: must not be empty';
  if (key.includes('/')) return `invalid file key ${shown(key)}, only base names are allowed`;
  if (key === '.' || key === '..') return "invalid file key, may not be '.' or '..'";
  if (Buffer.byteLength(key) > MAX_NAME_LENGTH) return `invalid file key ${shown(key)}, must be less than 255 characters`;
  if (!/^[-._a-zA-Z0-9]+$/.test(key)) {
    return `invalid file key ${shown(key)}, a valid config key must consist of alphanumeric characters, '-', '_' or '.'`;
  }
  // This also reserves the names of the agent's own files in a checkpoint.
  if (key.startsWith('..')) return `invalid file key ${shown(key)}, must not start with '..'`;
  return undefined;
}

/** Why a uid or a resourceVersion cannot name a directory, or undefined. They are opaque: only values that are unsafe in a path are rejected. */
export function directoryNameProblem(what: 'UID' | 'ResourceVersion', value: string): string | undefined {
  if (value === '') return `empty ${what} is ambiguous`;
  const why = (text: string) => `invalid ${what} ${shown(value)}, ${text}`;
  if (value === '.' || value === '..') return why("may not be '.' or '..'");
  if (Buffer.byteLength(value) > MAX_NAME_LENGTH) return why('must be at most 255 bytes');
  if (!/^[!-~]+$/.test(value)) return why('only visible ASCII characters are allowed');
  if (value.includes('/')) return why('only base names are allowed');
  if (temporary.test(value)) return why('this prefix is reserved for temporary files');
  return undefined;
}

/** All problems of the fields of a source, as `FIELD: Required value: ...` or `FIELD: Invalid value: ...`, in the API server's words. */
export function specSourceProblems(source: SpecSource): string[] {
  const problems: string[] = [];
  const { namespace, name, kubeletConfigKey } = source;
  if (namespace === '') problems.push('namespace: Required value: namespace must be set');
  else if (namespace.length > 63 || !dnsLabel.test(namespace)) {
    problems.push(`namespace: Invalid value: ${shown(namespace)}: must be a DNS-1123 label of at most 63 characters`);
  }
  if (name === '') problems.push('name: Required value: name must be set');
  else if (name.length > 253 || !dnsSubdomain.test(name)) {
    problems.push(`name: Invalid value: ${shown(name)}: must be a DNS-1123 subdomain of at most 253 characters`);
  }
  if (kubeletConfigKey === '') problems.push('kubeletConfigKey: Required value: kubeletConfigKey must be set');
  else {
    const problem = kubeletConfigKey.length > 253 ? 'must be no more than 253 characters' : keyRuleProblem(kubeletConfigKey);
    if (problem !== undefined) problems.push(`kubeletConfigKey: Invalid value: ${shown(kubeletConfigKey)}: ${problem}`);
  }
  return problems;
}

/** As {@link specSourceProblems}, and uid and resourceVersion, for a source on disk or in status. */
export function sourceProblems(source: Source): string[] {
  const problems = specSourceProblems(source);
  const { uid, resourceVersion } = source;
  if (uid === '') problems.push('uid: Required value: uid must be set in status');
  else {
    const problem = directoryNameProblem('UID', uid);
    if (problem !== undefined) problems.push(`uid: ${problem}`);
  }
  if (resourceVersion === '') problems.push('resourceVersion: Required value: resourceVersion must be set in status');
  else {
    const problem = directoryNameProblem('ResourceVersion', resourceVersion);
    if (problem !== undefined) problems.push(`resourceVersion: ${problem}`);
  }
  return problems;
}

function keyRuleProblem(key: string): string | undefined {
  if (key === '.') return "must not be '.'";
  if (key === '..') return "must not be '..'";
  if (key.startsWith('..')) return "must not start with '..'";
  return /^[-._a-zA-Z0-9]+$/.test(key) ? undefined : "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";
}

/** Quoted, so that no control character reaches a terminal, and cut, so that a megabyte of it does not fill the log. */
function shown(text: string): string {
  return JSON.stringify(text.length > 300 ? `${text.slice(0, 300)}…` : text);
}
