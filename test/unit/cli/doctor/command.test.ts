import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { checksOnPage } from './rows.ts';
import { clusterTopics, nodeTopics, exitOf, reportText } from '../../../../cli/doctor/command.ts';
import type { Exec } from '../../../../base/exec.ts';
import { nodeOnDisk } from '../../../support/node-on-disk.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { type Bounds, type Check, examineAll, type Finding, ok, type Seen, seen, the, topic } from '../../../../cli/doctor/check.ts';
import { paintFor } from '../../../../cli/output/output.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

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

const number: Check<Seen<number>> = { name: 'number', wants: 'a number', decide: (fact) => ok(String(the(fact))) };
const broken: Check<unknown> = { name: 'broken', wants: 'nothing', decide: () => assert.fail('no such member') };
const bounds = (over: Partial<Bounds> = {}): Bounds => ({ clock: new FakeClock(), signal: new AbortController().signal, timeoutMs: 5000, ...over }); // prettier-ignore

test('a check that throws, a fact that is not known and a gatherer that fails stop nobody else', async () => {
  const denied = Object.assign(new Error('EACCES: permission denied, open'), { code: 'EACCES', path: '/etc/dkc/agent.yaml' });
  const ones = topic([number], async () => ({ seen: 1 }));
  const failing = [topic([broken], async () => ({ seen: 1 })), topic([number], async () => seen(() => Promise.reject(denied))), topic([number], () => Promise.reject(new Error('no such disk')))]; // prettier-ignore
  const found = await examineAll([...failing, ones], undefined, bounds());
  const told = found.map(({ check, result, detail }) => `${check} ${result}: ${detail}`);
  assert.deepEqual(told, [
    'broken skipped: this check has an internal error: no such member',
    'number skipped: permission denied: /etc/dkc/agent.yaml; run this as root',
    'number skipped: no such disk',
    'number ok: 1',
  ]);
});

test('what does not answer is skipped when its time is over, and told to stop', async () => {
  const clock = new FakeClock();
  let told: AbortSignal | undefined;
  const hangs = topic([number], (_, signal) => {
    told = signal;
    return new Promise<Seen<number>>(() => {});
  });
  const found = examineAll([hangs, topic([number], async () => ({ seen: 1 }))], undefined, bounds({ clock }));
  await clock.advance(4999);
  assert.equal(told?.aborted, false);
  await clock.advance(1);
  assert.deepEqual((await found).map(({ detail }) => detail), ['no answer within 5 s', '1']); // prettier-ignore
  assert.equal(told?.aborted, true);
});

const how = { wide: false, paint: paintFor({ env: {} }, { isTTY: false }), columns: undefined };

test('remedies are beneath the table, in its order', async () => {
  const findings: Finding[] = [{ check: 'a', result: 'ok', detail: 'fine' }, { check: 'b', result: 'failed', detail: 'is\u001b[31m masked', remedy: 'systemctl unmask b' }]; // prettier-ignore
  const text = await reportText(findings, new Map([['a', 'all well']]), how);
  const table = 'CHECK   RESULT   DETAIL\na       ok       fine\nb       failed   is\\u001b[31m masked\n';
  assert.equal(text, `${table}\nWhat to do:\n  b: systemctl unmask b\n`);
  assert.match(await reportText(findings, new Map([['a', 'all well']]), { ...how, wide: true }), /^a +ok +all well +fine$/m);
});

test('the exit code is 1 only where a check failed, and 3 where nothing could be looked at', () => {
  const of = (...results: Finding['result'][]) => results.map((result, at) => ({ check: `c${at}`, result, detail: 'x' }));
  assert.equal(exitOf(of('ok', 'warning', 'skipped'), 'this node').code, 0);
  assert.deepEqual(exitOf(of('ok', 'failed', 'failed'), 'this node'), { code: 1, why: '2 of 3 checks failed: c1, c2' });
  assert.throws(() => exitOf(of('skipped', 'skipped'), 'this node'), /Cannot check this node: x/);
});
