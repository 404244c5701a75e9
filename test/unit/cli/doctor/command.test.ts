import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { checksOnPage } from './rows.ts';
import { clusterTopics, nodeTopics } from '../../../../cli/doctor/command.ts';
import type { Exec } from '../../../../base/exec.ts';
import { nodeOnDisk } from '../../../support/node-on-disk.ts';
import { tempDir } from '../../../support/temp-dir.ts';

type Line = { check: string; ok: boolean; result: string; detail: string };

/** A systemd that has both units up, and a kubelet that says its version. */
const answers: Exec = async (program, args) => {
  if (program === '/usr/bin/kubelet') return { code: 0, stdout: 'Kubernetes v1.30.1\n', stderr: '' };
  if (args[0] === '--version') return { code: 0, stdout: 'systemd 255 (255.4)\n', stderr: '' };
  const state = 'LoadState=loaded UnitFileState=enabled ActiveState=active Restart=always StartLimitIntervalUSec=0 NeedDaemonReload=no';
  const command = 'path=/usr/bin/kubelet ; argv[]=/usr/bin/kubelet --config=/elsewhere.yaml --kubeconfig=/k ; ignore_errors=no';
  const sync = `path=${resolve('systemd/kubelet-sync')} ; code=exited ; status=0`;
  const lines = [...state.split(' '), `ExecStart={ ${command} }`, `ExecStartPost={ ${sync} }`];
  return { code: 0, stdout: `${lines.join('\n')}\n`, stderr: '' };
};

test('every check is on the page, in the order of the report', () => {
  const names = [nodeTopics, clusterTopics].map((topics) => topics.flatMap(({ checks }) => checks.map(({ name }) => name)));
  assert.deepEqual(checksOnPage, [...new Set(names.flat())]);
});

test('the report names what is wrong, with a remedy, and exits with 1', async (t) => {
  const node = await nodeOnDisk(t, { kubeletUnit: 'kubelet.service' });
  const { code, stdout, stderr } = await node.dkcIn({ exec: answers }, 'doctor', '-o', 'json');
  assert.equal(code, 1, stderr);
  const lines = new Map((JSON.parse(stdout) as Line[]).map((line) => [line.check, line]));
  const results = ['settings', 'systemd-version', 'agent-unit', 'drop-in', 'config-flag', 'kubelet-version', 'store'].map((name) => `${name} ${lines.get(name)?.result}`); // prettier-ignore
  assert.equal(results.join(', '), 'settings ok, systemd-version ok, agent-unit ok, drop-in failed, config-flag failed, kubelet-version ok, store ok'); // prettier-ignore
  for (const { check, ok, result } of lines.values()) assert.equal(ok, result !== 'failed', check);
  assert.match(lines.get('config-flag')?.detail ?? '', /--config=\/elsewhere\.yaml, not with .*\/kubelet\.yaml/);
  assert.match(stderr, /^dkc: \d of \d+ checks failed: drop-in, /);
});

test('settings that cannot be read are a finding, and the other checks go on with the defaults', async (t) => {
  const { code, stdout } = await (await nodeOnDisk(t, { maxPod: '3' })).dkc('doctor');
  assert.equal(code, 1);
  assert.match(stdout, /^settings +failed +Cannot use \S+agent\.yaml: unknown key maxPod.*\n[^]*^agent-unit +skipped/m);
});

test('the file of kubeletArgs is read as the agent reads it: its flags count, and the agent does not start without it', async (t) => {
  const args = join(await tempDir(t), 'args');
  const { dkc } = await nodeOnDisk(t, { kubeletArgs: args });
  assert.match((await dkc('doctor')).stdout, /^settings +failed +Cannot read the arguments of the kubelet from \S+: .*ENOENT/m);
  await writeFile(args, '--max-pods=20\n');
  const { stdout } = await dkc('doctor');
  assert.match(stdout, /^settings +ok/m);
  assert.match(stdout, /^kubelet-flags +warning .*max-pods/m);
});

test('flags of the way to a cluster go with --cluster alone, and one that does not answer cannot be looked at', async (t) => {
  const { dkc, dkcIn } = await nodeOnDisk(t);
  const { code, stderr } = await dkc('doctor', '--context=x');
  assert.deepEqual([code, stderr], [2, 'dkc: doctor: --context requires --cluster; see dkc doctor --help\n']);
  const away = await dkcIn({ connect: () => Promise.reject(new Error('no route')) }, 'doctor', '--cluster');
  assert.deepEqual([away.code, away.stdout], [3, '']);
});
