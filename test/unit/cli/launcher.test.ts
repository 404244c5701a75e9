import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmod, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { launcherFlag } from '../../../scripts/node-flag.ts';
import { tempDir } from '../../support/temp-dir.ts';

/** The installed launcher, with another folder than /usr/lib/dkc and a program in place of Node.js that prints what it is given. */
async function installed(t: Parameters<typeof tempDir>[0]): Promise<string> {
  const dir = await tempDir(t);
  const path = join(dir, 'dkc');
  await writeFile(path, (await readFile('systemd/dkc', 'utf8')).replaceAll('/usr/lib/dkc', dir));
  await writeFile(join(dir, 'node'), '#!/bin/sh\necho "$DKC_CALLED_AS $#: $*"\n');
  await symlink('dkc', join(dir, 'kubectl-dkc'));
  for (const program of [path, join(dir, 'node')]) await chmod(program, 0o755);
  return dir;
}

test('the launcher hands every argument to the command, and the name that it has', async (t) => {
  const dir = await installed(t);
  const run = (name: string): string => spawnSync(join(dir, name), ['nodes', 'a b'], { encoding: 'utf8' }).stdout;
  assert.equal(run('dkc'), `dkc 4: ${launcherFlag()} ${dir}/dkc.js nodes a b\n`);
  assert.equal(run('kubectl-dkc'), `kubectl-dkc 4: ${launcherFlag()} ${dir}/dkc.js nodes a b\n`);
});

test('a closed standard output ends the command before it does anything', async (t) => {
  const dir = await installed(t);
  const { status, stderr } = spawnSync('sh', ['-c', `${dir}/dkc nodes >&-`], { encoding: 'utf8' });
  assert.deepEqual([status, stderr.includes('standard output is closed')], [3, true]);
});
