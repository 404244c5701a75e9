/**
 * The scheme of a URL, in small letters, as Go's net/url reads it; '' for none, undefined for a text that it refuses to parse.
 * The addresses inside of brackets are not looked into: which of them Go takes changed with its releases.
 */
export function goUrlScheme(text: string): string | undefined {
  const [main = '', ...fragments] = text.split('#');
  if (/[\x00-\x1f\x7f]/.test(text) || !escapesWell(fragments.join('#'))) return undefined;
  const scheme = /^[a-zA-Z][-+.a-zA-Z0-9]*(?=:)/.exec(main)?.[0];
  if (scheme === undefined && main.startsWith(':')) return undefined;
  const rest = (scheme === undefined ? main : main.slice(scheme.length + 1)).replace(/\?.*$/s, '');
  if (!rest.startsWith('/')) {
    // What follows a scheme without a slash is opaque; without a scheme a colon would look like one.
    return scheme === undefined && rest.split('/')[0]?.includes(':') === true ? undefined : (scheme ?? '').toLowerCase();
  }
  const [, authority = '', path = rest] = rest.startsWith('//') ? (/^\/\/([^/]*)(.*)$/s.exec(rest) ?? []) : [];
  return isAuthority(authority) && escapesWell(path) ? (scheme ?? '').toLowerCase() : undefined;
}

const escapesWell = (text: string): boolean => !/%(?![0-9a-fA-F]{2})/.test(text);

function isAuthority(authority: string): boolean {
  const at = authority.lastIndexOf('@');
  const [user, host] = [authority.slice(0, Math.max(0, at)), authority.slice(at + 1)];
  if (!/^[-\w.:~!$&'()*+,;=%@]*$/.test(user) || !escapesWell(user)) return false;
  const [address, port] = host.startsWith('[') ? bracketed(host) : plain(host);
  // Only bytes beyond ASCII, and the percent sign itself, may be escaped in a host.
  const letters = address.replace(/%(?:25|[89a-fA-F][0-9a-fA-F])/g, '');
  return /^(?::[0-9]*)?$/.test(port) && !/[^-\w.~!$&'()*+,;=:[\]<>"\x80-\u{10ffff}]/u.test(letters);
}

function bracketed(host: string): [address: string, port: string] {
  const end = host.lastIndexOf(']');
  return end < 0 ? ['', 'no bracket'] : [host.slice(0, end + 1), host.slice(end + 1)];
}

function plain(host: string): [address: string, port: string] {
  const colon = host.lastIndexOf(':');
  return colon < 0 ? [host, ''] : [host, host.slice(colon)];
}

/** A name of an image's repository, with or without the host of a registry in front; no tag and no digest. */
const HOST = /(?:[a-zA-Z0-9](?:[-a-zA-Z0-9]*[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[-a-zA-Z0-9]*[a-zA-Z0-9])?)*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?/;
const PART = /[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*/;
const NAME = new RegExp(`^(?:${HOST.source}/)?(${PART.source}(?:/${PART.source})*)$`);
const MAX_NAME = 255;

/** First minor that takes names without the host of a registry; before they are refused, as if they had a tag. */
const HOST_OPTIONAL_SINCE = 36;

/**
 * What is wrong with an entry of preloadedImagesVerificationAllowlist for a kubelet of `minor`: a repository, or a prefix of some that
 * ends with `/*`, of which nothing else is looked at.
 * @returns rule and text, undefined for an entry that the kubelet takes
 */
export function wrongImagePattern(pattern: string, minor: number): readonly [rule: string, text: string] | undefined {
  if (pattern.trim() !== pattern) return ['allowlist-spaces', 'may not hold entries with spaces at their ends'];
  if (pattern.includes('*') || pattern === '') {
    const isPrefix = pattern.length > 2 && pattern.endsWith('/*') && pattern.indexOf('*') === pattern.length - 1;
    return isPrefix ? undefined : ['allowlist-wildcard', 'may hold a wildcard only as a last segment /*, behind a registry at least'];
  }
  const path = NAME.exec(pattern)?.[1];
  if (path === undefined || path.length > MAX_NAME) return ['allowlist-name', 'may only hold names of images, without tags or digests'];
  return minor < HOST_OPTIONAL_SINCE && !hasHost(pattern)
    ? ['allowlist-host', `must name the host of the registry in every entry, for kubelets before 1.${HOST_OPTIONAL_SINCE}`]
    : undefined;
}

function hasHost(name: string): boolean {
  const [host = '', ...rest] = name.split('/');
  return rest.length > 0 && (host === 'localhost' || /[.:A-Z]/.test(host));
}
