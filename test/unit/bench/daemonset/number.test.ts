import assert from 'node:assert/strict';
import { test } from 'node:test';
import { numberOf } from '../../../../bench/daemonset/number.ts';

const cases = [
  { why: 'what the environment says', env: { N: '20' }, is: 20 },
  { why: 'the usual where it says nothing', env: {}, is: 5 },
  { why: 'the usual for an empty text', env: { N: '' }, is: 5 },
];
for (const { why, env, is } of cases) test(`a number is ${why}`, () => assert.equal(numberOf(env, 'N', 5), is));

for (const text of ['0', '-1', '1.5', 'many'])
  test(`${text} is no size of a run`, () => assert.throws(() => numberOf({ N: text }, 'N', 5), RangeError));
