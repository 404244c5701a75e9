import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UsageError } from '../../../../cli/failure.ts';
import { nodeNames } from '../../../../cli/fleet/node-names.ts';

const good = [
  { words: ['a', 'b'], names: ['a', 'b'] },
  { words: ['node/a', 'nodes/b,no/c'], names: ['a', 'b', 'c'] },
  { words: ['a,b', 'b', 'a'], names: ['a', 'b'] },
  { words: ['ip-10-0-0-1.eu.compute.internal'], names: ['ip-10-0-0-1.eu.compute.internal'] },
];
for (const { words, names } of good)
  test(`nodes ${words.join(' ')} are ${names.join(' ')}`, () => assert.deepEqual(nodeNames('assign', words), names));

const bad = [
  { word: 'pool/worker-1', says: 'invalid node name "pool/worker-1": must not contain "/" (use "worker-1")' },
  { word: 'a,,b', says: 'must not be empty' },
  { word: 'Worker', says: 'must be lower case letters' },
  { word: '../x', says: 'must not contain "/"' },
  { word: 'a%2fb', says: 'must be lower case letters' },
  { word: 'a\u001b[31m', says: 'must be lower case letters' },
  { word: 'a'.repeat(254), says: 'must not be longer than 253 characters' },
];
for (const { word, says } of bad)
  test(`no node is called ${JSON.stringify(word.slice(0, 20))}`, () =>
    assert.throws(() => nodeNames('assign', [word]), (error: Error) => error instanceof UsageError && error.message.includes(says))); // prettier-ignore
