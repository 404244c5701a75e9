import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The flag of Node.js that the installed command has, so that the image has it too and benchmarks measure what runs. One: the first line of a script takes no
 * more.
 * @throws where the launcher has none, or several
 */
export function launcherFlag(): string {
  const launcher = readFileSync(join(import.meta.dirname, '../systemd/dkc'), 'utf8');
  const [, flag] = /^exec \/usr\/lib\/dkc\/node (-\S+) \/usr\/lib\/dkc\/dkc\.js "\$@"$/m.exec(launcher) ?? [];
  if (flag === undefined) throw new Error('systemd/dkc does not start Node.js with one flag');
  return flag;
}
