import { SECOND } from '../../../base/go-duration.ts';
import { oneOf } from '../rules/resources.ts';
import type { Preflight } from '../rules/validation.ts';

const MILLISECOND = SECOND / 1000n;
const TLS_VERSIONS = ['VersionTLS10', 'VersionTLS11', 'VersionTLS12', 'VersionTLS13'];

/** Names of Go's cipher suites; the insecure ones count too. */
const CIPHERS = new Set(
  [
    ['TLS_', ['AES_128_GCM_SHA256', 'AES_256_GCM_SHA384', 'CHACHA20_POLY1305_SHA256']],
    [
      'TLS_ECDHE_ECDSA_WITH_',
      [
        'AES_128_CBC_SHA',
        'AES_128_CBC_SHA256',
        'AES_128_GCM_SHA256',
        'AES_256_CBC_SHA',
        'AES_256_GCM_SHA384',
        'CHACHA20_POLY1305',
        'CHACHA20_POLY1305_SHA256',
        'RC4_128_SHA',
      ],
    ],
    [
      'TLS_ECDHE_RSA_WITH_',
      [
        '3DES_EDE_CBC_SHA',
        'AES_128_CBC_SHA',
        'AES_128_CBC_SHA256',
        'AES_128_GCM_SHA256',
        'AES_256_CBC_SHA',
        'AES_256_GCM_SHA384',
        'CHACHA20_POLY1305',
        'CHACHA20_POLY1305_SHA256',
        'RC4_128_SHA',
      ],
    ],
    [
      'TLS_RSA_WITH_',
      [
        '3DES_EDE_CBC_SHA',
        'AES_128_CBC_SHA',
        'AES_128_CBC_SHA256',
        'AES_128_GCM_SHA256',
        'AES_256_CBC_SHA',
        'AES_256_GCM_SHA384',
        'RC4_128_SHA',
      ],
    ],
  ].flatMap(([prefix, suites]) => (suites as string[]).map((suite) => `${String(prefix)}${suite}`)),
);

/** The kubelet's own server: TLS, addresses, ports, who may use it. */
export function checkServer(flight: Preflight): void {
  if (flight.texts('tlsCipherSuites').some((name) => !CIPHERS.has(name)))
    flight.add('tlsCipherSuites', 'cipher', 'holds a name that is not a cipher suite of Go');
  const least = flight.text('tlsMinVersion');
  if (least !== '' && !TLS_VERSIONS.includes(least))
    flight.add('tlsMinVersion', 'tls-version', `must be one of ${TLS_VERSIONS.join(', ')}`);
  oneOf(flight, 'authorization.mode', ['AlwaysAllow', 'Webhook']);
  oneOf(flight, 'configMapAndSecretChangeDetectionStrategy', ['Get', 'Cache', 'Watch']);
  standalone(flight);
  addresses(flight);
  ports(flight);
  runtimeTimeout(flight);
}

/**
 * A kubelet 1.20.2 beside an answering runtime ended at -1s, 1ns, 1ms, 2ms and 5ms ("context deadline exceeded") and lived at 10ms: the
 * first call connects to the socket before it asks. No runtime makes a container within 10ms either, so nothing of use is refused.
 */
function runtimeTimeout(flight: Preflight): void {
  const [field, rule] = ['runtimeRequestTimeout', 'runtime-timeout'];
  const timeout = flight.duration(field);
  if (timeout < 10n * MILLISECOND)
    flight.add(field, rule, 'is below 10ms: no container runtime answers the first call in time, and the kubelet ends');
  else if (timeout < SECOND) flight.warn(field, rule, 'is below 1s: calls to the container runtime will not end in time');
}

/** Webhook authentication and authorization ask the API server, so the kubelet must have a way to it. */
function standalone(flight: Preflight): void {
  const { args } = flight.kubelet;
  if (args.length === 0 || args.some((arg) => /^--(?:bootstrap[-_])?kubeconfig(?:=|$)/.test(arg))) return;
  const text = 'needs an API client, and the kubelet is started without --kubeconfig';
  if (flight.flag('authentication.webhook.enabled')) flight.add('authentication.webhook.enabled', 'api-client', text);
  if (flight.text('authorization.mode') === 'Webhook') flight.add('authorization.mode', 'api-client', text);
}

const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;
const IPV6 = /^(?=.*::)(?!.*::.*::)(?:[0-9a-fA-F]{0,4}:){2,7}[0-9a-fA-F]{0,4}$|^(?:[0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}$/;

/** Longest way to write an IPv6 address. */
const MAX_ADDRESS_LENGTH = 45;

export function isAddress(text: string): boolean {
  return text.length <= MAX_ADDRESS_LENGTH && (IPV4.test(text) || IPV6.test(text));
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

/** Rules about what the kubelet takes and pods suffer from, on any machine. */
export const POD_RULES: ReadonlySet<string> = new Set(['cgroup-driver', 'cluster-dns', 'eviction-share']);

/** A threshold above which a node evicts pods nearly always; 100% switches a signal off. */
const HIGH_SHARE = 80;

/** What the kubelet starts with, and its pods do not. Only warnings: it is healthy under all of it. */
export function checkPods(flight: Preflight): void {
  const driver = flight.text('cgroupDriver');
  if (driver !== '' && driver !== 'systemd' && driver !== 'cgroupfs')
    flight.warn(
      'cgroupDriver',
      'cgroup-driver',
      'is neither systemd nor cgroupfs: the kubelet takes it for cgroupfs, and pods fail where the runtime uses systemd',
    );
  if (flight.texts('clusterDNS').some((address) => !isAddress(address)))
    flight.warn(
      'clusterDNS',
      'cluster-dns',
      'holds an entry that is not an IP address: the kubelet leaves it out, and pods have no DNS server from it',
    );
  for (const field of ['evictionHard', 'evictionSoft'])
    for (const [signal, given] of flight.entries(field)) {
      const share = typeof given === 'string' && given.endsWith('%') ? Number(given.slice(0, -1)) : Number.NaN;
      if (share >= HIGH_SHARE && share < 100)
        flight.warn(
          `${field}.${signal}`,
          'eviction-share',
          `is ${HIGH_SHARE}% or more: the node evicts pods unless nearly all of it is free`,
        );
    }
}
