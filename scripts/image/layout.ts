import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Arch } from '../package/node-binary.ts';
import type { Release } from '../package/tree.ts';
import { describe, digestOf, imageConfig, imageIndex, imageManifest, jsonBytes, labelsOf, layoutText, mediaTypes, type Descriptor, type Layer } from './documents.ts'; // prettier-ignore

/** An OCI image layout in a directory, which is created again. */
export class ImageLayout {
  readonly dir: string;
  readonly #release: Release;
  readonly #manifests: Descriptor[] = [];

  constructor(dir: string, release: Release) {
    this.dir = dir;
    this.#release = release;
    rmSync(dir, { recursive: true, force: true });
    mkdirSync(join(dir, 'blobs/sha256'), { recursive: true });
    writeFileSync(join(dir, 'oci-layout'), layoutText);
  }

  /**
   * Adds a directory as a layer. @param epoch - time of all its files, in s @param fast - compress less
   * @param tar - path for the temporary archive
   */
  layer(root: string, of: { createdBy: string; epoch: number; fast: boolean; tar: string }): Layer {
    const env = { PATH: process.env['PATH'], LC_ALL: 'C.UTF-8', TZ: 'UTC' };
    const names = readdirSync(root).toSorted();
    const sorted = ['--format=ustar', '--sort=name', '--owner=0', '--group=0', '--numeric-owner', `--mtime=@${of.epoch}`];
    execFileSync('tar', ['-C', root, ...sorted, '-cf', of.tar, ...names], { env });
    const diffId = digestOf(readFileSync(of.tar));
    execFileSync('gzip', ['-n', '-f', of.fast ? '-1' : '-9', of.tar], { env });
    const descriptor = this.#blob(mediaTypes.layer, readFileSync(`${of.tar}.gz`));
    rmSync(`${of.tar}.gz`);
    return { descriptor, diffId, createdBy: of.createdBy };
  }

  /** Adds the image of one architecture. */
  image(arch: Arch, user: number, layers: readonly Layer[]): void {
    const config = this.#blob(mediaTypes.config, jsonBytes(imageConfig(arch, user, this.#release, layers)));
    const manifest = this.#blob(mediaTypes.manifest, jsonBytes(imageManifest(config, layers, this.#release)));
    this.#manifests.push({ ...manifest, platform: { architecture: arch, os: 'linux' } });
  }

  /** Writes one index for all images, named like the version. @returns its digest */
  finish(): string {
    const index = this.#blob(mediaTypes.index, jsonBytes(imageIndex(this.#manifests, labelsOf(this.#release))));
    const named = { ...index, annotations: { 'org.opencontainers.image.ref.name': this.#release.version } };
    writeFileSync(join(this.dir, 'index.json'), jsonBytes(imageIndex([named])));
    return index.digest;
  }

  /** Writes the layout as a single file. */
  archive(file: string): void {
    const sorted = ['--format=ustar', '--sort=name', '--owner=0', '--group=0', '--numeric-owner', '--mode=u=rwX,go=rX', `--mtime=@${this.#release.epoch}`]; // prettier-ignore
    execFileSync('tar', ['-C', this.dir, ...sorted, '-cf', file, 'blobs', 'index.json', 'oci-layout']);
  }

  #blob(mediaType: string, bytes: Uint8Array): Descriptor {
    const descriptor = describe(mediaType, bytes);
    writeFileSync(join(this.dir, 'blobs', descriptor.digest.replace(':', '/')), bytes);
    return descriptor;
  }
}
