import { ActionError } from '../../base/errors.ts';
import { net } from './builtins.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The proxy of the environment for this server, by the rules of Go programs: `HTTPS_PROXY` or `HTTP_PROXY` by the server's scheme, upper case first, never
 * for localhost, loopback addresses or matches of `NO_PROXY`; in addition `ALL_PROXY`, as in curl, where neither is set.
 * @throws {ActionError} naming the variable, for an unsupported value
 */
export function proxyFor(server: string, environment: Environment): string | undefined {
  const url = URL.parse(server);
  if (url === null) return undefined;
  const names = url.protocol === 'https:' ? ['HTTPS_PROXY', 'ALL_PROXY'] : ['HTTP_PROXY', 'ALL_PROXY'];
  for (const name of names) {
    const value = variable(environment, name);
    if (value === undefined) continue;
    if (isExempt(url, variable(environment, 'NO_PROXY') ?? '')) return undefined;
    return checkedProxy(value, (hint) => new ActionError('use the proxy of', name, { hint: `it ${hint}` }));
  }
  return undefined;
}

/** The checked URL of a proxy; `host:port` is accepted, as in Go programs. @throws the error of `fail`, without the value, which may hold a password */
export function checkedProxy(value: string, fail: (hint: string) => Error): string {
  const text = value.trim();
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`);
  if (url === null || url.hostname === '') throw fail('is not a URL; write it like http://proxy:3128');
  if (url.protocol.startsWith('socks')) throw fail('is a SOCKS proxy, which is not supported; name an http:// or https:// one');
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw fail('is not an http:// or https:// URL; write it like http://proxy:3128');
  return url.href;
}

/** `Proxy-Authorization` for a user and password in the proxy's URL. */
export function proxyHeaders({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
}

function variable(environment: Environment, name: string): string | undefined {
  for (const spelled of [name, name.toLowerCase()]) {
    const value = environment[spelled];
    if (value !== undefined && value !== '') return value;
  }
  return undefined;
}

function isExempt(server: URL, noProxy: string): boolean {
  const host = hostOf(server).toLowerCase();
  const { isIP, BlockList } = net();
  const family = familyOf(isIP(host));
  if (host === 'localhost') return true;
  if (family !== undefined) {
    const loopback = new BlockList();
    loopback.addSubnet('127.0.0.0', 8, 'ipv4');
    loopback.addAddress('::1', 'ipv6');
    if (loopback.check(host, family)) return true;
  }
  const port = String(portOf(server));
  return noProxy.split(',').some((entry) => matches(entry.trim().toLowerCase(), host, port));
}

/** `*`, a CIDR, an address, a domain (with what is below it) or `.domain` or `*.domain` (only that); a port may follow all but the first two. */
function matches(entry: string, host: string, port: string): boolean {
  if (entry === '') return false;
  if (entry === '*') return true;
  const { isIP, BlockList } = net();
  const family = familyOf(isIP(host));
  const [, base = '', bits = ''] = /^(.+)\/(\d{1,3})$/.exec(entry) ?? [];
  if (base !== '') {
    const baseFamily = familyOf(isIP(base));
    if (baseFamily === undefined || family === undefined || Number(bits) > (baseFamily === 'ipv4' ? 32 : 128)) return false;
    const list = new BlockList();
    list.addSubnet(base, Number(bits), baseFamily);
    return list.check(host, family);
  }
  const [, bare = entry, wantedPort = ''] = /^(\[[^\]]+\]|[^:]+):(\d+)$/.exec(entry) ?? [];
  if (wantedPort !== '' && wantedPort !== port) return false;
  const wanted = bare.replace(/^\[(.*)\]$/, '$1').replace(/^\*\./, '.');
  const wantedFamily = familyOf(isIP(wanted));
  if (wantedFamily !== undefined) {
    if (family === undefined) return false;
    const list = new BlockList();
    list.addAddress(wanted, wantedFamily);
    return list.check(host, family);
  }
  return wanted.startsWith('.') ? host.endsWith(wanted) : host === wanted || host.endsWith(`.${wanted}`);
}

function familyOf(version: number): 'ipv4' | 'ipv6' | undefined {
  return version === 4 ? 'ipv4' : version === 6 ? 'ipv6' : undefined;
}

/** The host as sockets expect it: an IPv6 address without its brackets. */
export function hostOf(server: URL): string {
  return server.hostname.replace(/^\[(.*)\]$/, '$1');
}

export function portOf(server: URL): number {
  return server.port === '' ? (server.protocol === 'http:' ? 80 : 443) : Number(server.port);
}
