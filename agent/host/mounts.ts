/** Reads /proc/PID/mountinfo. Pure. */

/** `36 35 98:0 /root /mount/point rw,noatime ...` */
const LINE = /^\d+ \d+ \S+ \S+ (\S+) (\S+)/;

/** Which of these paths lie on a mount that cannot be written. The last mount over a path is the one that counts. */
export function readOnlyPaths(mountinfo: string, paths: readonly string[]): string[] {
  const mounts = mountinfo.split('\n').flatMap((line) => {
    const [, at, options] = LINE.exec(line) ?? [];
    return at === undefined ? [] : [{ at, isReadOnly: options?.split(',').includes('ro') === true }];
  });
  return paths.filter((path) => {
    const over = mounts.filter(({ at }) => at === '/' || path === at || path.startsWith(`${at}/`));
    const longest = Math.max(0, ...over.map(({ at }) => at.length));
    return over.findLast(({ at }) => at.length === longest)?.isReadOnly === true;
  });
}
