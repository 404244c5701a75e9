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
