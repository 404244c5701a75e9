import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSchedulerConfig, readSchedulerConfig } from '../../../../scheduler/config/parse.ts';
import { renderSchedulerConfig } from '../../../../scheduler/config/render.ts';

const texts = [
  '',
  'leaderElection: {enabled: false, leaseName: x}\ncompat: {seed: 3}',
  'profiles: [{schedulerName: a, plugins: {TaintToleration: {weight: 0}, NodePorts: {enabled: false}, ImageLocality: {weight: 0}}}, {}]',
  'profiles: [{pluginArgs: {PodTopologySpread: {defaultingType: List}, NodeAffinity: {addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists}]}]}}}}}]',
  'profiles: [{pluginArgs: {NodeResourcesFit: {scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: {shape: [{utilization: 3, score: 7}]}}}}}]',
  'reservation: {mirror: true, mirrorImage: pause}',
  "extenders: [{urlPrefix: 'https://e', prioritizeVerb: p, httpTimeout: 1m, tlsConfig: {caFile: c}, managedResources: [{name: a.b/c, ignoredByScheduler: true}]}]",
];
for (const text of texts)
  test(`what is rendered is read as the same: ${text}`, () => {
    const first = parseSchedulerConfig(text);
    assert.ok(first.ok);
    const again = readSchedulerConfig(renderSchedulerConfig(first.config));
    assert.deepEqual(again.ok && again.config, first.config);
  });

test('keys of certificates are not shown', () => {
  const pem = Buffer.from('-----BEGIN X-----').toString('base64');
  const read = parseSchedulerConfig(`extenders: [{urlPrefix: 'https://e', filterVerb: f, tlsConfig: {certData: ${pem}, keyData: ${pem}}}]`);
  assert.ok(read.ok);
  const [extender] = renderSchedulerConfig(read.config)['extenders'] as { tlsConfig: object }[];
  assert.deepEqual(extender?.tlsConfig, { insecure: false, certData: pem, keyData: 'hidden' });
});
