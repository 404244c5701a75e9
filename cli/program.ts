import { readFileSync } from 'node:fs';
import type { Build } from './command.ts';
import { basename, isAbsolute, resolve } from 'node:path';
import type { EventEmitter } from 'node:events';
import { ActionError, errorCode } from '../base/errors.ts';

declare global {
  /** Inserted by scripts/build.ts; absent when run from a checkout. */
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
 * Older versions of Node.js lack functions that are used everywhere, and the resulting errors mislead: one looks like an API server that went away.
 * @param version - `process.versions.node`
 * @returns an error with its remedy; undefined: the version is supported
 */
export function nodeProblem(version: string): string | undefined {
  if (Number(/^\d+/.exec(version)) >= OLDEST) return undefined;
  return `Node.js ${OLDEST} or newer is required, but this is ${version}; run it with another one, such as /usr/lib/dkc/node dkc.js`;
}

/** Whether the bundle was started under the name that kubectl runs to complete its plugin. */
export function completesForKubectl(env: Readonly<Record<string, string | undefined>>, script: string | undefined): boolean {
  return /^kubectl_complete-dkc(?:\.[cm]?js)?$/.test(basename(env['DKC_CALLED_AS'] || script || ''));
}

/**
 * Makes paths of the command line absolute.
 * @param here - the working directory is read once, now. If it was removed, as after an upgrade or an unmount, the process changes to `/`, since libraries
 *   read it too; then only relative paths fail.
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

// The reader of a pipe has exited (`dkc history | head -1`), or the terminal is gone (broken ssh).
const gone: ReadonlySet<string | undefined> = new Set(['EPIPE', 'EIO', 'ERR_STREAM_DESTROYED']);

/**
 * Lets a command continue after its reader has exited: further output is dropped, and the command runs to its end and exit code.
 * Exiting at once would leave work unfinished (a live drill leaves its config condemned) and would hide a failed check.
 * @returns the first other error of a stream, such as a full disk; undefined: none
 */
export function outliveReaders(streams: readonly EventEmitter[]): () => unknown {
  let failure: unknown;
  for (const stream of streams)
    stream.on('error', (error: unknown) => {
      if (!gone.has(errorCode(error))) failure ??= error;
    });
  return () => failure;
}
