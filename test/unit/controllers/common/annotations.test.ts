import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AnnotationReader, countOrShare } from '../../../../controllers/common/annotations.ts';

const shares: { why: string; text: string; is: number | string | undefined }[] = [
  { why: 'a count', text: '3', is: 3 },
  { why: 'a share', text: '30%', is: '30%' },
  { why: 'more than all', text: '101%', is: undefined },
  { why: 'more digits than anybody means', text: '1234567890', is: undefined },
  { why: 'nothing', text: '', is: undefined },
];
for (const { why, text, is } of shares) test(`a count or share: ${why}`, () => assert.equal(countOrShare(text), is));

const durations: { why: string; text: string; is: number | undefined }[] = [
  { why: 'minutes', text: '10m', is: 600_000 },
  { why: 'less than can be told apart', text: '1us', is: 1 },
  { why: 'nothing', text: '0s', is: undefined },
  { why: 'no unit', text: '10', is: undefined },
];
for (const { why, text, is } of durations)
  test(`a duration: ${why}`, () => {
    const reader = new AnnotationReader({ wait: text });
    assert.equal(reader.duration('wait'), is);
    assert.deepEqual(reader.problems, is === undefined ? [`wait is ${JSON.stringify(text)}; write a duration above 0, such as "10m"`] : []);
  });

const flags: { why: string; annotations: Record<string, string>; is: boolean; problems?: string[] }[] = [
  { why: 'absent', annotations: {}, is: false },
  { why: 'on', annotations: { on: 'true' }, is: true },
  { why: 'in other letters', annotations: { on: 'True' }, is: false, problems: ['on is "True"; write "true" or "false"'] },
];
for (const { why, annotations, is, problems = [] } of flags)
  test(`a flag that is ${why}`, () => {
    const reader = new AnnotationReader(annotations);
    assert.equal(reader.flag('on'), is);
    assert.deepEqual(reader.problems, problems);
  });

test('an annotation that every object seems to have is not there', () => {
  const read = new AnnotationReader({}).read('constructor', () => 'read', '');
  assert.equal(read, undefined);
});

test('a problem shows the beginning of what is long', () => {
  const reader = new AnnotationReader({ on: 'x'.repeat(1_000) });
  reader.flag('on');
  assert.deepEqual(reader.problems, [`on is "${'x'.repeat(60)}"; write "true" or "false"`]);
});
