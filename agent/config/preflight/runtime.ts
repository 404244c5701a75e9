import { SECOND } from '../../../base/go-duration.ts';
import type { JsonObject } from '../contract.ts';
import { valueAt } from '../defaults.ts';
import { fieldAt } from '../fields/fields.ts';
import type { Preflight } from '../rules/validation.ts';

const MILLISECOND = SECOND / 1000n;
/** The container runtime's sockets. Where one is not there the kubelet exits, or waits for ever. */
const SOCKETS = ['containerRuntimeEndpoint', 'imageServiceEndpoint'];

/** Path of a Unix socket that an endpoint names; undefined for what is no path. */
function socketOf(endpoint: unknown): string | undefined {
  if (typeof endpoint !== 'string') return undefined;
  const path = endpoint.startsWith('unix://') ? endpoint.slice('unix://'.length) : endpoint;
  return path.startsWith('/') ? path : undefined;
}

const isDefault = (field: string, endpoint: unknown): boolean =>
  typeof endpoint === 'string' && Object.values(fieldAt(field)?.default ?? {}).includes(endpoint);

/** Paths of the sockets that the configuration names; not of the default, which nobody wrote, and which another machine need not have. */
export function socketPaths(defaulted: JsonObject): string[] {
  return SOCKETS.filter((field) => !isDefault(field, valueAt(defaulted, [field]))).flatMap(
    (field) => socketOf(valueAt(defaulted, [field])) ?? [],
  );
}

/** Path of the runtime's socket where that is the default, for the kubelet's own node. */
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
    // Whatever is there, also what the agent may not look at, is the kubelet's to try.
    if (there === 'missing')
      flight.add(field, 'socket', 'names a socket that is not on this node: the kubelet does not start without its runtime');
    else if (there === 'file' || there === 'dir') flight.add(field, 'socket', 'names a file on this node that is not a socket');
    else if (path !== undefined && !isDefault(field, endpoint) && Object.keys(flight.host).length === 0)
      flight.warn(field, 'socket', 'must name a socket that is on the node: the kubelet does not start without its runtime');
  }
}

/**
 * A kubelet 1.20.2 beside an answering runtime ended at -1s, 1ns, 1ms, 2ms and 5ms ("context deadline exceeded") and lived at 10ms: the
 * first call connects to the socket before it asks. No runtime makes a container within 10ms either, so nothing of use is refused.
 */
function runtimeTimeout(flight: Preflight): void {
  const [field, rule] = ['runtimeRequestTimeout', 'runtime-timeout'];
  const timeout = flight.duration(field);
  if (timeout < 10n * MILLISECOND)
    flight.add(field, rule, 'is below 10ms: no container runtime answers the first call in time, and the kubelet exits');
  else if (timeout < SECOND) flight.warn(field, rule, 'is below 1s: calls to the container runtime will not end in time');
}
