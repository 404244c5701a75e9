import type { JsonObject } from '../contract.ts';
import { valueAt } from '../defaults.ts';
import { fieldAt } from '../fields/fields.ts';
import type { Preflight } from '../rules/validation.ts';
import { isList } from '../decode/document.ts';

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

export function checkFiles(flight: Preflight): void {
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
    else if (there === 'file' || there === 'dir') flight.add(field, 'socket', 'names a file on this node that is not a socket');
  }
  const [cert, key] = ['tlsCertFile', 'tlsPrivateKeyFile'];
  if (flight.text(cert) !== '' && flight.text(key) === '') flight.add(key, 'tls-pair', 'must be set together with tlsCertFile');
  if (flight.text(cert) === '' && flight.text(key) !== '') flight.add(cert, 'tls-pair', 'must be set together with tlsPrivateKeyFile');
}

/** No path on Linux is longer. A slice of n dashes lies n folders deep, so that its path would grow with their square. */
const MAX_PATH = 4096;
const MOUNT = '/sys/fs/cgroup';

interface Cgroup {
  field: string;
  /** Where it may be below the hierarchy's root: under the driver cgroupfs, and under systemd. From 1.31 on the runtime decides which. */
  places: readonly string[];
}

/**
 * Cgroups that the kubelet wants to find when it starts; it makes none of them itself. Only warnings come of it: some are made together
 * with the kubelet's unit, so that one that is missing now proves nothing.
 */
export function checkCgroups(flight: Preflight): void {
  for (const { field, places } of wanted(flight.config)) {
    const seen = places.map((place) => flight.host.paths?.[hierarchy(flight.host.cgroupVersion) + place]);
    if (seen.includes('dir')) continue;
    const gone = seen.every((there) => there === 'missing') && flight.host.cgroupVersion !== undefined;
    flight.warn(field, 'cgroup', `names a cgroup that ${gone ? 'is not on this node now, and ' : ''}must be there when the kubelet starts`);
  }
}

/** Where to look for the cgroups that `defaulted` wants, on a host of either version. */
export function cgroupPaths(defaulted: JsonObject): string[] {
  return wanted(defaulted).flatMap(({ places }) => places.flatMap((place) => [hierarchy(1) + place, hierarchy(2) + place]));
}

/** v1 has a hierarchy per controller, and memory is one that the kubelet always uses. */
function hierarchy(version: 1 | 2 | undefined): string {
  return version === 1 ? `${MOUNT}/memory` : MOUNT;
}

function wanted(defaulted: JsonObject): Cgroup[] {
  const made: Cgroup[] = [];
  const add = (field: string, slice: (parts: readonly string[]) => string): void => {
    const name = valueAt(defaulted, [field]);
    const parts = typeof name === 'string' && name.length <= MAX_PATH ? name.split('/').filter((part) => part !== '') : [];
    if (parts.length > 0 && !parts.includes('..')) made.push({ field, places: [`/${parts.join('/')}`, nested(slice(parts))] });
  };
  // systemd nests a slice by the dashes in its name, so the kubelet writes the levels of cgroupRoot with dashes between them.
  if (valueAt(defaulted, ['cgroupsPerQOS']) !== false)
    add('cgroupRoot', (parts) => parts.map((part) => part.replaceAll('-', '_')).join('-'));
  const enforced = valueAt(defaulted, ['enforceNodeAllocatable']);
  for (const [field, kind] of [
    ['kubeReservedCgroup', 'kube-reserved'],
    ['systemReservedCgroup', 'system-reserved'],
  ] as const) {
    if (isList(enforced) && enforced.some((item) => item === kind || item === `${kind}-compressible`))
      add(field, (parts) => (parts.at(-1) ?? '').replace(/\.slice$/, ''));
  }
  return made;
}

/** `a-b` is `/a.slice/a-b.slice`. */
function nested(slice: string): string {
  const steps = slice.split('-');
  return steps.map((_, index) => `/${steps.slice(0, index + 1).join('-')}.slice`).join('');
}
