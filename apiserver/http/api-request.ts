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

/** What goes back. A stream is written line by line until it ends; its client may be slow. */
export type Answer =
  | { code: number; json: unknown; headers?: Readonly<Record<string, string>> }
  | { code: number; type: string; bytes: Uint8Array | string; headers?: Readonly<Record<string, string>> }
  | { code: number; type: string; stream: AsyncIterable<string> };
