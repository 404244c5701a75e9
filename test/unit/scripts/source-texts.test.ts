import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sourceTexts } from '../../../scripts/source-texts.ts';

const cases = [
  { why: 'strings of all three kinds are texts', code: `a('one', "two", \`three\`)`, texts: ['one', 'two', 'three'] },
  { why: 'comments have none', code: `// it's\n/* don't */ a('one')`, texts: ['one'] },
  { why: 'a quote in a regular expression begins none', code: `a = /['"]/.test(b) ? 'one' : c / d / 'two'`, texts: ['one', 'two'] },
  { why: 'a regular expression may follow return', code: `return /'/.test('one')`, texts: ['one'] },
  { why: 'templates nest', code: "`a ${b(`c ${d} '`)} e` + 'f'", texts: ["a ${b(`c ${d} '`)} e", 'f'] },
  { why: 'an escaped quote ends none', code: `'it\\'s', 'two'`, texts: [`it\\'s`, 'two'] },
];
for (const { why, code, texts } of cases)
  test(`texts of a source file: ${why}`, () => assert.deepEqual(Array.from(sourceTexts(code), ({ text }) => text), texts)); // prettier-ignore

test('texts of a source file know their lines, behind a text of several as well', () => {
  assert.deepEqual([...sourceTexts("a\n`b\nc`\n'd'")].map(({ line }) => line), [2, 4]); // prettier-ignore
});
