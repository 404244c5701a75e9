import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Taint, Toleration } from 'kubernetes-types/core/v1.js';
import { firstUntolerated, mergeTolerations, refusingEffects, toleratesTaint } from '../../../../kube/api/taints.ts';

const taint: Taint = { key: 'k', value: 'v', effect: 'NoSchedule' };
const bare: Taint = { key: 'k', effect: 'NoExecute' };

const tolerations: { why: string; toleration: Toleration; taint: Taint; tolerates: boolean }[] = [
  { why: 'the same in all', toleration: { key: 'k', operator: 'Equal', value: 'v', effect: 'NoSchedule' }, taint, tolerates: true },
  { why: 'without an operator, the value', toleration: { key: 'k', value: 'v' }, taint, tolerates: true },
  { why: 'with an empty operator, the value', toleration: { key: 'k', operator: '', value: 'v' }, taint, tolerates: true },
  { why: 'another value', toleration: { key: 'k', value: 'w' }, taint, tolerates: false },
  { why: 'no value where the taint has one', toleration: { key: 'k' }, taint, tolerates: false },
  { why: 'no value where the taint has none', toleration: { key: 'k', value: '' }, taint: bare, tolerates: true },
  { why: 'the key that exists', toleration: { key: 'k', operator: 'Exists' }, taint, tolerates: true },
  { why: 'another key that exists', toleration: { key: 'l', operator: 'Exists' }, taint, tolerates: false },
  { why: 'everything', toleration: { operator: 'Exists' }, taint, tolerates: true },
  { why: 'everything, with an empty key', toleration: { key: '', operator: 'Exists' }, taint: bare, tolerates: true },
  { why: 'every key of one effect', toleration: { operator: 'Exists', effect: 'NoExecute' }, taint: bare, tolerates: true },
  { why: 'every key of another effect', toleration: { operator: 'Exists', effect: 'NoExecute' }, taint, tolerates: false },
  { why: 'another effect', toleration: { key: 'k', value: 'v', effect: 'NoExecute' }, taint, tolerates: false },
  { why: 'an empty effect', toleration: { key: 'k', value: 'v', effect: '' }, taint, tolerates: true },
  { why: 'a value without a key', toleration: { operator: 'Equal', value: 'v' }, taint, tolerates: false },
  { why: 'by an operator that nobody knows', toleration: { key: 'k', operator: 'Like', value: 'v' }, taint, tolerates: false },
  ...(
    [
      ['Gt', '4', '5', true],
      ['Gt', '5', '5', false],
      ['Gt', '6', '5', false],
      ['Gt', '-1', '0', true],
      ['Gt', '4', '9223372036854775807', true],
      ['Gt', '4', '9223372036854775808', false],
      ['Lt', '10', '5', true],
      ['Lt', '10', '9', true],
      ['Lt', '5', '5', false],
      ['Lt', '10', '007', false],
      ['Lt', '007', '5', false],
      ['Lt', '10', '5.0', false],
      ['Gt', '4', 'abc', false],
      ['Gt', '4', undefined, false],
    ] as const
  ).map(([operator, than, value, tolerates]) => ({
    why: `${operator} ${than}, of a taint with value ${value},`,
    toleration: { key: 'k', operator, value: than },
    taint: { key: 'k', effect: 'NoSchedule', ...(value !== undefined && { value }) },
    tolerates,
  })),
  { why: 'Gt of another key', toleration: { key: 'l', operator: 'Gt', value: '4' }, taint: { ...taint, value: '5' }, tolerates: false },
  { why: 'for a while', toleration: { key: 'k', operator: 'Exists', tolerationSeconds: 0 }, taint: bare, tolerates: true },
];
for (const c of tolerations) {
  test(`toleration of ${c.why} ${c.tolerates ? 'tolerates' : 'does not tolerate'}`, () => {
    assert.equal(toleratesTaint(c.toleration, c.taint), c.tolerates);
  });
}

const of = (text: string): Taint[] =>
  text.split(' ').map((one) => {
    const [key = '', effect = ''] = one.split(':');
    return { key, effect };
  });
const firsts = [
  { why: 'in the order of the node', taints: 'a:NoSchedule b:NoExecute', tolerates: [], found: 'a' },
  { why: 'after those that are tolerated', taints: 'a:NoSchedule b:NoExecute', tolerates: ['a'], found: 'b' },
  { why: 'none when all are tolerated', taints: 'a:NoSchedule b:NoExecute', tolerates: ['b', 'a'], found: undefined },
  { why: 'not one of another effect', taints: 'a:PreferNoSchedule', tolerates: [], found: undefined },
];
for (const c of firsts) {
  test(`first untolerated taint: ${c.why}`, () => {
    const tolerated = c.tolerates.map((key): Toleration => ({ key, operator: 'Exists' }));
    assert.equal(firstUntolerated(of(c.taints), tolerated, refusingEffects)?.key, c.found);
  });
}
test('first untolerated taint: none of no taints, each without tolerations', () => {
  assert.equal(firstUntolerated(undefined, undefined, refusingEffects), undefined);
  assert.equal(firstUntolerated([taint], undefined, refusingEffects), taint);
});

const short: Toleration = { key: 'k', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 3 };
const ever: Toleration = { key: 'k', operator: 'Exists', effect: 'NoExecute' };
const other: Toleration = { key: 'x', operator: 'Exists' };
const implied: Toleration = { key: 'k', value: 'v' };
const spelled: Toleration = { key: 'k', operator: 'Equal', value: 'v', tolerationSeconds: 9 };
const merges = [
  { why: 'appends to none', own: undefined, added: [ever], merged: [ever] },
  { why: 'keeps own ones in front', own: [other], added: [ever], merged: [other, ever] },
  { why: 'replaces in place, duration and all', own: [short, other], added: [ever], merged: [ever, other] },
  { why: 'keeps own duplicates', own: [other, other], added: [ever], merged: [other, other, ever] },
  { why: 'replaces each of two of its kind', own: [short, ever], added: [ever], merged: [ever, ever] },
  { why: 'takes no operator for Equal', own: [implied], added: [spelled], merged: [spelled] },
  { why: 'tells keys apart', own: [{ ...ever, key: 'x' }], added: [ever], merged: [{ ...ever, key: 'x' }, ever] },
  {
    why: 'tells effects apart',
    own: [{ ...short, effect: 'NoSchedule' }],
    added: [ever],
    merged: [{ ...short, effect: 'NoSchedule' }, ever],
  },
  { why: 'tells values apart', own: [{ ...implied, value: 'w' }], added: [implied], merged: [{ ...implied, value: 'w' }, implied] },
  {
    why: 'tells operators apart',
    own: [{ key: 'k' }],
    added: [{ key: 'k', operator: 'Exists' }],
    merged: [{ key: 'k' }, { key: 'k', operator: 'Exists' }],
  },
];
for (const { why, own, added, merged } of merges) {
  test(`merging tolerations ${why}`, () => {
    const before = structuredClone(own);
    assert.deepEqual(mergeTolerations(own, added), merged);
    assert.deepEqual(own, before, 'what was given stays as it was');
  });
}
