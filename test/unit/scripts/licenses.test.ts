import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { packageDirs, readBundled, thirdPartyLicenses } from '../../../scripts/licenses.ts';
import { tempDir } from '../../support/temp-dir.ts';

test('of each package with bundled code, scoped and nested ones too, the folder is listed once', () =>
  assert.deepEqual(
    packageDirs([
      'cli/main.ts',
      'node_modules/yaml/dist/index.js',
      'node_modules/yaml/dist/nodes/Node.js',
      'node_modules/@kubernetes/client-node/dist/exec_auth.js',
      'node_modules/yargs/node_modules/cliui/index.js',
    ]),
    ['node_modules/@kubernetes/client-node', 'node_modules/yaml', 'node_modules/yargs/node_modules/cliui'],
  ));

test('the license text of a package is its own, with name and version', () => {
  const yaml = readBundled('node_modules/yaml');
  const text = thirdPartyLicenses([yaml]);
  assert.match(text, new RegExp(`yaml ${yaml.version.replaceAll('.', '\\.')} \\(ISC\\)`));
  assert.match(text, /Copyright Eemeli Aro/);
});

test('a package that is bundled twice in one version is listed once', () => {
  const yaml = readBundled('node_modules/yaml');
  assert.equal(thirdPartyLicenses([yaml, { ...yaml, dir: 'node_modules/x/node_modules/yaml' }]), thirdPartyLicenses([yaml]));
});

test('a package without a license file is not shipped', async (t) => {
  const dir = await tempDir(t);
  await writeFile(join(dir, 'package.json'), '{"name":"bare","version":"1.0.0"}');
  assert.throws(() => readBundled(dir), /cannot bundle bare: .* has no license file/);
});
