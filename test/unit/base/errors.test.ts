import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asOneError, describeError, errorCode, nearest } from '../../../base/errors.ts';

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

test('what an error says of its cause is not said again', () => {
  const inner = new Error('no such file');
  assert.equal(describeError(new Error('Cannot read f: no such file', { cause: inner })), 'Cannot read f: no such file');
  assert.equal(describeError(new Error('Cannot read f', { cause: inner })), 'Cannot read f (no such file)');
  const advised = new Error('self-signed certificate; if the root CA is installed locally, try running Node.js with --use-system-ca');
  assert.equal(describeError(new Error('Cannot GET', { cause: advised })), 'Cannot GET (self-signed certificate)');
});

test('what Node.js has no name for has the one of the system', () => {
  const coded = ['Unknown system error -122', 'Unknown system error -116', 'Unknown system error -4095', 'EIO'].map((code) =>
    errorCode({ code }),
  );
  assert.deepEqual(coded, ['EDQUOT', 'ESTALE', 'Unknown system error -4095', 'EIO']);
});

test('a name is meant by what is a third of it away at most, or begins it, and by nothing else', () => {
  const names = ['rollback', 'retry', 'ls'];
  const asked = ['rolback', 'rollbcka', 'lz', 'retyr', 'ro', 'unrelated', 'xyz', ''];
  assert.deepEqual(
    asked.map((one) => nearest(one, names)),
    ['rollback', 'rollback', 'ls', undefined, 'rollback', undefined, undefined, undefined],
  );
});
