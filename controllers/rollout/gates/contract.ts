/**
 * What must hold before a node is touched and while a step holds: one of `prometheus`, `alerts` and `object`. A gate of a rollout's spec is one of these
 * once `gateProblems` has found nothing.
 */
export interface Gate {
  /** DNS label, unique in the rollout. */
  name: string;
  prometheus?: PrometheusGate;
  alerts?: AlertsGate;
  object?: ObjectGate;
}

/**
 * empty: an instant vector without series; nonEmpty: one with at least one; nonZero: at least one series, or a scalar, and no value is 0 or NaN,
 * for comparisons with `bool`.
 */
export type Expect = 'empty' | 'nonEmpty' | 'nonZero';

/** A PromQL query, sent to `URL/api/v1/query`. */
export interface PrometheusGate {
  /** Base of the server, http or https, without credentials and query; it may have a path. */
  url: string;
  query: string;
  /** @default empty */
  expect?: Expect;
}

/** Holds while no alert fires, by the series `ALERTS` of Prometheus. */
export interface AlertsGate {
  /** As in {@link PrometheusGate}. */
  url: string;
  /** RE2 expression for names of alerts that are left out; it must match the whole name. Prometheus evaluates it. @default none */
  ignore?: string;
  /** false: pending alerts block as well. @default true */
  firingOnly?: boolean;
}

/** A condition in `status.conditions` of an object of any kind. */
export interface ObjectGate {
  /** `v1`, `apps/v1`. */
  apiVersion: string;
  kind: string;
  /** Required for a namespaced kind, and for no other. */
  namespace?: string;
  name: string;
  /** Type of the condition. */
  condition: string;
  /** What the condition must be. @default True */
  status?: 'True' | 'False' | 'Unknown';
}

/** Whether it holds, and why or why not. */
export interface Reading {
  ok: boolean;
  why: string;
}

/** The result of a gate now. A gate that cannot be checked does not hold. */
export interface GateResult extends Reading {
  name: string;
  /** At most 256 characters, printable. Names series by their number alone, alerts by name, and of error texts only an excerpt. */
  why: string;
}

export interface HttpAnswer {
  status: number;
  /** Empty for a redirect. */
  text: string;
  /** Which credentials were sent, for people; absent: none. */
  credentials?: string;
}

/** Gets a URL. Redirects are answers. @throws when there is no answer, or one of more than MAX_BODY bytes */
export type HttpGet = (url: string, signal: AbortSignal) => Promise<HttpAnswer>;

export const MAX_GATES = 16;
/** Longest query, in characters. */
export const MAX_QUERY = 4096;
/** Longest answer of a Prometheus, in bytes. */
export const MAX_BODY = 1024 * 1024;

/**
 * A Prometheus that needs credentials, or whose certificate is of a private CA, from `--rollout-prometheus-config`. Rollouts cannot name either, so the author
 * of a rollout cannot make the controllers send credentials anywhere but below this URL.
 */
export interface PrometheusServer {
  /** Base of the server: the settings apply to gates whose URL equals it or is below it. */
  url: string;
  /** Path of a file, as all of these. */
  bearerTokenFile?: string | undefined;
  basicAuth?: { username: string; passwordFile: string } | undefined;
  tlsConfig?: TlsFiles | undefined;
}

export interface TlsFiles {
  /** CA certificates in place of the default ones, PEM. */
  caFile?: string | undefined;
  /** The client's certificate and its key, PEM. */
  certFile?: string | undefined;
  keyFile?: string | undefined;
  /** Name that the certificate must have. @default that of the URL */
  serverName?: string | undefined;
}

/** The flag that names them, for remedies. */
export const SERVERS_FLAG = '--rollout-prometheus-config';

/** The server that a URL belongs to: of several the one with the longest path; undefined: none. Pure. */
export function serverFor(url: string, servers: readonly PrometheusServer[]): PrometheusServer | undefined {
  const asked = URL.parse(url);
  const found = servers.filter((server) => asked !== null && isBelow(asked, URL.parse(server.url)));
  return found.toSorted((a, b) => b.url.length - a.url.length)[0];
}

/** Scheme, host and port are the same, and the path goes on where the other ends: `https://a/x` is not below `https://a/xy`, and no server is below `https://a.b` but itself. */
function isBelow(url: URL, base: URL | null): boolean {
  if (base === null || url.origin !== base.origin) return false;
  const path = base.pathname.replace(/\/+$/, '');
  return url.pathname === path || url.pathname.startsWith(`${path}/`);
}
