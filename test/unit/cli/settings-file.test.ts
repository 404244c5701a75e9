import assert from 'node:assert/strict';
import { test } from 'node:test';
import { array, assert as holds, constantFrom, oneof, property, tuple } from 'fast-check';
import { libraryLines, plainLines } from '../../../cli/agent/settings.ts';

const refuse = (problem: string): Error => new Error(problem);
const words = `10m 1m30s 0 007 1.30 1e3 0x1f 0o7 1_000 .inf ~ null Null true True yes on "" '' "1.30" 'it''s' "a\\n" /etc/dkc
  http://127.0.0.1:10248/healthz 127.0.0.1:10460 [::1]:1 a: &a *a !!str {} - ? @a # : a nodeName \u00e9 --- 2026-01-01 12:30:45 | >`;
const piece = constantFrom(...words.split(/\s+/), 'a b', 'a: b', '`', ' # x', ' ', ': ', '- ', '\t');
const line = oneof(
  tuple(
    constantFrom('a', 'b', 'nodeName', 'true', 'null'),
    constantFrom(': ', ':  ', ':', ' : '),
    piece,
    constantFrom('', ' ', ' # x', '#x'),
  ).map((parts) => parts.join('')),
  array(piece, { maxLength: 4 }).map((parts) => parts.join('')),
);

test('whatever is read without the YAML library is what the library reads', () => {
  let simple = 0;
  holds(
    property(array(line, { maxLength: 3 }), (lines) => {
      const text = lines.join('\n');
      const read = plainLines(text);
      if (read === undefined) return;
      simple++;
      const values = (all: typeof read): unknown[] =>
        all.map(({ name, scalar }) => [name, scalar?.value, typeof scalar?.value === 'number' ? scalar.source : undefined]);
      assert.deepEqual(values(read), values(libraryLines(text, refuse)), JSON.stringify(text));
    }),
    { numRuns: 5_000 },
  );
  assert.ok(simple > 500, `${simple} texts were simple`);
});
