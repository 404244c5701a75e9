import type { Bounds, Contents, Failure, Found } from './collector.ts';

/**
 * Selects the files of the bundle, in order: files are cut to their maximum size, and files that no longer fit are left out and listed. Of two files
 * with the same path the first is kept.
 */
export function withinBounds(found: readonly Found[], errors: readonly Failure[], bounds: Bounds): Contents {
  const contents: Contents = { files: [], leftOut: [], errors: [...errors] };
  const paths = new Set<string>();
  let total = 0;
  for (const one of found) {
    const path = safePath(one.path);
    if ('leftOut' in one) {
      contents.leftOut.push({ path, why: one.leftOut });
      continue;
    }
    const { text, cut } = cutTo(one.text, bounds.file, one.keep ?? 'start');
    const bytes = Buffer.byteLength(text);
    const note = [one.note, cut].filter((part) => part !== undefined).join('; ');
    if (paths.has(path)) contents.leftOut.push({ path, why: 'another file has this name' });
    else if (paths.size >= bounds.count) contents.leftOut.push({ path, why: `the bundle has ${bounds.count} files` });
    else if (total + bytes > bounds.total) contents.leftOut.push({ path, why: `the bundle would be larger than ${bounds.total} bytes` });
    else {
      paths.add(path);
      total += bytes;
      contents.files.push({ path, text, bytes, ...(note === '' ? {} : { note }) });
    }
  }
  return contents;
}

/** At most `max` bytes of whole lines. */
function cutTo(text: string, max: number, keep: 'start' | 'end'): { text: string; cut?: string } {
  const bytes = Buffer.from(text);
  if (bytes.length <= max) return { text };
  const part = keep === 'start' ? bytes.subarray(0, max) : bytes.subarray(bytes.length - max);
  const line = keep === 'start' ? part.lastIndexOf(0x0a) : part.indexOf(0x0a);
  // A single line that is too long is dropped.
  const kept = line < 0 ? part.subarray(0, 0) : keep === 'start' ? part.subarray(0, line + 1) : part.subarray(line + 1);
  return { text: kept.toString('utf8'), cut: `${keep === 'start' ? 'first' : 'last'} ${kept.length} of ${bytes.length} bytes` };
}

const MAX_PART = 200;

/** Removes parts that lead out of the folder where the archive is unpacked, and replaces control characters and other unusual characters. */
function safePath(path: string): string {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.' && part !== '..');
  return parts.map((part) => part.replaceAll(/[^\w.@:+=-]/g, '_').slice(0, MAX_PART)).join('/');
}
