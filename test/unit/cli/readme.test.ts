import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { nativeSupport } from '../../../agent/status/choose-carrier.ts';
import { NEWEST_MINOR, OLDEST_MINOR } from '../../../agent/config/version.ts';
import { NEWEST_RELEASE, OLDEST_RELEASE } from '../../../cli/deploy/manifests.ts';

const page = await readFile(new URL('../../../README.md', import.meta.url), 'utf8');
/** The last release of which servers keep Node.spec.configSource. */
function lastNative(): number {
  let minor = OLDEST_RELEASE;
  while (nativeSupport(`v1.${minor + 1}.0`, false, undefined) !== 'dropped') minor++;
  return minor;
}

test('the first screen of README.md has the versions that the code supports', () => {
  const table = page.slice(page.indexOf('| supported |')).split('\n\n')[0] ?? '';
  assert.ok(page.slice(0, page.indexOf('| supported |')).split('\n').length < 30);
  assert.match(table, new RegExp(`^\\| kubelets[^|]*\\| 1\\.${OLDEST_MINOR} to 1\\.${NEWEST_MINOR}\\b`, 'm'));
  assert.match(
    table,
    new RegExp(`^\\| API servers, assignment in a \`NodeConfig\`[^|]*\\| 1\\.${OLDEST_RELEASE} to 1\\.${NEWEST_RELEASE}\\b`, 'm'),
  );
  assert.match(
    table,
    new RegExp(
      `^\\| API servers, assignment in \`Node\\.spec\\.configSource\`[^|]*\\| 1\\.${OLDEST_RELEASE} to 1\\.${lastNative()}\\b`,
      'm',
    ),
  );
});
