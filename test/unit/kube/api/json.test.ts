import assert from 'node:assert/strict';
import { test } from 'node:test';
import { array, assert as holds, jsonValue, property, string } from 'fast-check';
import { goJson, inGoJson, jsonEqual, jsonTextOf } from '../../../../kube/api/json.ts';

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

test("Go's JSON of a long text of anything is as of its parts", () => {
  holds(
    property(array(string({ unit: 'binary', maxLength: 30 }), { maxLength: 20 }), (parts) => {
      const filling = 'x'.repeat(10_000);
      const whole = goJson(filling + parts.join('|'));
      assert.equal(whole, `"${filling}${parts.map((part) => goJson(part).slice(1, -1)).join('|')}"`);
    }),
  );
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
