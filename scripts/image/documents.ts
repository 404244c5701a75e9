import { createHash } from 'node:crypto';
import type { Arch } from '../package/node-binary.ts';
import type { Release } from '../package/tree.ts';

/** A reference to a blob: https://github.com/opencontainers/image-spec, descriptor.md. */
export interface Descriptor {
  mediaType: string;
  /** `sha256:HEX`. */
  digest: string;
  /** Size in bytes. */
  size: number;
  platform?: { architecture: Arch; os: 'linux' };
  annotations?: Record<string, string>;
}

export interface Layer {
  descriptor: Descriptor;
  /** Digest of the uncompressed archive. */
  diffId: string;
  createdBy: string;
}

const TYPE = 'application/vnd.oci.image';
export const mediaTypes = {
  layer: `${TYPE}.layer.v1.tar+gzip`,
  config: `${TYPE}.config.v1+json`,
  manifest: `${TYPE}.manifest.v1+json`,
  index: `${TYPE}.index.v1+json`,
} as const;

/** The file `oci-layout`. */
export const layoutText = '{"imageLayoutVersion":"1.0.0"}\n';

export const digestOf = (bytes: Uint8Array): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

export const describe = (mediaType: string, bytes: Uint8Array): Descriptor => ({ mediaType, digest: digestOf(bytes), size: bytes.length });

export const jsonBytes = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value));

const time = (epoch: number): string => new Date(epoch * 1000).toISOString().replace('.000Z', 'Z');

/** Annotations of the index, and labels of the image. */
export const labelsOf = ({ version, commit, epoch }: Release): Record<string, string> => ({
  'org.opencontainers.image.title': 'dkc',
  'org.opencontainers.image.description': 'Dynamic Kubelet Config: controllers, scheduler and installer of nodes',
  'org.opencontainers.image.version': version,
  'org.opencontainers.image.revision': commit,
  'org.opencontainers.image.created': time(epoch),
  'org.opencontainers.image.licenses': 'Apache-2.0',
});

/** Configuration for the runtime: runs as the numeric user, `dkc` with the arguments of the pod. */
export function imageConfig(arch: Arch, user: number, release: Release, layers: readonly Layer[]): object {
  return {
    created: time(release.epoch),
    architecture: arch,
    os: 'linux',
    config: {
      User: `${user}:${user}`,
      Env: [
        'PATH=/usr/bin:/usr/sbin',
        'SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt',
        // glibc returns heap memory to the system after the first list of a large cache (docs/cache.md).
        'MALLOC_ARENA_MAX=1',
        'MALLOC_TRIM_THRESHOLD_=65536',
      ],
      Entrypoint: ['/usr/bin/dkc'],
      Cmd: ['--help'],
      WorkingDir: '/',
      Labels: labelsOf(release),
    },
    rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
    history: layers.map(({ createdBy }) => ({ created: time(release.epoch), created_by: createdBy })),
  };
}

export function imageManifest(config: Descriptor, layers: readonly Layer[], release: Release): object {
  return {
    schemaVersion: 2,
    mediaType: mediaTypes.manifest,
    config,
    layers: layers.map(({ descriptor }) => descriptor),
    annotations: labelsOf(release),
  };
}

export function imageIndex(manifests: readonly Descriptor[], annotations?: Record<string, string>): object {
  return { schemaVersion: 2, mediaType: mediaTypes.index, manifests, ...(annotations ? { annotations } : {}) };
}
