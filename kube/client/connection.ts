import type { Readable } from 'node:stream';

/** One HTTP request, with every header it needs. */
export interface WireRequest {
  method: string;
  /** With the query. */
  path: string;
  headers: Readonly<Record<string, string | string[]>>;
  body?: string | Uint8Array;
  /** Ends the request and its answer; what is thrown then is the signal's reason. */
  signal: AbortSignal;
}

/** The start of an answer. Its body must be read to the end or cancelled. */
export interface WireResponse {
  status: number;
  header(name: string): string | undefined;
  /** Fails when the connection ends before the answer does. */
  body: AsyncIterable<Uint8Array>;
  cancel(): void;
}

/** A way to the server that requests can share. */
export interface Connection {
  /** False once nothing new may be sent on it. */
  readonly usable: boolean;
  /** True once it holds no socket any more. */
  readonly isOver: boolean;
  /** @throws {BrokenConnection} or the reason of the request's signal */
  send(request: WireRequest): Promise<WireResponse>;
  /** Takes no new requests and goes away when those under way have ended. */
  retire(): void;
  /** Ends at once; requests under way fail. */
  destroy(): void;
}

/** The connection failed a request. */
export class BrokenConnection extends Error {
  override name = 'BrokenConnection';
  /** never: the server has surely not acted on it, so that it can be sent again. */
  readonly reached: 'never' | 'perhaps';
  constructor(reached: 'never' | 'perhaps', message: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.reached = reached;
  }
}

/**
 * Reads `stream` to its end, then lets `check` say whether that was the answer's end or only the connection's. `heard` is told of every part.
 *
 * In place of Node's own iterator, which takes an HTTP/2 stream that both sides have closed before anybody reads for a connection that ended too early, though
 * all of the answer is there. Small answers come like that.
 */
export async function* readWhole(
  stream: Readable,
  signal: AbortSignal,
  check: () => void,
  heard: () => void = () => {},
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
        heard();
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
    // One that has ended is garbage with its listeners. The one for errors stays: one that comes late must not end the process.
    if (!stream.readableEnded) {
      stream.off('readable', happened).off('end', happened).off('close', happened);
      stream.destroy();
    }
  }
  signal.throwIfAborted();
  check();
}

/** No connection came about: refused, no route, no trust, or no answer in time. */
export class DialError extends Error {
  override name = 'DialError';
}

/** The proxy is in the way: it refused, or cannot be reached itself. The message names it, never its password. */
export class ProxyError extends DialError {
  override name = 'ProxyError';
  constructor(proxy: URL, hint: string, cause?: unknown) {
    super(`cannot connect through the proxy ${proxy.protocol}//${proxy.host}: ${hint}`, cause === undefined ? {} : { cause });
  }
}
