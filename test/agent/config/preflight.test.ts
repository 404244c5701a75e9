import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Finding, HostFacts, JsonObject, KubeletFacts } from '../../../agent/config/contract.ts';
import { decode } from '../../../agent/config/decode.ts';
import { applyDefaults } from '../../../agent/config/defaults.ts';
import { pathsToProbe, preflightFatal } from '../../../agent/config/preflight.ts';
import { validate } from '../../../agent/config/validate.ts';
import { parseKubeletVersion } from '../../../agent/config/version.ts';

const KIND = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
const place = ({ field, rule }: Finding): string => `${field} ${rule}`;

function defaulted(text: string, version: string): JsonObject {
  const decoded = decode(new TextEncoder().encode(KIND + text), parseKubeletVersion(version));
  assert.ok(decoded.ok, text);
  return applyDefaults(decoded.written, parseKubeletVersion(version));
}

/** Places of errors and warnings; what breaks a rule of the validation is no case for preflight. */
function judged(
  text: string,
  host: HostFacts = {},
  minor = '1.34',
  args: KubeletFacts['args'] = [],
): { errors: string[]; warnings: string[] } {
  const version = parseKubeletVersion(minor);
  const config = defaulted(text, minor);
  assert.deepEqual(validate(config, { version }).map(place), [], text);
  const { errors, warnings } = preflightFatal(config, host, { version, args });
  return { errors: errors.map(place), warnings: warnings.map(place) };
}

const CA = '/etc/ca.crt';
const files: { there: 'file' | 'dir' | 'missing' | 'unreadable' | undefined; errors: string[]; warnings: string[] }[] = [
  { there: 'file', errors: [], warnings: [] },
  { there: 'missing', errors: ['authentication.x509.clientCAFile file'], warnings: [] },
  { there: 'dir', errors: ['authentication.x509.clientCAFile file'], warnings: [] },
  { there: 'unreadable', errors: [], warnings: ['authentication.x509.clientCAFile file'] }, // a sandbox hides it, maybe not from the kubelet
  { there: undefined, errors: [], warnings: ['authentication.x509.clientCAFile file'] },
];
for (const { there, errors, warnings } of files) {
  test(`a CA file that is ${there ?? 'not asked for'} gives ${errors.length} errors and ${warnings.length} warnings`, () => {
    const host = there === undefined ? {} : { paths: { [CA]: there } };
    assert.deepEqual(judged(`authentication: {x509: {clientCAFile: ${CA}}}\nresolvConf: ""`, host), { errors, warnings });
  });
}

test('a missing resolv.conf is a warning: the kubelet lives, its pods do not', () => {
  assert.deepEqual(judged('resolvConf: /no', { paths: { '/no': 'missing' } }), { errors: [], warnings: ['resolvConf file'] });
});

test('preflight asks for each absolute path once', () => {
  const config = defaulted(`tlsCertFile: /a\ntlsPrivateKeyFile: /a\nauthentication: {x509: {clientCAFile: b}}\nresolvConf: /r`, '1.34');
  assert.deepEqual(pathsToProbe(config), ['/a', '/r']);
});
