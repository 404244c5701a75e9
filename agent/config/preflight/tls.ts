import type { PemFacts } from '../contract.ts';
import type { Preflight } from '../rules/validation.ts';

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

/** One of these is what HTTP/2 cannot be spoken without; the kubelet's server does not start then. */
const HTTP2_SUITES = ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256', 'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256'];
/** Go's numbers of curves: P-256, P-384, P-521, X25519, and the three that add ML-KEM. */
const CURVES = [23, 24, 25, 29, 4587, 4588, 4589];

/** Versions, cipher suites, curves, certificates and keys of the kubelet's server. */
export function checkTls(flight: Preflight): void {
  const suites = flight.texts('tlsCipherSuites');
  if (suites.some((name) => !CIPHERS.has(name))) flight.add('tlsCipherSuites', 'cipher', 'holds a name that is not a cipher suite of Go');
  const least = flight.text('tlsMinVersion');
  if (least !== '' && !TLS_VERSIONS.includes(least))
    flight.add('tlsMinVersion', 'tls-version', `must be one of ${TLS_VERSIONS.join(', ')}`);
  // TLS 1.3 has suites of its own, which cannot be chosen.
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

/** What the files hold, where it could be read: the kubelet ends when it cannot use them. */
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
  // A kubelet that asks the API server for its certificate reads neither.
  if (flight.flag('serverTLSBootstrap')) return;
  const isCertificate = look('tlsCertFile', hasCertificates, 'names a file that holds no certificate that can be used');
  const isKey = look('tlsPrivateKeyFile', ({ keys }) => keys > 0, 'names a file that holds no private key');
  if (isCertificate && isKey && tlsPairMatches === false)
    flight.add('tlsPrivateKeyFile', 'tls-pair', 'names the key of another certificate than that in tlsCertFile');
}
