import { execFileSync } from 'node:child_process';

/** What a journal may have to say: of a kubelet that dies again and again on a slow machine, more than Node takes by itself. */
const MAX_OUTPUT = 256 * 2 ** 20;

/** Runs a program to its end. @returns its stdout without the last line break @throws where it does not end with 0 */
export const run = (program: string, ...args: string[]): string =>
  execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: MAX_OUTPUT }).trimEnd();
