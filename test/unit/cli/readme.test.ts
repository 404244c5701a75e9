import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { nativeSupport } from '../../../agent/status/choose-carrier.ts';
import { NEWEST_MINOR, OLDEST_MINOR } from '../../../agent/config/version.ts';
import { NEWEST_RELEASE, OLDEST_RELEASE } from '../../../cli/deploy/manifests.ts';

const page = await readFile(new URL('../../../README.md', import.meta.url), 'utf8');
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .map((line) => line.split('|').map((cell) => cell.trim()));

const lastNative = (): number => {
  let minor = OLDEST_RELEASE;
  while (nativeSupport(`v1.${minor + 1}.0`, false, undefined) !== 'dropped') minor++;
  return minor;
};

const cases = [
  { row: /^kubelets/, from: OLDEST_MINOR, to: NEWEST_MINOR },
  { row: /^API servers, assignment in a `NodeConfig`/, from: OLDEST_RELEASE, to: NEWEST_RELEASE },
  { row: /^API servers, assignment in `Node\.spec\.configSource`/, from: OLDEST_RELEASE, to: lastNative() },
];
for (const { row, from, to } of cases) {
  test(`the first screen says what the code supports: ${row.source}`, () => {
    const [, , versions = ''] = rows.find(([, name = '']) => row.test(name)) ?? [];
    assert.match(versions, new RegExp(`^1\\.${from} to 1\\.${to}(,|$)`));
  });
}

test('the table of what is supported stands on the first screen', () => {
  assert.ok(page.slice(0, page.indexOf('| supported |')).split('\n').length < 30);
});
