import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  configMapKeyProblems,
  dnsLabelProblems,
  dnsSubdomainProblems,
  labelValueProblems,
  qualifiedNameProblems,
} from '../../../../kube/api/names.ts';
import { identityOf, ordinalRangesIn } from '../../../../kube/api/ordinals.ts';
import { canonicalQuantity, compareQuantities, quantity, resolveIntOrPercent } from '../../../../kube/api/quantity.ts';
import { assert as holds, jsonValue, property } from 'fast-check';
import { goJson, inGoJson, jsonEqual, jsonTextOf } from '../../../../kube/api/json.ts';

// prettier-ignore
const kinds: { what: string; problems: (value: string) => string[]; good: string[]; bad: string[] }[] = [
  { what: 'label', problems: dnsLabelProblems, good: ['0', 'kube-system', 'a'.repeat(63)], bad: ['', 'A', 'a.b', 'a-', 'a\n', 'a'.repeat(64)] },
  { what: 'subdomain', problems: dnsSubdomainProblems, good: ['node-1.example.com', 'a'.repeat(253)], bad: ['', 'a..b', 'a/b', 'a'.repeat(254), 'ü'] },
  { what: 'ConfigMap key', problems: configMapKeyProblems, good: ['.hidden', 'a..b', 'KEY_name.1'], bad: ['', '..', '..a', 'a/b', 'a\0', 'a'.repeat(254)] },
  { what: 'qualified name', problems: qualifiedNameProblems, good: ['A_b.c-d', 'example.com/name'], bad: ['', '/a', 'a/', 'EXAMPLE/a', 'a'.repeat(64)] },
  { what: 'label value', problems: labelValueProblems, good: ['', 'A_b.c-d'], bad: ['-a', 'a b', 'a/b', 'a'.repeat(64)] },
];
for (const { what, problems, good, bad } of kinds)
  test(`a ${what} is judged as the API server does`, () => {
    for (const value of good) assert.deepEqual(problems(value), [], value);
    for (const value of bad) assert.notDeepEqual(problems(value), [], value);
  });

test("complaints are in the API server's words", () => {
  assert.deepEqual(configMapKeyProblems('.'), ["must not be '.'"]);
  assert.match(configMapKeyProblems('a b').join(), /^a valid config key must consist of .*\(e\.g\. 'key\.name', {2}or 'KEY_NAME', /);
  assert.deepEqual(configMapKeyProblems('a'.repeat(254)), ['must be no more than 253 characters']);
  assert.match(dnsLabelProblems('A').join(), /^a lowercase RFC 1123 label must consist of lower case .* characters or '-', and must start/);
});

test('a name is a place in a set where it ends in a plain 32-bit number', () => {
  for (const [name, parent, ordinal] of [
    ['web-0', 'web', 0],
    ['web-10', 'web', 10],
    ['web-1-2', 'web-1', 2],
    ['a.b-3', 'a.b', 3],
    ['web-2147483647', 'web', 2147483647],
    ['web--1', 'web-', 1],
  ] as const)
    assert.deepEqual(identityOf(name), { parent, ordinal }, name);
  for (const name of ['web-2147483648', 'web-01', 'web-', 'web', '0', 'web-1e3', '']) assert.equal(identityOf(name), undefined, name);
});

test('a list of ranges: what overlaps is one, ten thousand are the most, words are refused', () => {
  for (const [text, is] of [
    ['1,2-3', '1-1 2-3'],
    ['5-9,1-3,2-6', '1-9'],
    ['0-4999,4000-9999', '0-9999'],
    ['0-9999,10000', undefined],
    ['1,two', undefined],
    ['', ''],
  ] as const)
    assert.equal(ordinalRangesIn(text)?.map(({ from, to }) => `${from}-${to}`).join(' '), is, text); // prettier-ignore
});

test('quantities are written back in their canonical form; what is none is none', () => {
  const canonical =
    '0>0 0.1>100m 1000m>1 1.5Gi>1536Mi 1024Mi>1Gi 0.5Ki>512 1e3>1e3 1.5e3>1500 1E>1E 12E2>1200 -1Gi>-1Gi +5>5 .5>500m 5.>5 0.0000000001>1n';
  for (const pair of canonical.split(' ')) {
    const [text = '', written] = pair.split('>');
    assert.equal(canonicalQuantity(valid(text)), written, text);
  }
  for (const text of ['', 'abc', '100MB', '1 Gi', '.', '1e', '--1']) assert.equal(quantity(text), undefined, text);
});

const valid = (text: string) => quantity(text) ?? assert.fail(text);

test('quantities compare by value, whatever their suffix', () => {
  const order = ['-1', '0', '1n', '100m', '1', '1k', '1Ki', '1Mi', '1.5G', '1.5Gi', '1E', '1Ei'].map(valid);
  for (const [index, one] of order.entries())
    for (const [other, two] of order.entries()) assert.equal(compareQuantities(one, two), Math.sign(index - other));
  assert.equal(compareQuantities(valid('1Gi'), valid('1024Mi')), 0);
});

const portions: [why: string, value: string | number | undefined, total: number, up?: number, down?: number][] = [
  ['a number is itself, also beyond the total', 30, 10, 30, 30],
  ['a number in text', '3', 10, 3, 3],
  ['a percentage in between', '25%', 10, 3, 2],
  ['a percentage of nothing', '50%', 0, 0, 0],
  ['more than all', '150%', 7, 11, 10],
  ['an even one that binary fractions would miss', '29%', 100, 29, 29],
  ['absent', undefined, 7],
  ['a word', 'all', 7],
  ['a lone sign', '%', 7],
  ['a fraction of a percent', '1.5%', 7],
  ['less than nothing', '-5%', 7],
  ['a negative number', -1, 7],
  ['a fraction', 1.5, 7],
];
for (const [why, value, total, up, down] of portions)
  test(`number or percentage: ${why}`, () => {
    assert.equal(resolveIntOrPercent(value, total, { round: 'up' }), up);
    assert.equal(resolveIntOrPercent(value, total, { round: 'down' }), down);
  });

const cases = [
  { why: 'sorts fields at every depth', value: { b: { d: 1, c: 2 }, a: [] }, text: '{"a":[],"b":{"c":2,"d":1}}' },
  { why: 'sorts by bytes: signs before letters', value: { spec: 1, $patch: 2, Z: 3 }, text: '{"$patch":2,"Z":3,"spec":1}' },
  { why: 'sorts numbers as text', value: { 2: 'b', 10: 'a' }, text: '{"10":"a","2":"b"}' },
  { why: 'sorts beyond the first plane after all others', value: { '\u{1f600}': 1, '\uff5e': 2 }, text: '{"\uff5e":2,"\u{1f600}":1}' },
  { why: 'escapes what HTML knows', value: 'a < b && c > d', text: String.raw`"a \u003c b \u0026\u0026 c \u003e d"` },
  { why: 'escapes line separators', value: '\u2028\u2029', text: String.raw`"\u2028\u2029"` },
  { why: 'writes backspace and form feed in numbers', value: '\b\f\n', text: String.raw`"\u0008\u000c\n"` },
  { why: 'leaves backslashes alone', value: String.raw`\b\\f`, text: String.raw`"\\b\\\\f"` },
  { why: 'leaves out what is undefined', value: { a: undefined, b: null }, text: '{"b":null}' },
];
for (const { why, value, text } of cases) test(`Go's JSON ${why}`, () => assert.equal(goJson(value), text));
test("Go's JSON escapes a long text as a short one", () => {
  const filling = 'x'.repeat(10_000);
  for (const { value, text } of cases)
    if (typeof value === 'string') assert.equal(goJson(filling + value), text.replace('"', `"${filling}`));
});

test("Go's JSON says the same as anybody's", () => {
  holds(property(jsonValue(), (value) => assert.deepEqual(JSON.parse(goJson(value)), JSON.parse(JSON.stringify(value)))));
});

test('an object is sent in the words that were chosen, also when it was copied', () => {
  const object = inGoJson({ b: '<', a: 1 });
  assert.equal(jsonTextOf({ ...object }), String.raw`{"a":1,"b":"\u003c"}`);
  assert.equal(jsonTextOf({ b: '<', a: 1 }), '{"b":"<","a":1}');
  assert.equal(JSON.stringify(object), '{"b":"<","a":1}');
});

const nested = (levels: number, end = '1'): string => `${'{"a":['.repeat(levels)}${end}${']}'.repeat(levels)}`;

test('values nested 10,000 and 100,000 deep are compared and written', () => {
  for (const levels of [5_000, 50_000]) {
    const value: unknown = JSON.parse(nested(levels));
    assert.ok(jsonEqual(value, JSON.parse(nested(levels))));
    assert.ok(!jsonEqual(value, JSON.parse(nested(levels, '2'))));
    assert.ok(!jsonEqual(value, JSON.parse(nested(levels, '{"b":1}'))));
    assert.equal(goJson(value), nested(levels));
  }
});
