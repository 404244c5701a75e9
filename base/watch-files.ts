import { dirname } from 'node:path';
import type { Clock, Millis } from './clock.ts';
import type { Disk } from './disk.ts';
import { describeError } from './errors.ts';
import type { Log } from './log.ts';

/** Tells of changes of files, present or not, until the signal aborts. Many changes may be told as one; none goes untold. */
export type WatchFiles = (paths: readonly string[], onChange: (path: string) => void, signal: AbortSignal) => Promise<void>;

// inotify can run out of watches, and network file systems have none: the poll sees what it misses.
const POLL_MS: Millis = 10_000;

/**
 * chokidar, beside a slow poll of size and time. Watches the directories of `paths`: a file that is replaced by rename is another file
 * each time, and one that is not there yet has nothing to watch.
 */
export function fileWatcher(disk: Pick<Disk, 'stat'>, clock: Clock, log: Log): WatchFiles {
  return async (paths, onChange, signal) => {
    const { watch } = await import('chokidar');
    if (signal.aborted) return;
    const seen = new Map<string, string>();
    const look = async (path: string, told = false): Promise<void> => {
      const stat = await disk.stat(path).catch(() => undefined);
      const now = stat ? `${stat.bytes} ${stat.modifiedMs} ${stat.kind}` : 'absent';
      const before = seen.get(path);
      seen.set(path, now);
      if (told || (before !== undefined && before !== now)) onChange(path);
    };
    for (const path of paths) await look(path);
    const watched = new Set(paths);
    const directories = [...new Set(paths.map((path) => dirname(path)))];
    const watcher = watch(directories, {
      depth: 0,
      ignoreInitial: true,
      persistent: false,
      ignored: (path) => !watched.has(path) && !directories.includes(path),
    });
    watcher.on('all', (_kind, path) => {
      if (watched.has(path)) void look(path, true);
    });
    watcher.on('error', (error) => log.warn('files cannot be watched; polling them', { directories, error: describeError(error) }));
    try {
      while (!signal.aborted) {
        await clock.sleep(POLL_MS, signal);
        for (const path of paths) await look(path);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      await watcher.close();
    }
  };
}
