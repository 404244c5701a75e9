import type { JsonObject, KubeletFacts, PemFacts } from '../contract.ts';
import { oneOf } from '../rules/resources.ts';
import { Preflight } from '../rules/validation.ts';

/** The kubelet's own server: addresses, ports, authentication and authorization. */
export function checkServer(flight: Preflight): void {
  oneOf(flight, 'authorization.mode', ['AlwaysAllow', 'Webhook']);
  oneOf(flight, 'configMapAndSecretChangeDetectionStrategy', ['Get', 'Cache', 'Watch']);
  standalone(flight);
  addresses(flight);
  ports(flight);
  taken(flight);
}

/** Webhook authentication and authorization need the API server, so the kubelet must have a kubeconfig. */
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

/** The ports on which a kubelet with this defaulted configuration listens; they become free when it is restarted. */
export function portsOfKubelet(defaulted: JsonObject, kubelet: KubeletFacts): number[] {
  return serversOfKubelet(defaulted, kubelet).map(({ port }) => port);
}

/** As {@link portsOfKubelet}, with field and address of each. */
export function serversOfKubelet(defaulted: JsonObject, kubelet: KubeletFacts): { field: string; address: string; port: number }[] {
  return serversOf(new Preflight(defaulted, {}, kubelet));
}

/** The kubelet's servers that are on, with the field of the port. */
function serversOf(flight: Pick<Preflight, 'number' | 'text' | 'flag' | 'value'>): { field: string; address: string; port: number }[] {
  return SERVERS.flatMap(({ field, at }) => {
    const port = Number(flight.number(field));
    if (port <= 0 || (field === 'port' && flight.value('enableServer') === false)) return [];
    return [{ field, address: canonical(flight.text(at)), port }];
  });
}

/** Ports on which another program listens. The kubelet exits; for the healthz port it keeps running but never becomes healthy. */
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

const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;
const IPV6 = /^(?=.*::)(?!.*::.*::)(?:[0-9a-fA-F]{0,4}:){2,7}[0-9a-fA-F]{0,4}$|^(?:[0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}$/;

/** Longest way to write an IPv6 address. */
const MAX_ADDRESS_LENGTH = 45;

export function isAddress(text: string): boolean {
  return text.length <= MAX_ADDRESS_LENGTH && (IPV4.test(text) || IPV6.test(text));
}

/** Every address of the machine, in either family. */
export const isWildcard = (address: string): boolean => address === '0.0.0.0' || address === '::';

/** The canonical form of an IP address, for comparison; the text itself where it is not an address. */
export function canonical(address: string): string {
  if (!address.includes(':') || !isAddress(address)) return address;
  const { hostname } = new URL(`http://[${address}]`);
  return hostname.slice(1, -1);
}

const TLS_VERSIONS = ['VersionTLS10', 'VersionTLS11', 'VersionTLS12', 'VersionTLS13'];

const BLOCK_AND_RC4 = [
  'AES_128_CBC_SHA',
  'AES_128_CBC_SHA256',
  'AES_128_GCM_SHA256',
  'AES_256_CBC_SHA',
  'AES_256_GCM_SHA384',
  'RC4_128_SHA',
];
const CHACHA20 = ['CHACHA20_POLY1305', 'CHACHA20_POLY1305_SHA256'];
const TRIPLE_DES = '3DES_EDE_CBC_SHA';

/** Names of Go's cipher suites; the insecure ones count too. */
const CIPHERS = new Set(
  [
    ['TLS_', ['AES_128_GCM_SHA256', 'AES_256_GCM_SHA384', 'CHACHA20_POLY1305_SHA256']],
    ['TLS_ECDHE_ECDSA_WITH_', [...BLOCK_AND_RC4, ...CHACHA20]],
    ['TLS_ECDHE_RSA_WITH_', [TRIPLE_DES, ...BLOCK_AND_RC4, ...CHACHA20]],
    ['TLS_RSA_WITH_', [TRIPLE_DES, ...BLOCK_AND_RC4]],
  ].flatMap(([prefix, suites]) => (suites as string[]).map((suite) => `${String(prefix)}${suite}`)),
);

/** HTTP/2 requires one of these suites; without it the kubelet's server does not start. */
const HTTP2_SUITES = ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256', 'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256'];
/** Go's curve IDs: P-256, P-384, P-521, X25519, and the three hybrids with ML-KEM. */
const CURVES = [23, 24, 25, 29, 4587, 4588, 4589];

/** Versions, cipher suites, curves, certificates and keys of the kubelet's server. */
export function checkTls(flight: Preflight): void {
  const suites = flight.texts('tlsCipherSuites');
  if (suites.some((name) => !CIPHERS.has(name))) flight.add('tlsCipherSuites', 'cipher', 'holds a name that is not a cipher suite of Go');
  const least = flight.text('tlsMinVersion');
  if (least !== '' && !TLS_VERSIONS.includes(least))
    flight.add('tlsMinVersion', 'tls-version', `must be one of ${TLS_VERSIONS.join(', ')}`);
  // The suites of TLS 1.3 cannot be configured.
  const isServing = flight.value('enableServer') !== false && least !== 'VersionTLS13';
  if (isServing && suites.length > 0 && suites.every((name) => CIPHERS.has(name) && !HTTP2_SUITES.includes(name)))
    flight.add('tlsCipherSuites', 'http2-cipher', `must hold ${HTTP2_SUITES.join(' or ')}, which HTTP/2 needs`);
  curves(flight);
  certificates(flight);
}

function curves(flight: Preflight): void {
  const field = 'tlsCurvePreferences';
  const given = flight.list(field).map(Number);
  if (given.some((curve) => !CURVES.includes(curve)))
    flight.add(field, 'curve', `holds a number that is not a curve of Go; known are ${CURVES.join(', ')}`);
  if (new Set(given).size < given.length) flight.add(field, 'curve', 'holds a curve twice');
}

/** The content of the certificate files, where it could be read: the kubelet exits when it cannot use them. */
function certificates(flight: Preflight): void {
  const { pem, tlsPairMatches } = flight.host;
  const look = (field: string, isUsable: (facts: PemFacts) => boolean, text: string): boolean => {
    const facts = pem?.[flight.text(field)];
    if (facts === undefined || isUsable(facts)) return true;
    flight.add(field, 'pem', text);
    return false;
  };
  const hasCertificates = ({ certificates: count, damaged }: PemFacts): boolean => count > 0 && !damaged;
  look('authentication.x509.clientCAFile', hasCertificates, 'names a file that holds no certificate that can be used');
  // A kubelet that requests its certificate from the API server reads neither file.
  if (flight.flag('serverTLSBootstrap')) return;
  const isCertificate = look('tlsCertFile', hasCertificates, 'names a file that holds no certificate that can be used');
  const isKey = look('tlsPrivateKeyFile', ({ keys }) => keys > 0, 'names a file that holds no private key');
  if (isCertificate && isKey && tlsPairMatches === false)
    flight.add('tlsPrivateKeyFile', 'tls-pair', 'names the key of another certificate than that in tlsCertFile');
}

/**
 * Ports of Kubernetes programs. The agent starts before the kubelet, and so before every static pod: if it listened on one of these, a control plane
 * could not start after a reboot.
 */
const KUBERNETES_PORTS: ReadonlyMap<number, string> = new Map([
  [10248, 'the kubelet (health)'],
  [10249, 'kube-proxy (metrics)'],
  [10250, 'the kubelet'],
  [10251, 'kube-scheduler (up to 1.22)'],
  [10252, 'kube-controller-manager (up to 1.22)'],
  [10255, 'the kubelet (read-only)'],
  [10256, 'kube-proxy (health)'],
  [10257, 'kube-controller-manager'],
  [10258, 'cloud-controller-manager'],
  [10259, 'kube-scheduler'],
]);

/** The program to which `port` belongs; undefined for a port that the agent may use. */
export function ownerOfPort(port: number): string | undefined {
  return KUBERNETES_PORTS.get(port);
}
