/** The host as sockets want it: an IPv6 address without its brackets. */
export function hostOf(server: URL): string {
  return server.hostname.replace(/^\[(.*)\]$/, '$1');
}

export function portOf(server: URL): number {
  return server.port === '' ? (server.protocol === 'http:' ? 80 : 443) : Number(server.port);
}
