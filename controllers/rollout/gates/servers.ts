/**
 * A Prometheus that wants credentials, or whose certificate is of an authority of its own, as `--rollout-prometheus-config` has it. Rollouts name neither: who
 * may write one sends nobody's credentials anywhere but below this URL.
 */
export interface PrometheusServer {
  /** Base of the server: gates whose URL is it, or below it, are asked like this. */
  url: string;
  /** Path of a file, as all of these. */
  bearerTokenFile?: string | undefined;
  basicAuth?: { username: string; passwordFile: string } | undefined;
  tlsConfig?: TlsFiles | undefined;
}

export interface TlsFiles {
  /** Authorities that count in place of the usual ones, PEM. */
  caFile?: string | undefined;
  /** The client's certificate and its key, PEM. */
  certFile?: string | undefined;
  keyFile?: string | undefined;
  /** Name that the certificate has to have. @default that of the URL */
  serverName?: string | undefined;
}

/** The flag that names them, for remedies. */
export const SERVERS_FLAG = '--rollout-prometheus-config';

/** How to ask this URL: of several servers the one with the longest path; undefined: without anything. Pure. */
export function serverFor(url: string, servers: readonly PrometheusServer[]): PrometheusServer | undefined {
  const asked = URL.parse(url);
  const found = servers.filter((server) => asked !== null && isBelow(asked, URL.parse(server.url)));
  return found.toSorted((a, b) => b.url.length - a.url.length)[0];
}

/** Scheme, host and port are the same, and the path goes on where the other ends: `https://a/x` is not below `https://a/xy`, and no server is below `https://a.b` but itself. */
function isBelow(asked: URL, base: URL | null): boolean {
  if (base === null || asked.origin !== base.origin) return false;
  const path = base.pathname.replace(/\/+$/, '');
  return asked.pathname === path || asked.pathname.startsWith(`${path}/`);
}
