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

/** Reads `stream` to its end, then lets `check` say whether that was the answer's end or only the connection's. `heard` is told of every part. */
export async function* readWhole(
  stream: Readable,
  signal: AbortSignal,
  check: () => void,
  heard: () => void = () => {},
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for await (const chunk of stream) {
      heard();
      yield chunk as Uint8Array;
    }
  } catch (error) {
    signal.throwIfAborted();
    throw new BrokenConnection('perhaps', 'the connection ended before the answer did', error);
  }
  signal.throwIfAborted();
  check();
}

/** What a signal was aborted with, as an error. */
export function abortReason(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error('aborted', { cause: signal.reason });
}
