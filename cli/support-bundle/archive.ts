import { gzip } from 'node:zlib';
import { promisify } from 'node:util';
import type { BundleFile } from './collector.ts';

/** The files as a tar.gz below one folder, each 0600 and of the same time. @param folder - without slashes */
export async function archiveOf(folder: string, files: readonly Pick<BundleFile, 'path' | 'text'>[], at: Date): Promise<Uint8Array> {
  // Loaded here: nothing else of dkc makes an archive.
  const { pack } = await import('tar-stream');
  const archive = pack();
  const parts: Uint8Array[] = [];
  const done = new Promise<void>((resolve, reject) => {
    archive.on('data', (part) => parts.push(part as Uint8Array));
    archive.on('end', resolve);
    archive.on('error', reject);
  });
  for (const { path, text } of files) archive.entry({ name: `${folder}/${path}`, mode: 0o600, mtime: at }, text);
  archive.finalize();
  await done;
  return promisify(gzip)(Buffer.concat(parts));
}
