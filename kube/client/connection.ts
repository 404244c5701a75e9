import type { Readable } from 'node:stream';

/** One HTTP request, with every header it needs. */
export interface WireRequest {
  method: string;
  /** With the query. */
  path: string;
  headers: Readonly<Record<string, string | string[]>>;
  body?: string | Uint8Array;
  /** Aborts the request and the reading of its answer, which then throw the signal's reason. */
  signal: AbortSignal;
}

/** Status and headers of an answer. Its body must be read to the end or cancelled. */
export interface WireResponse {
  status: number;
  header(name: string): string | undefined;
  /** Throws when the connection ends before the answer is complete. */
  body: AsyncIterable<Uint8Array>;
  cancel(): void;
}

/** A connection to the server that requests can share. */
export interface Connection {
  /** False once no new request may be sent on it. */
  readonly usable: boolean;
  /** True once it holds no socket any more. */
  readonly isOver: boolean;
  /** @throws {BrokenConnection} or the reason of the request's signal */
  send(request: WireRequest): Promise<WireResponse>;
  /** Accepts no new requests and closes when the pending ones have ended. */
  retire(): void;
  /** Closes at once; pending requests fail. */
  destroy(): void;
}

/** The connection failed a request. */
export class BrokenConnection extends Error {
  override name = 'BrokenConnection';
  /** never: the server has certainly not processed the request, so it can be sent again. */
  readonly reached: 'never' | 'perhaps';
  constructor(reached: 'never' | 'perhaps', message: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.reached = reached;
  }
}

/**
 * Reads `stream` to its end, then calls `check`, which throws when only the connection ended, not the answer. `onChunk` is called for every chunk.
 *
 * Used in place of Node's own iterator, which treats an HTTP/2 stream that both sides closed before the first read as a connection that ended too early,
 * although the whole answer has arrived. Small answers arrive like that.
 */
export async function* readBody(
  stream: Readable,
  signal: AbortSignal,
  check: () => void,
  onChunk: () => void = () => {},
): AsyncGenerator<Uint8Array, void, undefined> {
  let failure: Error | undefined;
  let wake = (): void => {};
  const happened = (): void => wake();
  const failed = (error: Error): void => {
    failure ??= error;
    wake();
  };
  stream.on('readable', happened).on('end', happened).on('close', happened).on('error', failed);
  try {
    for (;;) {
      const part = stream.destroyed ? null : (stream.read() as Uint8Array | null);
      const error = failure ?? stream.errored;
      if (part !== null) {
        onChunk();
        yield part;
      } else if (error || (stream.destroyed && !stream.readableEnded)) {
        signal.throwIfAborted();
        throw new BrokenConnection('perhaps', 'the connection ended before the answer did', error ?? new Error('the stream was destroyed'));
      } else if (stream.readableEnded) {
        break;
      } else {
        await new Promise<void>((resolve) => (wake = resolve));
      }
    }
  } finally {
    // An ended stream is garbage together with its listeners. The error listener stays: a late error must not end the process.
    if (!stream.readableEnded) {
      stream.off('readable', happened).off('end', happened).off('close', happened);
      stream.destroy();
    }
  }
  signal.throwIfAborted();
  check();
}

/** No connection could be made: refused, no route, no trust, or no answer in time. */
export class DialError extends Error {
  override name = 'DialError';
}

/** The proxy rejected the connection, or cannot be reached itself. The message names the proxy, never its password. */
export class ProxyError extends DialError {
  override name = 'ProxyError';
  constructor(proxy: URL, hint: string, cause?: unknown) {
    super(`cannot connect through the proxy ${proxy.protocol}//${proxy.host}: ${hint}`, cause === undefined ? {} : { cause });
  }
}
