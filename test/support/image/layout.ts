import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

export interface Pointer {
  mediaType: string;
  digest: string;
  size: number;
  platform?: { architecture: string; os: string };
  annotations?: Record<string, string>;
}
type Index = { schemaVersion: number; mediaType: string; manifests: Pointer[] };
type Manifest = { mediaType: string; config: Pointer; layers: Pointer[] };
export interface ImageConfig {
  architecture: string;
  os: string;
  config: { User: string; Env: string[]; Entrypoint: string[]; Labels: Record<string, string> };
  rootfs: { type: string; diff_ids: string[] };
  history: unknown[];
}
export type Image = { pointer: Pointer; config: ImageConfig; layers: Pointer[] };

const hex = (bytes: Uint8Array): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
const blobPath = (dir: string, { digest }: Pointer): string => join(dir, 'blobs', digest.replace(':', '/'));

/** Reads an OCI image layout as the image specification has it. @returns its images, and all that breaks a rule */
export function readLayout(dir: string): { name: string | undefined; images: Image[]; problems: string[] } {
  const problems: string[] = [];
  const wrong = (holds: boolean, what: string): unknown => holds || problems.push(what);
  const used = new Set<string>();
  const blob = (pointer: Pointer): Uint8Array => {
    used.add(pointer.digest.replace('sha256:', ''));
    const bytes = readFileSync(blobPath(dir, pointer));
    wrong(/^sha256:[0-9a-f]{64}$/.test(pointer.digest), `${pointer.digest} is no digest`);
    wrong(hex(bytes) === pointer.digest, `the blob of ${pointer.digest} has other bytes`);
    wrong(bytes.length === pointer.size, `${pointer.digest} has ${bytes.length} bytes, not ${pointer.size}`);
    return bytes;
  };
  const json = <T>(bytes: Uint8Array): T => JSON.parse(Buffer.from(bytes).toString('utf8')) as T;
  const typed = ({ mediaType }: { mediaType: string }, pointer: Pointer, suffix: string): unknown =>
    wrong(mediaType === pointer.mediaType && mediaType === `application/vnd.oci.image.${suffix}`, `${pointer.digest} is a ${mediaType}`);

  const { imageLayoutVersion } = json<{ imageLayoutVersion: string }>(readFileSync(join(dir, 'oci-layout')));
  wrong(imageLayoutVersion === '1.0.0', `imageLayoutVersion is ${imageLayoutVersion}`);
  const top = json<Index>(readFileSync(join(dir, 'index.json')));
  wrong(top.schemaVersion === 2 && top.manifests.length === 1, 'index.json has not one entry');
  const [first] = top.manifests;
  if (first === undefined) return { name: undefined, images: [], problems };
  const index = json<Index>(blob(first));
  typed(index, first, 'index.v1+json');
  const images = index.manifests.map((pointer): Image => {
    const manifest = json<Manifest>(blob(pointer));
    typed(manifest, pointer, 'manifest.v1+json');
    const config = json<ImageConfig>(blob(manifest.config));
    const { architecture, os, rootfs, history } = config;
    wrong(manifest.config.mediaType === 'application/vnd.oci.image.config.v1+json', `${manifest.config.digest} is no configuration`);
    wrong(architecture === pointer.platform?.architecture && os === pointer.platform.os, `${pointer.digest} is for another platform`);
    wrong(rootfs.type === 'layers' && history.length === manifest.layers.length, `${pointer.digest} has no history for each layer`);
    const diffIds = manifest.layers.map((layer) => {
      wrong(layer.mediaType === 'application/vnd.oci.image.layer.v1.tar+gzip', `${layer.digest} is a ${layer.mediaType}`);
      return hex(gunzipSync(blob(layer)));
    });
    wrong(diffIds.join(' ') === config.rootfs.diff_ids.join(' '), `${pointer.digest}: diff_ids are not those of its layers`);
    return { pointer, config, layers: manifest.layers };
  });
  const stray = readdirSync(join(dir, 'blobs/sha256')).filter((name) => !used.has(name));
  wrong(stray.length === 0, `nothing points to ${stray.join(', ')}`);
  return { name: first.annotations?.['org.opencontainers.image.ref.name'], images, problems };
}

/** What a runtime makes of an image: its layers, one over the other. */
export function unpack(dir: string, { layers }: Image, to: string): void {
  for (const layer of layers) execFileSync('tar', ['-xzpf', blobPath(dir, layer), '-C', to]);
}
