import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The flags of Node.js that the installed command has, so that the image has them too and benchmarks measure what runs.
 * @param checkout - whose `systemd/dkc` is read; this one by default
 * @throws where the launcher starts dkc.js in a way that this does not know
 */
export function launcherFlags(checkout = join(import.meta.dirname, '..')): string[] {
  const launcher = readFileSync(join(checkout, 'systemd/dkc'), 'utf8');
  const [, flags] = /^exec \/usr\/lib\/dkc\/node ((?:-\S+ )*)\/usr\/lib\/dkc\/dkc\.js "\$@"$/m.exec(launcher) ?? [];
  if (flags === undefined) throw new Error(`${checkout}/systemd/dkc does not start Node.js with dkc.js as its last line should`);
  return flags.split(' ').filter(Boolean);
}
