import assert from 'node:assert/strict';
import { test } from 'node:test';
import { closingLines, mergedClosing } from '../../../scripts/closing-lines.ts';

const one = '✔ a (1ms)\nℹ tests 2\nℹ suites 1\nℹ pass 1\nℹ fail 1\nℹ duration_ms 12.5\n\n✖ failing tests:\n';
const other = 'ok 1 - b\n# tests 3\n# suites 0\n# pass 3\n# fail 0\n# duration_ms 40\n';

test('the closing lines of several runs are one sum', () => {
  assert.equal(
    mergedClosing([closingLines(one), closingLines(other)]),
    'ℹ all 2 parts together\nℹ tests 5\nℹ suites 1\nℹ pass 4\nℹ fail 1\nℹ duration_ms 52.5\n',
  );
});

test('a run that ended before its end counts for nothing', () => assert.equal(closingLines('✔ a (1ms)\n').size, 0));
