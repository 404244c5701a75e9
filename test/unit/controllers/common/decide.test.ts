import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decideFor } from '../../../../controllers/common/events.ts';
import { daemonSets } from '../../../../kube/api/object.ts';

test('an exception while deciding is told to the author of the set, and thrown', () => {
  const set = { metadata: { name: 'web', namespace: 'ns' } };
  const told: unknown[] = [];
  const events = { event: (...event: unknown[]): void => void told.push(event) };
  const decide = (): never => {
    throw new RangeError('Maximum call stack size exceeded');
  };
  assert.throws(() => decideFor({ events, set, resource: daemonSets }, decide), RangeError);
  const message = 'The set is not synced: planning failed: Maximum call stack size exceeded';
  assert.deepEqual(told, [[set, 'Warning', 'FailedSync', message, { resource: daemonSets }]]);
  assert.equal(
    decideFor({ events, set, resource: daemonSets }, () => 7),
    7,
  );
  assert.equal(told.length, 1);
});
