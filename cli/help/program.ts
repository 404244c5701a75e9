import { basename } from 'node:path';
import type { Program } from '../command.ts';

/**
 * As kubectl's plugin the bundle is called `kubectl-dkc`.
 * @param script - process.argv[1]; a launcher puts its own name in $DKC_CALLED_AS
 */
export function programName(env: Readonly<Record<string, string | undefined>>, script: string | undefined): Program {
  const called = basename(env['DKC_CALLED_AS'] || script || '');
  return /^kubectl-dkc(?:\.[cm]?js)?$/.test(called) ? 'kubectl dkc' : 'dkc';
}

/** A text of ours in which `dkc COMMAND` is what a person types. @param words - first words of commands, and `help` */
export function spokenAs(program: Program, words: ReadonlySet<string>, text: string): string {
  if (program === 'dkc') return text;
  return text.replace(/(?<![\w./-])dkc (?=(\S+))/g, (found, next: string) =>
    words.has(next.replace(/[^A-Za-z_-].*$/, '')) ? `${program} ` : found,
  );
}
