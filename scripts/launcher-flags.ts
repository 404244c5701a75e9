import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The Node.js flags of the installed command, for the image and the benchmarks.
 * @param checkout - checkout whose `systemd/dkc` is read. @default this one
 * @throws if the launcher does not start dkc.js in the expected form
 */
export function launcherFlags(checkout = join(import.meta.dirname, '..')): string[] {
  const launcher = readFileSync(join(checkout, 'systemd/dkc'), 'utf8');
  const [, flags] = /^exec \/usr\/lib\/dkc\/node ((?:-\S+ )*)\/usr\/lib\/dkc\/dkc\.js "\$@"$/m.exec(launcher) ?? [];
  if (flags === undefined) throw new Error(`${checkout}/systemd/dkc does not start Node.js with dkc.js as its last line should`);
  return flags.split(' ').filter(Boolean);
}
