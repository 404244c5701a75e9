import { readFileSync } from 'node:fs';
import type { Build } from './command.ts';
import { basename, isAbsolute, resolve } from 'node:path';
import type { EventEmitter } from 'node:events';
import { ActionError, errorCode } from '../base/errors.ts';

declare global {
  /** Put in by scripts/build.ts; absent when run from a checkout. */
  // oxlint-disable-next-line no-var -- only `var` declares a property of globalThis
  var DKC_BUILD: { version: string; commit: string } | undefined;
}

export function buildInfo(): Build {
  const node = process.versions.node;
  const built = globalThis.DKC_BUILD;
  if (built) return { version: built.version, commit: built.commit, node };
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string };
  return { version, commit: 'source', node };
}

const OLDEST = 24;

/**
 * Older ones lack what is used everywhere, and each lack looks like something else: an API server that went away, for one.
 * @param version - as `process.versions.node` has it
 * @returns what to do about it; undefined: it will do
 */
export function nodeProblem(version: string): string | undefined {
  if (Number(/^\d+/.exec(version)) >= OLDEST) return undefined;
  return `Node.js ${OLDEST} or newer is required, but this is ${version}; run it with another one, such as /usr/lib/dkc/node dkc.js`;
}

/** Whether the bundle was called as the program that kubectl asks for completions of its plugin. */
export function completesForKubectl(env: Readonly<Record<string, string | undefined>>, script: string | undefined): boolean {
  return /^kubectl_complete-dkc(?:\.[cm]?js)?$/.test(basename(env['DKC_CALLED_AS'] || script || ''));
}

/**
 * Makes paths of the command line absolute.
 * @param here - asked once, now: `npm run` and the shell's `cd` differ in who changes it. Where somebody removed the directory, as after an upgrade or on a mount that is
 *   gone, the process goes to `/`, since libraries ask as well; only relative paths fail then.
 */
export function pathsFrom(here: { cwd(): string; chdir(to: string): void }): (text: string) => string {
  let dir: string;
  try {
    dir = here.cwd();
  } catch (cause) {
    here.chdir('/');
    const hint = 'the current directory was removed; cd to one that exists, or give an absolute path';
    return (text) => {
      if (isAbsolute(text)) return resolve(text);
      throw new ActionError('find', text, { hint, cause });
    };
  }
  return (text) => resolve(dir, text);
}

// The other end of a pipe was closed (`dkc history | head -1`); the terminal is gone (a broken ssh).
const gone: ReadonlySet<string | undefined> = new Set(['EPIPE', 'EIO', 'ERR_STREAM_DESTROYED']);

/**
 * Lets a command outlive its readers: what nobody can read any more is dropped, and the command goes on to its own end and exit
 * code. To end it here would leave work half done (a live drill its condemnation) and call a wrong result fine.
 * @returns the first other error of one of them, such as a full disk; undefined without one
 */
export function outliveReaders(streams: readonly EventEmitter[]): () => unknown {
  let failure: unknown;
  for (const stream of streams)
    stream.on('error', (error: unknown) => {
      if (!gone.has(errorCode(error))) failure ??= error;
    });
  return () => failure;
}
