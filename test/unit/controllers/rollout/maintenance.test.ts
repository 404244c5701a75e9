import assert from 'node:assert/strict';
import { test } from 'node:test';
import { abandonedOn } from '../../../../controllers/rollout/maintenance.ts';
import { rulesOf } from '../../../../controllers/rollout/rules.ts';
import { node } from './drain/notation.ts';

// Rollouts are written NAME=POOL, the oldest first, with ! when the spec is invalid; the node is in pool a.
const cases: { why: string; on: string; alive: string; abandoned: string[] }[] = [
  { why: 'nothing where nobody has written', on: 'cordon', alive: 'web=a', abandoned: [] },
  { why: 'nothing of the rollout that has the node', on: 'drain +DrainInProgress', alive: 'web=a other=a', abandoned: [] },
  { why: 'what a deleted rollout drained', on: 'drain', alive: 'other=a', abandoned: ['web'] },
  { why: 'conditions alone', on: 'drain +MaintenanceInProgress:other', alive: 'web=a', abandoned: ['other'] },
  { why: 'what a rollout drained that does not select the node any more', on: 'drain', alive: 'web=b', abandoned: ['web'] },
  { why: 'what a rollout drained before an older one selected the node', on: 'drain', alive: 'other=a web=a', abandoned: ['web'] },
  { why: 'nothing of a rollout whose spec is invalid', on: 'drain', alive: 'web=b! other=a', abandoned: [] },
];
for (const { why, on, alive, abandoned } of cases) {
  test(`abandoned on a node: ${why}`, () => {
    const rules = alive.split(' ').map((text) => {
      const [, name = '', pool = '', invalid = ''] = /^(\w+)=(\w+)(!?)$/.exec(text) ?? [];
      const configMap = { namespace: 'dkc-system', name: 'web', kubeletConfigKey: 'kubelet' };
      const nodeSelector = { matchLabels: { pool } };
      const spec = { nodeSelector, configMap, ...(invalid === '' ? {} : { drainTimeout: 'long' }) };
      return rulesOf({ metadata: { name, uid: `u-${name}` }, spec });
    });
    const given = node(on);
    given.metadata.labels = { pool: 'a' };
    assert.deepEqual(
      abandonedOn(given, rules).map(({ name }) => name),
      abandoned,
    );
  });
}
