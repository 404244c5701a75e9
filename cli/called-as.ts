import { basename } from 'node:path';

/** Whether the bundle was called as the program that kubectl asks for completions of its plugin. */
export function completesForKubectl(env: Readonly<Record<string, string | undefined>>, script: string | undefined): boolean {
  return /^kubectl_complete-dkc(?:\.[cm]?js)?$/.test(basename(env['DKC_CALLED_AS'] || script || ''));
}
