import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cpuList, memoryTotal, policyName } from '../../../../agent/host/command-line.ts';

// prettier-ignore
const lists: { text: string; is: number[] | undefined }[] = [
  { text: '0\n', is: [0] },
  { text: '0-3', is: [0, 1, 2, 3] },
  { text: '0-1,8,10-11\n', is: [0, 1, 8, 10, 11] },
  { text: '', is: undefined },
  { text: 'all', is: undefined },
  { text: '0-', is: undefined },
  { text: '0-99999999', is: undefined },
];
for (const { text, is } of lists)
  test(`CPU list ${JSON.stringify(text)} ${is ? 'is read' : 'is not one'}`, () => assert.deepEqual(cpuList(text), is));

test('memory is counted in bytes', () => {
  assert.equal(memoryTotal('MemTotal:       24576000 kB\nMemFree: 1 kB\n'), 24_576_000n * 1024n);
  assert.equal(memoryTotal('MemFree: 1 kB\n'), undefined);
});

test('a state file tells its policy, and a broken one nothing', () => {
  assert.equal(policyName('{"policyName":"static","defaultCpuSet":"0-3"}'), 'static');
  for (const text of ['', '{', 'null', '[]', '{"policyName":1}']) assert.equal(policyName(text), undefined, text);
});
