import type { JsonObject, KubeletFacts } from '../contract.ts';
import { oneOf } from '../rules/resources.ts';
import { Preflight } from '../rules/validation.ts';
import { canonical, isAddress, isWildcard } from './addresses.ts';

/** The kubelet's own server: addresses, ports, who may use it. */
export function checkServer(flight: Preflight): void {
  oneOf(flight, 'authorization.mode', ['AlwaysAllow', 'Webhook']);
  oneOf(flight, 'configMapAndSecretChangeDetectionStrategy', ['Get', 'Cache', 'Watch']);
  standalone(flight);
  addresses(flight);
  ports(flight);
  taken(flight);
}

/** Webhook authentication and authorization ask the API server, so the kubelet must have a way to it. */
function standalone(flight: Preflight): void {
  const { args } = flight.kubelet;
  if (args.length === 0 || args.some((arg) => /^--(?:bootstrap[-_])?kubeconfig(?:=|$)/.test(arg))) return;
  const text = 'needs an API client, and the kubelet is started without --kubeconfig';
  if (flight.flag('authentication.webhook.enabled')) flight.add('authentication.webhook.enabled', 'api-client', text);
  if (flight.text('authorization.mode') === 'Webhook') flight.add('authorization.mode', 'api-client', text);
}

function addresses(flight: Preflight): void {
  for (const field of ['address', 'healthzBindAddress']) {
    const address = flight.text(field);
    if (!isAddress(address)) {
      flight.add(field, 'ip', 'must be an IP address');
      continue;
    }
    if (/^(?:0\.0\.0\.0|::|127\..*|::1)$/.test(address)) continue;
    const { addresses } = flight.host;
    if (addresses === undefined) flight.warn(field, 'address', 'must be an address of the node');
    else if (!addresses.includes(address)) flight.add(field, 'address', 'is not an address of this node');
  }
}

function ports(flight: Preflight): void {
  const seen = new Map<string, string>();
  for (const field of ['port', 'readOnlyPort', 'healthzPort']) {
    const port = String(flight.number(field));
    if (port === '0') continue;
    const other = seen.get(port);
    if (other !== undefined) flight.add(field, 'port-clash', `is the same port as ${other}`);
    seen.set(port, field);
  }
}

const SERVERS = [
  { field: 'port', at: 'address' },
  { field: 'readOnlyPort', at: 'address' },
  { field: 'healthzPort', at: 'healthzBindAddress' },
];

/** The ports that a kubelet with this defaulted configuration listens on: those that are free for it when it is restarted. */
export function portsOfKubelet(defaulted: JsonObject, kubelet: KubeletFacts): number[] {
  return serversOfKubelet(defaulted, kubelet).map(({ port }) => port);
}

/** The same with the field and the address of each. */
export function serversOfKubelet(defaulted: JsonObject, kubelet: KubeletFacts): { field: string; address: string; port: number }[] {
  return serversOf(new Preflight(defaulted, {}, kubelet));
}

/** By the field that says so. */
function serversOf(flight: Pick<Preflight, 'number' | 'text' | 'flag' | 'value'>): { field: string; address: string; port: number }[] {
  return SERVERS.flatMap(({ field, at }) => {
    const port = Number(flight.number(field));
    if (port <= 0 || (field === 'port' && flight.value('enableServer') === false)) return [];
    return [{ field, address: canonical(flight.text(at)), port }];
  });
}

/** What somebody else listens on. The kubelet ends, but for healthz: there it lives, and is never healthy. */
function taken(flight: Preflight): void {
  for (const { field, address, port } of serversOf(flight)) {
    const others = flight.host.listening?.filter((other) => other.port === port) ?? [];
    if (others.some((other) => other.address === address || isWildcard(other.address) || isWildcard(address)))
      flight.add(field, 'port-taken', 'is a port that another program on this node listens on');
  }
  if (flight.value('enableServer') === false)
    flight.warn('enableServer', 'server-off', 'is false: logs, exec and metrics of this kubelet have no server');
  else if (flight.value('enableDebuggingHandlers') === false)
    flight.warn('enableDebuggingHandlers', 'server-off', 'is false: kubectl logs and exec do not work on this node');
  if (flight.flag('serverTLSBootstrap'))
    flight.warn(
      'serverTLSBootstrap',
      'serving-certificate',
      'is true: the server of this kubelet has no certificate until its CertificateSigningRequest is approved',
    );
  if (flight.number('healthzPort') === 0)
    flight.warn('healthzPort', 'healthz-off', 'is 0: the kubelet serves no health check, and a trial that checks it cannot pass');
}
