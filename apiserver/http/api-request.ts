import type { Verb } from '../kinds/kind.ts';
import type { User } from '../auth/user.ts';

/** One request as handlers see it, whatever version of HTTP it came over. */
export interface ApiRequest {
  /** Upper case. */
  method: string;
  /** Still percent-encoded, without the query. */
  path: string;
  query: URLSearchParams;
  /** '' where there is none. */
  header: (name: string) => string;
  user: User;
  /** Aborts when the client is gone or the server stops. */
  signal: AbortSignal;
  /** Reads that may be answered from an older state are, from one so many changes old. @default 0 */
  staleBy?: number;
}

/** What a path and method ask for. */
export interface ResourceRequest {
  verb: Verb;
  group: string;
  version: string;
  resource: string;
  /** '' for cluster-scoped kinds, and for all namespaces. */
  namespace: string;
  /** '' for collections. */
  name: string;
  /** '' for the object itself. */
  subresource: string;
}

/** One event of a watch as it is written, and what it is about. */
export interface Line {
  type: string;
  /** Of the object; '' for none. */
  name: string;
  /** With its newline. */
  text: string;
}

/** What goes back. A stream is written batch by batch until it ends, each batch in one write; its client may be slow. */
export type Answer =
  | { code: number; json: unknown; headers?: Readonly<Record<string, string>> }
  | { code: number; type: string; bytes: Uint8Array | string; headers?: Readonly<Record<string, string>> }
  | { code: number; type: string; stream: AsyncIterable<readonly Line[]> };
