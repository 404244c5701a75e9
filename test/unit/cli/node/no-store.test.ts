import assert from 'node:assert/strict';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { nodeCommands } from '../../../../cli/node/commands.ts';
import { nodeOnDisk } from '../../../support/node-on-disk.ts';
import { tempDir } from '../../../support/temp-dir.ts';

// `doctor` says it in the row of a check, and `node-flags` is a page of help.
const commands = nodeCommands.filter(({ name, hidden }) => name !== 'doctor' && hidden !== true);

const notADirectory = '(\\S+/file) is not a directory; move it away .*--dynamic-config-dir';
for (const [why, below, says] of [
  ['that is a file', 'file', notADirectory],
  ['below a file', 'file/below', notADirectory],
  ['that is not there', 'nothing', '.*there is no store; start dkc-agent.*'],
] as const)
  test(`a dynamic config directory ${why} is named by every command, in one line, and not made`, async (t) => {
    const { dkc } = await nodeOnDisk(t);
    const dir = await tempDir(t);
    await writeFile(join(dir, 'file'), 'x');
    for (const entry of commands) {
      const { name } = entry;
      const refs = (await entry.load()).positionals.filter(({ required }) => required).map(() => 'assigned');
      const ran = await dkc(...name.split(' '), ...refs, `--dynamic-config-dir=${join(dir, below)}`);
      assert.deepEqual([ran.code, ran.stdout], [3, ''], name);
      assert.equal(ran.stderr.trimEnd().split('\n').length, 1);
      assert.match(ran.stderr, new RegExp(`^dkc: Cannot open store .*/store: ${says}\n$`), name);
    }
    assert.deepEqual(await readdir(dir), ['file']);
  });
