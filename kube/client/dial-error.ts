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
