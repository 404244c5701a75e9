import { createPrivateKey, createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { bits, der, explicit, implicit, integer, namedBits, octets, oid, sequence, set, time, utf8, yes } from './der.ts';

/** A server's key and the certificate that clients trust, both PEM. */
export interface KeyAndCertificate {
  keyPem: string;
  certificatePem: string;
}

const DAY = 24 * 60 * 60 * 1000;
const ECDSA_SHA256 = '1.2.840.10045.4.3.2';

/**
 * A self-signed ECDSA P-256 certificate for 127.0.0.1, ::1 and localhost, its own CA, good for a year.
 * Valid from a day ago on, so that a clock that is set back a little does not refuse it.
 */
export function selfSigned(now: number): KeyAndCertificate {
  const pair = generateKeyPairSync('ec', {
    namedCurve: 'prime256v1',
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const serial = randomBytes(16);
  serial[0] = (serial[0] ?? 0) & 0x7f;
  const name = sequence(set(sequence(oid('2.5.4.3'), utf8('dkc-apiserver'))));
  const algorithm = sequence(oid(ECDSA_SHA256));
  const toSign = sequence(
    explicit(0, integer(Uint8Array.of(2))),
    integer(serial),
    algorithm,
    name,
    sequence(time(now - DAY), time(now + 365 * DAY)),
    name,
    pair.publicKey,
    explicit(3, extensions(pair.publicKey)),
  );
  const signature = sign('sha256', toSign, createPrivateKey(pair.privateKey));
  return { keyPem: pair.privateKey, certificatePem: pem('CERTIFICATE', sequence(toSign, algorithm, bits(signature))) };
}

function extensions(publicKey: Uint8Array): Uint8Array {
  const keyId = createHash('sha1').update(publicKey).digest();
  const addresses = [Uint8Array.of(127, 0, 0, 1), Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)];
  const names = sequence(implicit(2, new TextEncoder().encode('localhost')), ...addresses.map((address) => implicit(7, address)));
  return sequence(
    extension('2.5.29.19', true, sequence(yes())), // basic constraints: a CA, its own
    extension('2.5.29.15', true, namedBits(0b10000100, 2)), // key usage: digital signature, certificate signing
    extension('2.5.29.37', false, sequence(oid('1.3.6.1.5.5.7.3.1'))), // extended key usage: server
    extension('2.5.29.14', false, octets(keyId)), // subject key identifier
    extension('2.5.29.17', false, names), // subject alternative names
  );
}

function extension(id: string, critical: boolean, value: Uint8Array): Uint8Array {
  return sequence(oid(id), ...(critical ? [yes()] : []), der(0x04, value));
}

function pem(label: string, bytes: Uint8Array): string {
  const lines =
    Buffer.from(bytes)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}
