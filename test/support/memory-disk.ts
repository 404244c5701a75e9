import type { Disk } from '../../base/disk.ts';

/** Files of a test, by absolute path; only what commands read. Every change is refused: these commands make none. */
export function memoryDisk(files: Readonly<Record<string, string>>): Disk {
  const refuse = (): Promise<never> => Promise.reject(new Error('this disk is for reading'));
  const gone = (path: string): Error => Object.assign(new Error(`ENOENT: no such file, ${path}`), { code: 'ENOENT' });
  const read = async (path: string): Promise<Uint8Array> => {
    const text = files[path];
    if (text === undefined) throw gone(path);
    return new TextEncoder().encode(text);
  };
  const refused = { makeDir: refuse, replace: refuse, replaceDir: refuse, append: refuse, rename: refuse, remove: refuse, settle: refuse };
  return {
    ...refused,
    read,
    readLinked: read,
    readEnd: async (path, limit) => (await read(path)).slice(-limit),
    stat: async (path) => {
      const text = files[path];
      return text === undefined ? undefined : { kind: 'file', bytes: text.length, mode: 0o600, modifiedMs: 0 };
    },
    realPath: async (path) => path,
    capacity: async () => undefined,
    list: async (path) => {
      const names = Object.keys(files).filter((file) => file.startsWith(`${path}/`));
      if (names.length === 0) throw gone(path);
      return names.map((file) => file.slice(path.length + 1)).sort();
    },
  };
}
