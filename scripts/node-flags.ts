import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The flags of Node.js that the installed command has, so that the image has them too and benchmarks measure what runs.
 * @throws where the launcher does not bound the young generation from both sides
 */
export function launcherFlags(): { max: string; min: string } {
  const launcher = readFileSync(join(import.meta.dirname, '../systemd/dkc'), 'utf8');
  const flags = /^exec \/usr\/lib\/dkc\/node (--max-\S+) (--min-\S+) \/usr\/lib\/dkc\/dkc\.js "\$@"$/m.exec(launcher);
  const [, max, min] = flags ?? [];
  if (max === undefined || min === undefined) throw new Error('systemd/dkc does not start Node.js with --max-... and --min-...');
  return { max, min };
}
