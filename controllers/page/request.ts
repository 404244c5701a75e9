import { createHash, timingSafeEqual } from 'node:crypto';

/** The parts of a request that are read. */
export interface PageRequest {
  method: string;
  /** Path and query, as sent. */
  url: string;
  host: string | undefined;
  authorization: string | undefined;
  /** Header Sec-Fetch-Site, by which a browser tells from whose page the request comes. */
  site: string | undefined;
}

/** Who may read. */
export interface PageRules {
  /** Undefined: everyone who can connect, which only programs of this machine can. */
  token: string | undefined;
  assets: ReadonlySet<string>;
}

export type PageRoute = { to: 'asset' | 'node'; name: string } | { to: 'fleet' | 'events' };

export type PageDecision =
  { ok: true; route: PageRoute } | { ok: false; status: number; text: string; headers?: Readonly<Record<string, string>> };

/** Longest path and query. */
const MAX_URL = 1_000;
const refuse = (status: number, text: string, headers: Readonly<Record<string, string>> = {}): PageDecision => ({
  ok: false,
  status,
  text: `${text}\n`,
  headers,
});

/** Decides how to answer a request. Pure. */
export function decide({ method, url, host, authorization, site }: PageRequest, { token, assets }: PageRules): PageDecision {
  if (method !== 'GET' && method !== 'HEAD') return refuse(405, 'only GET is supported: this page is read-only', { allow: 'GET, HEAD' });
  // DNS rebinding: another site can let its own name resolve to 127.0.0.1 and read this page as its own. The Host header then has that name.
  if (token === undefined && !isLocalName(host))
    return refuse(
      403,
      'without --page-token-file this page is served only under the names localhost and 127.0.0.1; the Host header has another name',
    );
  if (token !== undefined && !isAllowed(authorization, token))
    return refuse(
      401,
      'a token is required: send the token of --page-token-file as the password with any user name, or as "Authorization: Bearer TOKEN"',
      {
        'www-authenticate': 'Basic realm="dkc fleet", charset="UTF-8"',
      },
    );
  if (url.length > MAX_URL || !url.startsWith('/')) return refuse(400, 'the request has no valid path');
  const path = url.split('?', 1)[0] ?? '';
  const route = routeOf(path, assets);
  if (route === undefined) return refuse(404, 'not found; the paths are /, /fleet.json, /fleet/nodes/NAME.json and /fleet/events');
  // Other sites cannot read the answer, but could use up the allowed streams.
  if (route.to !== 'asset' && site !== undefined && site !== 'same-origin' && site !== 'none')
    return refuse(403, 'requests from pages of other sites are not allowed');
  return { ok: true, route };
}

function routeOf(path: string, assets: ReadonlySet<string>): PageRoute | undefined {
  if (path === '/') return { to: 'asset', name: 'index.html' };
  if (path === '/fleet.json') return { to: 'fleet' };
  if (path === '/fleet/events') return { to: 'events' };
  const [, node] = /^\/fleet\/nodes\/([a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?)\.json$/.exec(path) ?? [];
  if (node !== undefined) return { to: 'node', name: node };
  const asset = path.slice(1);
  return assets.has(asset) ? { to: 'asset', name: asset } : undefined;
}

/** Accepts any port, because a forwarded port may differ. */
const isLocalName = (host = ''): boolean => /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i.test(host);

/** Accepts Basic too: browsers prompt for a name and a password, and send both with every request of the page, including event streams. */
function isAllowed(authorization: string | undefined, token: string): boolean {
  const [, scheme = '', value = ''] = /^(Basic|Bearer) ([\x21-\x7e]{1,4096})$/i.exec(authorization ?? '') ?? [];
  if (scheme === '') return false;
  const text = scheme.toLowerCase() === 'bearer' ? value : Buffer.from(value, 'base64').toString('utf8').replace(/^[^:]*:/, ''); // prettier-ignore
  return timingSafeEqual(digestOf(text), digestOf(token));
}

const digestOf = (text: string): Uint8Array => createHash('sha256').update(text).digest();

/** Headers of every answer: nothing is loaded from elsewhere, only files of the page run as scripts, and no other page can frame this one. */
export const pageHeaders: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
};
