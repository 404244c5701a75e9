import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { formatGoDuration, goDuration } from '../../../base/go-duration.ts';

const cases: [text: string, nanoseconds: bigint | undefined, printed?: string][] = [
  ['0', 0n, '0s'],
  ['1h30m', 5_400_000_000_000n, '1h30m0s'],
  ['-1.5h', -5_400_000_000_000n, '-1h30m0s'],
  ['100ms', 100_000_000n, '100ms'],
  ['1.5µs', 1500n, '1.5µs'],
  ['1us', 1000n, '1µs'],
  ['+.5s', 500_000_000n, '500ms'],
  ['1.s', 1_000_000_000n, '1s'],
  ['0.1ns', 0n, '0s'],
  ['9223372036854775807ns', 9_223_372_036_854_775_807n, '2562047h47m16.854775807s'],
  ['-9223372036854775808ns', -9_223_372_036_854_775_808n, '-2562047h47m16.854775808s'],
  ['9223372036854775808ns', undefined],
  ['', undefined],
  ['1', undefined],
  ['1d', undefined],
  ['.s', undefined],
  ['s', undefined],
  ['--1s', undefined],
  ['1 s', undefined],
  ['1s1', undefined],
];
for (const [text, nanoseconds, printed] of cases) {
  test(`duration ${JSON.stringify(text)}`, () => {
    assert.equal(goDuration(text), nanoseconds);
    if (nanoseconds !== undefined) assert.equal(formatGoDuration(nanoseconds), printed);
  });
}

test('what is printed parses back to the same duration', () => {
  // Go itself loses nanoseconds of long fractions to float64; below a hundred hours nothing is lost.
  fc.assert(
    fc.property(fc.bigInt({ min: -360_000_000_000_000n, max: 360_000_000_000_000n }), (value) =>
      assert.equal(goDuration(formatGoDuration(value)), value),
    ),
  );
});
