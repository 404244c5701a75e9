import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFaults, plant } from '../../../scripts/mutants/faults.ts';

const [fault] = parseFaults('base', '# a comment\n\n@ base-sum base/sum.ts\n- return a\n- + b;\n+ return a - b;\n= sums are wrong\n');

const texts: { why: string; text: string; planted: string | RegExp }[] = [
  {
    why: 'fits once, however it is indented',
    text: 'f = () => {\n  return a\n      + b;\n};',
    planted: 'f = () => {\n  return a - b;\n};',
  },
  { why: 'does not fit any more', text: 'f = () => a + b;', planted: /^base-sum: the pattern occurs 0 times in base\/sum\.ts/ },
  { why: 'fits twice', text: 'return a\n+ b;\nreturn a\n+ b;', planted: /^base-sum: the pattern occurs 2 times/ },
  {
    why: 'leaves what is no TypeScript',
    text: 'f = ({ return a\n+ b; }',
    planted: /^base-sum: base\/sum\.ts does not parse with the fault/,
  },
];
for (const { why, text, planted } of texts)
  test(`a fault whose pattern ${why} is ${typeof planted === 'string' ? 'planted' : 'told'}`, () => {
    assert.ok(fault !== undefined);
    if (typeof planted === 'string') assert.equal(plant(fault, text), planted);
    else assert.throws(() => plant(fault, text), { message: planted });
  });

test('a fault without an effect cannot be read', () => {
  assert.throws(
    () => parseFaults('base', '@ base-sum base/sum.ts\n- a\n+ b'),
    /^Error: base: cannot read the fault that begins with @ base-sum/,
  );
});
