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
