import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { table } from '../../../support/table.ts';
import { redactKubeletConfig, redactSettings } from '../../../../cli/support-bundle/redact/configuration.ts';
import { KnownValues } from '../../../../cli/support-bundle/redact/known-values.ts';

const X = '<redacted>';
/** In YAML, # stands for what is withheld; `is` is empty where nothing is. `why` finishes "is shown with". */
const cases = table('config | is | why')(`
  {maxPods: 110, enableServer: true}                               |                                 | numbers and switches
  {cgroupDriver: systemd, topologyManagerPolicy: none}             |                                 | words of a list
  {cgroupDriver: hunter2}                                          | {cgroupDriver: #}               | no word beside the list
  {maxPods: hunter2}                                               | {maxPods: #}                    | no text for a number
  {evictionHard: {memory.available: 100Mi, nodefs.available: 10%}} |                                 | quantities
  {featureGates: {A: true, B: hunter2}}                            | {featureGates: {A: true, B: #}} | gates
  {clusterDomain: cluster.local, clusterDNS: [10.96.0.10]}         |                                 | the domain
  {staticPodURLHeader: {Authorization: [hunter2]}}                 | {staticPodURLHeader: #}         | no header
  {staticPodURL: https://u:p@h:1/hunter2?a}                        | {staticPodURL: https://h:1/#}   | of a URL the host
  {authentication: {x509: {clientCAFile: /etc/ca.crt}}}            |                                 | paths
  {maxPod: hunter2, hunter 3: 1}                                   | {maxPod: #, #: #}               | the name of an unknown field
  {tlsCipherSuites: [TLS_AES_128_GCM_SHA256, hunter2]} | {tlsCipherSuites: [TLS_AES_128_GCM_SHA256, #]} | known ciphers
`);
for (const { why, config, is } of cases)
  test(`a configuration is shown with ${why}`, () => {
    const shown = parse((is === '' ? config : is).replaceAll('#', X)) as object;
    assert.deepEqual(redactKubeletConfig(parse(config) as Record<string, unknown>), shown);
  });

test('withheld values are told, so that they can be removed elsewhere', () => {
  const known = new KnownValues();
  redactKubeletConfig({ staticPodURLHeader: { A: ['Bearer correct-horse', 'pass'] }, typo: 'Zq8-long-enough', other: 'word' }, known.add);
  assert.equal(known.sweep('a correct-horse b pass c Zq8-long-enough d word e'), `a ${X} b ${X} c ${X} d word e`);
});

test('a known secret is found in JSON, in a URL and in base64, wherever it begins', () => {
  const secret = 'p"ss w/rd-of-node';
  const known = new KnownValues();
  known.add(secret, 'secret');
  assert.equal(known.sweep(JSON.stringify({ a: secret })), `{"a":"${X}"}`);
  assert.equal(known.sweep(`?q=${encodeURIComponent(secret)}`), `?q=${X}`);
  for (const before of ['', 'u', 'us', 'user:']) {
    const swept = known.sweep(Buffer.from(`${before}${secret}!`).toString('base64'));
    assert.ok(swept.includes(X), before);
    assert.ok(!Buffer.from(swept.replaceAll(X, ''), 'base64').toString('latin1').includes('rd-of'), before);
  }
});

test('settings are shown without user and query of URLs, and without keys that dkc does not know', () => {
  const settings = { nodeName: 'a', kubeletHealthz: 'http://u:hunter2@127.0.0.1:1/healthz?k=hunter3', hunter4: 'hunter5', verbosity: 2 };
  const is = { nodeName: 'a', kubeletHealthz: `http://${X}@127.0.0.1:1/healthz?${X}`, verbosity: 2, '1 unknown keys': X };
  assert.deepEqual(redactSettings(settings, () => undefined), is); // prettier-ignore
});
