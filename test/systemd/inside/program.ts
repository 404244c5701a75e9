import { execFileSync } from 'node:child_process';

/** Runs a program to its end. @returns its stdout without the last line break @throws where it does not end with 0 */
export const run = (program: string, ...args: string[]): string =>
  execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trimEnd();
