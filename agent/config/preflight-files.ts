import type { JsonObject } from './contract.ts';
import { valueAt } from './defaults.ts';
import { cgroupPaths } from './preflight-cgroups.ts';
import type { Preflight } from './preflight-judge.ts';

/** Files without which the kubelet does not start, or pods do not. */
const NEEDED: readonly (readonly [field: string, fatal: boolean])[] = [
  ['authentication.x509.clientCAFile', true],
  ['tlsCertFile', true],
  ['tlsPrivateKeyFile', true],
  ['resolvConf', false],
];

/** Absolute paths that `preflightFatal` asks HostFacts.paths about. */
export function pathsToProbe(defaulted: JsonObject): string[] {
  const paths = NEEDED.map(([field]) => valueAt(defaulted, field.split('.')));
  const files = paths.filter((path) => typeof path === 'string').filter((path) => path.startsWith('/'));
  return [...new Set([...files, ...cgroupPaths(defaulted)])];
}

export function judgeFiles(flight: Preflight): void {
  for (const [field, fatal] of NEEDED) {
    const path = flight.text(field);
    if (path === '') continue;
    const there = flight.host.paths?.[path];
    if (there === undefined) {
      if (fatal) flight.warn(field, 'file', 'must name a file that is on the node');
    } else if (there === 'unreadable') {
      // Only for us: an agent in a sandbox sees less than the kubelet, and must not refuse what that can read.
      flight.warn(field, 'file', 'names a file that the agent may not look at: the kubelet must be able to read it');
    } else if (there !== 'file') {
      const problem = there === 'missing' ? 'names a file that is not on this node' : 'names a directory';
      if (fatal) flight.add(field, 'file', `${problem}: the kubelet does not start without it`);
      else flight.warn(field, 'file', `${problem}: pods will not start without it`);
    }
  }
  const [cert, key] = ['tlsCertFile', 'tlsPrivateKeyFile'];
  if (flight.text(cert) !== '' && flight.text(key) === '') flight.add(key, 'tls-pair', 'must be set together with tlsCertFile');
  if (flight.text(cert) === '' && flight.text(key) !== '') flight.add(cert, 'tls-pair', 'must be set together with tlsPrivateKeyFile');
}
