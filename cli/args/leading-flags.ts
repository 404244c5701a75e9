import { connectFlags, namespaceFlag } from '../connect/flags.ts';
import { formatFlag, noHeadersFlag } from '../output/output.ts';
import { takesNext } from './parse.ts';
import type { Flag } from '../command.ts';

/** Flags that mean the same for every command that has them: these may stand before the command, as with kubectl. */
const globals: readonly Flag[] = [
  ...connectFlags,
  namespaceFlag,
  formatFlag,
  noHeadersFlag,
  { name: 'verbose', alias: 'v', type: 'count', text: '' },
];

/** Splits `dkc --context=a -o json nodes` into the flags before the command and all that follows. Stops at a flag that is no global one. */
export function leadingFlags(argv: readonly string[]): { leading: readonly string[]; following: readonly string[] } {
  let at = 0;
  for (let word = argv[at]; word?.startsWith('-'); word = argv[at]) {
    const [name = ''] = word.split('=');
    const flag = globals.find(
      (one) =>
        name === `--${one.name}` || (one.alias !== undefined && (name === `-${one.alias}` || (/^-v+$/.test(name) && one.alias === 'v'))),
    );
    if (!flag) break;
    at += takesNext(flag) && !word.includes('=') ? 2 : 1;
  }
  return { leading: argv.slice(0, at), following: argv.slice(at) };
}
