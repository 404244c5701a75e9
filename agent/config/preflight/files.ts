import type { JsonObject } from '../contract.ts';
import { valueAt } from '../defaults.ts';
import { fieldAt } from '../fields/fields.ts';
import { cgroupPaths } from './cgroups.ts';
import type { Preflight } from './host-validation.ts';

/** Files without which the kubelet does not start, or pods do not. */
const NEEDED: readonly (readonly [field: string, fatal: boolean])[] = [
  ['authentication.x509.clientCAFile', true],
  ['tlsCertFile', true],
  ['tlsPrivateKeyFile', true],
  ['resolvConf', false],
];

/** The container runtime's sockets. Where one is not there the kubelet ends, or waits for ever. */
const SOCKETS = ['containerRuntimeEndpoint', 'imageServiceEndpoint'];

/** Path of a Unix socket that an endpoint names; undefined for the default, which nobody wrote, and for what is no path. */
function socketOf(field: string, endpoint: unknown): string | undefined {
  if (typeof endpoint !== 'string' || Object.values(fieldAt(field)?.default ?? {}).includes(endpoint)) return undefined;
  const path = endpoint.startsWith('unix://') ? endpoint.slice('unix://'.length) : endpoint;
  return path.startsWith('/') ? path : undefined;
}

/** Absolute paths that `preflightFatal` asks HostFacts.paths about. */
export function pathsToProbe(defaulted: JsonObject): string[] {
  const paths = NEEDED.map(([field]) => valueAt(defaulted, field.split('.')));
  const files = paths.filter((path) => typeof path === 'string').filter((path) => path.startsWith('/'));
  const sockets = SOCKETS.flatMap((field) => socketOf(field, valueAt(defaulted, [field])) ?? []);
  return [...new Set([...files, ...sockets, ...cgroupPaths(defaulted)])];
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
  for (const field of SOCKETS) {
    const path = socketOf(field, flight.text(field));
    const there = path === undefined ? undefined : flight.host.paths?.[path];
    // Whatever is there, also what the agent may not look at, is the kubelet's to try.
    if (there === 'missing')
      flight.add(field, 'socket', 'names a socket that is not on this node: the kubelet does not start without its runtime');
    else if (there === 'file' || there === 'dir') flight.add(field, 'socket', 'names something on this node that is no socket');
  }
  const [cert, key] = ['tlsCertFile', 'tlsPrivateKeyFile'];
  if (flight.text(cert) !== '' && flight.text(key) === '') flight.add(key, 'tls-pair', 'must be set together with tlsCertFile');
  if (flight.text(cert) === '' && flight.text(key) !== '') flight.add(cert, 'tls-pair', 'must be set together with tlsPrivateKeyFile');
}
