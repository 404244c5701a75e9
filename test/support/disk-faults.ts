import type { Clock, Millis } from '../../base/clock.ts';
import type { Disk } from '../../base/disk.ts';
import type { Layout } from '../../agent/store/layout.ts';

/** What is wrong with the disk of /var/lib; /run is in memory. */
export class DiskFaults {
  /** It takes no writes. */
  broken: 'ENOSPC' | 'EROFS' | undefined;
  /** It loses what is written as soon as the agent has ended: checkpoints of this resourceVersion read damaged. */
  spoils: string | undefined;
  /** What each write takes. */
  slowMs: Millis = 0;
  /** It takes writes, but gives none of the records. */
  unread = false;

  /** `disk` with these faults, as they are at each call. @param changed - hears of each path that was written @param saved - of each checkpoint, `UID/RV` */
  over(
    disk: Disk,
    { metaDir, checkpoints }: Layout,
    clock: Clock,
    changed: (path: string) => Promise<void>,
    saved: (ref: string) => void,
  ): Disk {
    const change = async <T>(paths: readonly string[], write: () => Promise<T>): Promise<T> => {
      const isHere = paths.some((path) => path.startsWith('/var/lib/'));
      if (isHere && this.broken !== undefined)
        throw Object.assign(new Error(`${this.broken}: the disk takes no writes`), { code: this.broken });
      if (isHere && this.slowMs > 0) await clock.sleep(this.slowMs);
      const done = await write();
      for (const path of paths) await changed(path);
      return done;
    };
    let isFresh = false;
    return {
      ...disk,
      read: async (path, most) => {
        if (this.unread && path.startsWith(metaDir)) throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO' });
        const bytes = await disk.read(path, most);
        const isSpoiled = this.spoils !== undefined && path.includes(`/${this.spoils}/`) && !isFresh;
        return isSpoiled ? bytes.map(() => 0) : bytes;
      },
      replace: (path, bytes, mode) => change([path], () => disk.replace(path, bytes, mode)),
      append: (path, bytes, mode) => change([path], () => disk.append(path, bytes, mode)),
      rename: (from, to) => change([from, to], () => disk.rename(from, to)),
      remove: (path) => change(this.broken === 'ENOSPC' ? [] : [path], () => disk.remove(path)),
      replaceDir: async (path, files, mode) => {
        await change([path], () => disk.replaceDir(path, files, mode));
        isFresh ||= this.spoils !== undefined && path.endsWith(`/${this.spoils}`);
        if (path.startsWith(checkpoints)) saved(path.slice(checkpoints.length + 1));
      },
    };
  }
}
