import { createHash } from 'node:crypto';
import type { ContentRef, FileDigest, MaybeSource } from '../checkpoint/source.ts';
import type { Store } from './store.ts';

/** Hex, lower case. */
export function sha256(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Digests of all files, sorted by key. */
export function digestFiles(files: ReadonlyMap<string, Uint8Array>): FileDigest[] {
  const digests = Array.from(files, ([key, bytes]) => ({ key, bytes: bytes.length, sha256: sha256(bytes) }));
  return digests.toSorted((a, b) => compare(a.key, b.key));
}

/**
 * What decides over a node: the same files under the same key are the same content, whatever ConfigMap or resourceVersion they
 * came in. `contentSha256` is SHA-256 (hex, lower case) over one line per data key, `HEX KEY\n`: HEX is the SHA-256 of the value
 * (64 digits, lower case), then one blank, the key and a newline. Lines are sorted by their bytes. kubeletConfigKey stands beside it.
 * An admin gets the same with `sha256sum KEY.. | sed 's/  / /' | LC_ALL=C sort | sha256sum`.
 */
export function contentRef(files: readonly Pick<FileDigest, 'key' | 'sha256'>[], kubeletConfigKey: string): ContentRef {
  const lines = files.map((file) => `${file.sha256} ${file.key}\n`).toSorted(compare);
  return { kubeletConfigKey, contentSha256: sha256(lines.join('')) };
}

/** Same files, and the same one of them is the kubelet's. */
export function sameContent(a: ContentRef, b: ContentRef): boolean {
  return a.kubeletConfigKey === b.kubeletConfigKey && a.contentSha256 === b.contentSha256;
}

/** Keys are ASCII, so code units sort as bytes do; localeCompare would not. */
export function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * The content that a record names; undefined for local, and where its checkpoint is missing or damaged.
 * @param adopt - gives a checkpoint of upstream's the manifest it lacks
 */
export async function storedContent(
  store: Pick<Store, 'load'>,
  source: MaybeSource,
  { adopt = false }: { adopt?: boolean } = {},
): Promise<ContentRef | undefined> {
  if (source === null) return undefined;
  const state = await (adopt ? store.load(source, source) : store.load(source));
  return state.at === 'intact' ? contentRef(state.checkpoint.manifest.files, source.kubeletConfigKey) : undefined;
}
