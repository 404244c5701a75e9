import type { EventEmitter } from 'node:events';
import { errorCode } from '../../base/errors.ts';

// The other end of a pipe was closed (`dkc history | head -1`); the terminal is gone (a broken ssh).
const gone: ReadonlySet<string | undefined> = new Set(['EPIPE', 'EIO', 'ERR_STREAM_DESTROYED']);

/**
 * Lets a command outlive its readers: what nobody can read any more is dropped, and the command goes on to its own end and exit
 * code. To end it here would leave work half done (a live drill its condemnation) and call a wrong result fine.
 * @returns what else befell one of them, a full disk say: the first error, undefined without one
 */
export function outliveReaders(streams: readonly EventEmitter[]): () => unknown {
  let failure: unknown;
  for (const stream of streams)
    stream.on('error', (error: unknown) => {
      if (!gone.has(errorCode(error))) failure ??= error;
    });
  return () => failure;
}
