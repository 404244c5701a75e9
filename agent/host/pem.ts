import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { PemFacts } from '../config/contract.ts';

const BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----\s[^-]*-----END \1-----/g;

const blocksOf = (text: string, isWanted: (type: string) => boolean): string[] =>
  [...text.matchAll(BLOCK)].filter(([, type = '']) => isWanted(type)).map(([block]) => block);

const isCertificate = (type: string): boolean => type === 'CERTIFICATE';
const isKey = (type: string): boolean => type === 'PRIVATE KEY' || type.endsWith(' PRIVATE KEY');

/** What a PEM file holds, as Go's TLS reads it: other blocks, and text between them, are passed over. */
export function pemFacts(text: string): PemFacts {
  const certificates = blocksOf(text, isCertificate);
  return {
    bytes: text.length,
    certificates: certificates.length,
    keys: blocksOf(text, isKey).length,
    damaged: certificates.some((block) => certificateOf(block) === undefined),
  };
}

/** Whether the first key belongs to the first certificate; undefined where one of them is not there or cannot be parsed. */
export function pairMatches(certificates: string, keys: string): boolean | undefined {
  const certificate = certificateOf(blocksOf(certificates, isCertificate)[0] ?? '');
  const [key] = blocksOf(keys, isKey);
  if (certificate === undefined || key === undefined) return undefined;
  try {
    return certificate.checkPrivateKey(createPrivateKey(key));
  } catch {
    return undefined;
  }
}

/** The certificates of a PEM file that can be parsed, in its order. */
export function certificatesIn(text: string): X509Certificate[] {
  return blocksOf(text, isCertificate).flatMap((block) => certificateOf(block) ?? []);
}

function certificateOf(block: string): X509Certificate | undefined {
  try {
    return new X509Certificate(block);
  } catch {
    return undefined;
  }
}
