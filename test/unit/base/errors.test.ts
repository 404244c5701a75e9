import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asOneError } from '../../../base/errors.ts';

test('one failure is thrown as it is, several as one that holds them', () => {
  const [a, b] = [new Error('a'), new Error('b')];
  assert.equal(
    asOneError([a], () => assert.fail('there is nothing to sum up')),
    a,
  );
  const both = asOneError([a, b], () => 'two calls failed');
  assert.ok(both instanceof AggregateError);
  assert.deepEqual([both.errors, both.message], [[a, b], 'two calls failed']);
});
