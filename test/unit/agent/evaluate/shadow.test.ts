import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyFlags, parseKubeletVersion } from '../../../../agent/config/config.ts';
import { shadowWarnings } from '../../../../agent/evaluate/evaluate.ts';

test('a flag is worth a warning where it beats what a config says, and only there', () => {
  const args = ['--event-qps=7', '--max-pods=30', '--anonymous-auth=false', '--feature-gates=A=true,B=true'];
  const config = { maxPods: 50, authentication: { anonymous: { enabled: true } }, featureGates: { A: false } };
  const { shadowed } = applyFlags(config, args, parseKubeletVersion('1.20.2'));
  assert.deepEqual(
    shadowWarnings(shadowed, config).map(({ field }) => field),
    ['maxPods', 'authentication.anonymous.enabled', 'featureGates.A'],
  );
});
