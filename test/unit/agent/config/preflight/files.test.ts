import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pathsToProbe } from '../../../../../agent/config/preflight/files.ts';
import { defaulted, preflighted } from '../../../../support/preflighted.ts';

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
    assert.deepEqual(preflighted(`authentication: {x509: {clientCAFile: ${CA}}}\nresolvConf: ""`, host), { errors, warnings });
  });
}

test('a missing resolv.conf is a warning: the kubelet lives, its pods do not', () => {
  assert.deepEqual(preflighted('resolvConf: /no', { paths: { '/no': 'missing' } }), { errors: [], warnings: ['resolvConf file'] });
});

test('preflight asks for each absolute path once', () => {
  const config = defaulted('tlsCertFile: /a\ntlsPrivateKeyFile: /a\nauthentication: {x509: {clientCAFile: b}}\nresolvConf: /r');
  assert.deepEqual(pathsToProbe(config), ['/a', '/r']);
});
