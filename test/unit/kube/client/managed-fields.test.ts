import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assert as holds, jsonValue, property, string, record } from 'fast-check';
import { withoutManagedFields } from '../../../../kube/client/managed-fields.ts';

const lean = (text: string): string => Buffer.from(withoutManagedFields(Buffer.from(text))).toString();
const event = (object: string): string => `{"type":"MODIFIED","object":${object}}`;
const fields = String.raw`[{"manager":"a","fieldsV1":{"f:spec":{"k:{\"name\":\"]}\"}":{".":{}}}}}]`;

const cases = [
  {
    why: 'takes them out where servers write them',
    text: event(`{"kind":"Pod","metadata":{"name":"a","managedFields":${fields}},"spec":{"x":[1]}}`),
    left: event('{"kind":"Pod","metadata":{"name":"a"},"spec":{"x":[1]}}'),
  },
  { why: 'takes out empty ones', text: event('{"metadata":{"name":"a","managedFields":[]}}'), left: event('{"metadata":{"name":"a"}}') },
  { why: 'leaves what has none', text: event('{"metadata":{"name":"a"}}') },
  {
    why: 'leaves those of a template',
    text: event(`{"metadata":{"name":"a"},"spec":{"template":{"metadata":{"x":1,"managedFields":${fields}}}}}`),
  },
  { why: 'leaves what a spec calls so', text: event('{"metadata":{"name":"a"},"spec":{"x":1,"managedFields":[1]}}') },
  { why: 'leaves what is called so in a list', text: event('{"metadata":[1,{"x":1,"managedFields":[1]}]}') },
  { why: 'leaves those that come first', text: event(`{"metadata":{"managedFields":${fields},"name":"a"}}`) },
  {
    why: 'leaves a list of that name in text',
    text: event(String.raw`{"metadata":{"annotations":{"a":"{\"x\":1,\"managedFields\":[1]}"}}}`),
  },
  { why: 'leaves a list without an end', text: '{"type":"ADDED","object":{"metadata":{"name":"a","managedFields":[{"x":"' },
  { why: 'leaves a field of that name at the root', text: '{"type":"ADDED","managedFields":[1],"object":{"metadata":{}}}' },
];
for (const { why, text, left = text } of cases) test(`an event without managed fields ${why}`, () => assert.equal(lean(text), left));

test('an event without managed fields is otherwise what it was', () => {
  const shape = record({ name: string(), annotations: jsonValue(), managedFields: jsonValue() });
  holds(
    property(shape, jsonValue(), jsonValue(), (metadata, spec, before) => {
      const whole = { type: 'ADDED', object: { before, metadata, spec } };
      const { managedFields, ...rest } = metadata;
      const expected = Array.isArray(managedFields) ? { ...whole, object: { ...whole.object, metadata: rest } } : whole;
      const seen: unknown = JSON.parse(lean(JSON.stringify(whole)));
      // What stands before may hold a list of that name too: then the whole is left, and the parser sees all of it.
      if (!JSON.stringify(before).includes('managedFields')) assert.deepEqual(seen, JSON.parse(JSON.stringify(expected)));
    }),
  );
});
