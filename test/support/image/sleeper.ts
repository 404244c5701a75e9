import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { machineArch } from './built.ts';

/** No registry has it. */
export const SLEEPER = 'localhost/sleeper:1';

/**
 * Writes an image that does nothing until it is ended, as the archive of an OCI layout: a static busybox, and files of its name and no more.
 * @param busybox - the program @param archive - where the image goes; `ctr images import` takes it
 */
export function writeSleeper(busybox: string, archive: string): void {
  const home = mkdtempSync(join(tmpdir(), 'dkc-sleeper-'));
  try {
    const [root, layout] = [join(home, 'root'), join(home, 'layout')];
    mkdirSync(join(root, 'bin'), { recursive: true });
    mkdirSync(join(layout, 'blobs/sha256'), { recursive: true });
    cpSync(busybox, join(root, 'bin/busybox'));
    execFileSync('tar', ['-C', root, '--owner=0', '--group=0', '-cf', join(home, 'layer.tar'), 'bin']);
    const blob = (kind: string, bytes: Uint8Array) => {
      const hash = createHash('sha256').update(bytes).digest('hex');
      writeFileSync(join(layout, 'blobs/sha256', hash), bytes);
      return { mediaType: `application/vnd.oci.image.${kind}`, digest: `sha256:${hash}`, size: bytes.length };
    };
    const json = (value: object): Buffer => Buffer.from(JSON.stringify(value));
    const layer = blob('layer.v1.tar', readFileSync(join(home, 'layer.tar')));
    const config = blob('config.v1+json', json({
      architecture: machineArch,
      os: 'linux',
      config: { Env: ['PATH=/bin'], Entrypoint: ['/bin/busybox', 'sleep', 'infinity'] },
      rootfs: { type: 'layers', diff_ids: [layer.digest] },
    })); // prettier-ignore
    const image = blob('manifest.v1+json', json({ schemaVersion: 2, config, layers: [layer] }));
    const manifests = [{ ...image, annotations: { 'io.containerd.image.name': SLEEPER } }];
    writeFileSync(join(layout, 'index.json'), json({ schemaVersion: 2, manifests }));
    writeFileSync(join(layout, 'oci-layout'), json({ imageLayoutVersion: '1.0.0' }));
    execFileSync('tar', ['-C', layout, '-cf', archive, '.']);
  } finally {
    rmSync(home, { recursive: true });
  }
}
