import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resolveIntOrPercent } from '../../../../kube/api/quantity.ts';

const cases = [
  { why: 'a number is itself', value: 3, total: 10, up: 3, down: 3 },
  { why: 'a number may exceed the total', value: 30, total: 10, up: 30, down: 30 },
  { why: 'zero', value: 0, total: 10, up: 0, down: 0 },
  { why: 'a number in text', value: '3', total: 10, up: 3, down: 3 },
  { why: 'a percentage that comes out even', value: '20%', total: 10, up: 2, down: 2 },
  { why: 'a percentage in between', value: '25%', total: 10, up: 3, down: 2 },
  { why: 'a percentage of little', value: '1%', total: 1, up: 1, down: 0 },
  { why: 'a percentage of nothing', value: '50%', total: 0, up: 0, down: 0 },
  { why: 'no percent', value: '0%', total: 7, up: 0, down: 0 },
  { why: 'all', value: '100%', total: 7, up: 7, down: 7 },
  { why: 'more than all', value: '150%', total: 7, up: 11, down: 10 },
  { why: 'an even one that binary fractions would miss', value: '29%', total: 100, up: 29, down: 29 },
  { why: 'absent', value: undefined, total: 7, up: undefined, down: undefined },
  { why: 'a word', value: 'all', total: 7, up: undefined, down: undefined },
  { why: 'empty', value: '', total: 7, up: undefined, down: undefined },
  { why: 'a lone sign', value: '%', total: 7, up: undefined, down: undefined },
  { why: 'a fraction of a percent', value: '1.5%', total: 7, up: undefined, down: undefined },
  { why: 'less than nothing', value: '-5%', total: 7, up: undefined, down: undefined },
  { why: 'a negative number', value: -1, total: 7, up: undefined, down: undefined },
  { why: 'a fraction', value: 1.5, total: 7, up: undefined, down: undefined },
  { why: 'something behind it', value: '5% ', total: 7, up: undefined, down: undefined },
];
for (const { why, value, total, up, down } of cases) {
  test(`number or percentage: ${why}`, () => {
    assert.equal(resolveIntOrPercent(value, total, { round: 'up' }), up);
    assert.equal(resolveIntOrPercent(value, total, { round: 'down' }), down);
  });
}
