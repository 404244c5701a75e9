import type { JsonObject } from '../contract.ts';
import { valueAt } from '../defaults.ts';
import type { Preflight } from '../rules/validation.ts';
import { isList } from '../decode/document.ts';
import { SECOND } from '../../../base/go-duration.ts';
import { fieldAt } from '../fields/fields.ts';

/** Files without which the kubelet does not start, or pods do not. */
const NEEDED: readonly (readonly [field: string, fatal: boolean])[] = [
  ['authentication.x509.clientCAFile', true],
  ['tlsCertFile', true],
  ['tlsPrivateKeyFile', true],
  ['resolvConf', false],
];

/** Absolute paths that `preflightFatal` looks up in HostFacts.paths. */
export function pathsToProbe(defaulted: JsonObject): string[] {
  const paths = NEEDED.map(([field]) => valueAt(defaulted, field.split('.')));
  const files = paths.filter((path) => typeof path === 'string').filter((path) => path.startsWith('/'));
  return [...new Set([...files, ...socketPaths(defaulted), ...podLogPaths(defaulted), ...cgroupPaths(defaulted)])];
}

/** Files that the configuration names and whose content `preflightFatal` checks. */
export function filesToRead(defaulted: JsonObject): { pem: string[]; pair: [certificate: string, key: string]; resolvConf: string } {
  const text = (field: string): string => {
    const value = valueAt(defaulted, field.split('.'));
    return typeof value === 'string' ? value : '';
  };
  const pair: [string, string] = [text('tlsCertFile'), text('tlsPrivateKeyFile')];
  const pem = [text('authentication.x509.clientCAFile'), ...pair].filter((path) => path.startsWith('/'));
  return { pem: [...new Set(pem)], pair, resolvConf: text('resolvConf') };
}

export function checkFiles(flight: Preflight): void {
  for (const [field, fatal] of NEEDED) {
    const path = flight.text(field);
    if (path === '') continue;
    const there = flight.host.paths?.[path];
    if (there === undefined) {
      if (fatal) flight.warn(field, 'file', 'must name a file that is on the node');
    } else if (there === 'unreadable') {
      // Only a warning: an agent in a sandbox sees less than the kubelet, and must not reject a file that the kubelet can read.
      flight.warn(field, 'file', 'names a file that the agent has no permission to read; make sure that the kubelet has');
    } else if (there !== 'file') {
      const problem = there === 'missing' ? 'names a file that is not on this node' : 'names a directory';
      if (fatal) flight.add(field, 'file', `${problem}: the kubelet does not start without it`);
      else flight.warn(field, 'file', `${problem}: pods will not start without it`);
    }
  }
  const resolv = flight.text('resolvConf');
  if (resolv !== '' && flight.host.damagedResolvConf?.includes(resolv) === true)
    flight.warn('resolvConf', 'resolv-conf', 'names a file with a line that the kubelet cannot parse: pods will not start with it');
  const [cert, key] = ['tlsCertFile', 'tlsPrivateKeyFile'];
  if (flight.text(cert) !== '' && flight.text(key) === '') flight.add(key, 'tls-pair', 'must be set together with tlsCertFile');
  if (flight.text(cert) === '' && flight.text(key) !== '') flight.add(cert, 'tls-pair', 'must be set together with tlsPrivateKeyFile');
}

/**
 * The directory of pod logs and its parents, from the root on. The kubelet creates them, and exits where one of them is a file.
 */
function podLogPaths(defaulted: JsonObject): string[] {
  const dir = valueAt(defaulted, ['podLogsDir']);
  // The default directory is fine on every host.
  if (typeof dir !== 'string' || !dir.startsWith('/') || dir.length > MAX_PATH || dir === '/var/log/pods') return [];
  const steps = dir.split('/').filter((step) => step !== '');
  return steps.slice(0, MAX_DEPTH).map((_, index) => `/${steps.slice(0, index + 1).join('/')}`);
}

/** Most parents of a pod log directory that are checked: each costs a stat. */
const MAX_DEPTH = 32;
/** Kernel file systems, in which no directory can be created. */
const KERNEL = /^\/(?:proc|sys)\//;

export function checkPodLogs(flight: Preflight): void {
  const field = 'podLogsDir';
  const paths = podLogPaths(flight.config);
  const isFile = paths.some((path) => flight.host.paths?.[path] === 'file');
  if (isFile || KERNEL.test(flight.text(field)))
    flight.add(field, 'pod-logs', 'cannot be created on this node: a parent is not a directory, or belongs to the kernel');
}

/** Longest path on Linux. The path of a slice with n dashes has n directories, so its length grows with n squared. */
const MAX_PATH = 4096;
const MOUNT = '/sys/fs/cgroup';

interface Cgroup {
  field: string;
  /** Possible paths below the root of the hierarchy: with the driver cgroupfs, and with systemd. From 1.31 on the runtime decides which. */
  places: readonly string[];
}

/**
 * Cgroups that must exist when the kubelet starts; it does not create them. Only warnings: some are created together with the kubelet's unit, so a
 * cgroup that is missing now may exist then.
 */
export function checkCgroups(flight: Preflight): void {
  for (const { field, places } of wanted(flight.config)) {
    const seen = places.map((place) => flight.host.paths?.[hierarchy(flight.host.cgroupVersion) + place]);
    if (seen.includes('dir')) continue;
    const gone = seen.every((there) => there === 'missing') && flight.host.cgroupVersion !== undefined;
    flight.warn(field, 'cgroup', `names a cgroup that ${gone ? 'is not on this node now, and ' : ''}must be there when the kubelet starts`);
  }
}

/** Paths of the cgroups that `defaulted` needs, for hosts with cgroup v1 and v2. */
function cgroupPaths(defaulted: JsonObject): string[] {
  return wanted(defaulted).flatMap(({ places }) => places.flatMap((place) => [hierarchy(1) + place, hierarchy(2) + place]));
}

/** v1 has a hierarchy per controller; the kubelet always uses the one of memory. */
function hierarchy(version: 1 | 2 | undefined): string {
  return version === 1 ? `${MOUNT}/memory` : MOUNT;
}

function wanted(defaulted: JsonObject): Cgroup[] {
  const made: Cgroup[] = [];
  const add = (field: string, slice: (parts: readonly string[]) => string): void => {
    const name = valueAt(defaulted, [field]);
    const parts = typeof name === 'string' && name.length <= MAX_PATH ? cleaned(name.split('/')) : [];
    if (parts.length > 0) made.push({ field, places: [`/${parts.join('/')}`, nested(slice(parts))] });
  };
  // systemd nests a slice by the dashes in its name, so the kubelet joins the levels of cgroupRoot with dashes.
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

/** The components of an absolute path with `.` and `..` resolved; `..` at the root stays at the root. */
function cleaned(steps: readonly string[]): string[] {
  const parts: string[] = [];
  for (const step of steps)
    if (step === '..') parts.pop();
    else if (step !== '' && step !== '.') parts.push(step);
  return parts;
}

/** `a-b` is `/a.slice/a-b.slice`. */
function nested(slice: string): string {
  const steps = slice.split('-');
  return steps.map((_, index) => `/${steps.slice(0, index + 1).join('-')}.slice`).join('');
}

const MILLISECOND = SECOND / 1000n;
/** The container runtime's sockets. Where one is missing the kubelet exits, or waits forever. */
const SOCKETS = ['containerRuntimeEndpoint', 'imageServiceEndpoint'];

/** Path of a Unix socket that an endpoint names; undefined for any other endpoint. */
function socketOf(endpoint: unknown): string | undefined {
  if (typeof endpoint !== 'string') return undefined;
  const path = endpoint.startsWith('unix://') ? endpoint.slice('unix://'.length) : endpoint;
  return path.startsWith('/') ? path : undefined;
}

const isDefault = (field: string, endpoint: unknown): boolean =>
  typeof endpoint === 'string' && Object.values(fieldAt(field)?.default ?? {}).includes(endpoint);

/** Paths of the sockets that the configuration names; without the default, which the author did not choose and another machine may not have. */
export function socketPaths(defaulted: JsonObject): string[] {
  return SOCKETS.filter((field) => !isDefault(field, valueAt(defaulted, [field]))).flatMap(
    (field) => socketOf(valueAt(defaulted, [field])) ?? [],
  );
}

/** Path of the default socket where the configuration names none, for checks on the kubelet's own node. */
export function defaultSocket(defaulted: JsonObject): string | undefined {
  const [field = ''] = SOCKETS;
  const endpoint = valueAt(defaulted, [field]);
  return isDefault(field, endpoint) ? socketOf(endpoint) : undefined;
}

/** How the kubelet reaches its container runtime, and how long it waits. */
export function checkRuntime(flight: Preflight): void {
  runtimeTimeout(flight);
  for (const field of SOCKETS) {
    const endpoint = flight.text(field);
    const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(endpoint)?.[1];
    if (scheme !== undefined && scheme !== 'unix') {
      flight.add(field, 'endpoint', 'must be a Unix socket, as in "unix:///run/containerd/containerd.sock"');
      continue;
    }
    const path = socketOf(endpoint);
    const there = path === undefined ? undefined : flight.host.paths?.[path];
    // Only a missing socket is an error: the kubelet may be able to use a path that the agent may not read.
    if (there === 'missing')
      flight.add(field, 'socket', 'names a socket that is not on this node: the kubelet does not start without its runtime');
    else if (there === 'file' || there === 'dir') flight.add(field, 'socket', 'names a file on this node that is not a socket');
    else if (path !== undefined && !isDefault(field, endpoint) && Object.keys(flight.host).length === 0)
      flight.warn(field, 'socket', 'must name a socket that is on the node: the kubelet does not start without its runtime');
  }
}

/**
 * Measured with a kubelet 1.20.2 and a running runtime: it exits at -1s, 1ns, 1ms, 2ms and 5ms ("context deadline exceeded") and runs at 10ms, since the
 * first call includes the connection to the socket. No runtime creates a container within 10ms, so no useful value is rejected.
 */
function runtimeTimeout(flight: Preflight): void {
  const [field, rule] = ['runtimeRequestTimeout', 'runtime-timeout'];
  const timeout = flight.duration(field);
  if (timeout < 10n * MILLISECOND)
    flight.add(field, rule, 'is below 10ms: no container runtime answers the first call in time, and the kubelet exits');
  else if (timeout < SECOND) flight.warn(field, rule, 'is below 1s: calls to the container runtime will not end in time');
}
