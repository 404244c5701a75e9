import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { mkdir, open, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { statusErrors } from '../../../agent/status/node-config-state.ts';
import { completesForKubectl, nodeProblem, outliveReaders } from '../../../cli/program.ts';
import { nodeOnDisk } from '../../support/node-on-disk.ts';
import { tempDir } from '../../support/temp-dir.ts';

/** `dkc` in a process of its own. */
function dkc(argv: readonly string[], { node = [], stdout = 'pipe' }: { node?: string[]; stdout?: 'pipe' | number } = {}) {
  const child = spawn(process.execPath, [...node, 'cli/main.ts', ...argv], { stdio: ['pipe', stdout, 'pipe'] });
  const said = { out: '', err: '' };
  child.stdout?.on('data', (text: Buffer) => (said.out += text.toString()));
  child.stderr?.on('data', (text: Buffer) => (said.err += text.toString()));
  child.stdin?.on('error', () => {}); // where it ends with text left over
  const ended = once(child, 'close').then(([code, signal]) => ({ code: (code ?? signal) as unknown, stdout: said.out, stderr: said.err }));
  return { child, ended };
}
/** A module that is loaded before the command. */
const hooked = (text: string): string[] => ['--import', `data:text/javascript,${encodeURIComponent(text)}`];
/** More than a pipe holds: when it is gone the command reads, and its handlers are there. */
const padding = `#${' '.repeat(256 * 1024)}\n`;

test('agent run --once boots and loads no parser, no table, no client library and no server; it ends with 1 where the file cannot be written', async (t) => {
  const dir = await tempDir(t);
  await writeFile(join(dir, 'local.yaml'), 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: 55\n');
  const settings = `dynamicConfigDir: ${dir}/d\nlocalConfig: ${dir}/local.yaml\nkubeletUnit: ""\nkubeletVersion: 1.30\n`;
  await writeFile(join(dir, 'agent.yaml'), settings);
  const node = hooked(`import { registerHooks } from 'node:module'; registerHooks({ load: (url, context, next) => { process.stderr.write('LOAD ' + url + '\\n'); return next(url, context); } });`); // prettier-ignore
  const argv = ['agent', 'run', '--once', `--agent-config=${dir}/agent.yaml`];
  const { code, stdout, stderr } = await dkc([...argv, '-o', 'json'], { node }).ended;
  assert.equal(code, 0, stderr);
  const { effective, ...said } = JSON.parse(stdout) as { effective: { path: string; sha256: string; changed: boolean } };
  assert.deepEqual(said, { used: 'local', source: null, error: null });
  assert.deepEqual([effective.path, effective.sha256.length, effective.changed], [`${dir}/d/kubelet.yaml`, 64, true]);
  assert.match(await readFile(effective.path, 'utf8'), /maxPods: 55/);
  const loaded = stderr.split('\n').filter((line) => line.startsWith('LOAD '));
  assert.ok(loaded.length > 10, 'the hook saw modules');
  const heavy =
    /node_modules\/(yargs|yargs-parser|cli-table3|picocolors|@kubernetes|diff|write-file-atomic)\/|\/(apiserver|controllers|scheduler)\//;
  assert.deepEqual(loaded.filter((line) => heavy.test(line)), []); // prettier-ignore

  assert.match((await dkc(argv).ended).stdout, /^used {7}local\nsource {5}local\nerror {6}-\neffective {2}.*kubelet\.yaml unchanged\n/);
  assert.equal((await dkc([...argv, '--merge=both']).ended).code, 2);
  await rm(`${dir}/d/kubelet.yaml`);
  await mkdir(`${dir}/d/kubelet.yaml`);
  const blocked = await dkc([...argv, '-o', 'json']).ended;
  assert.deepEqual([blocked.code, (JSON.parse(blocked.stdout) as { error: string }).error], [1, statusErrors.internal]);
});

test('an output that cannot be written is no success', async (t) => {
  const full = await open('/dev/full', 'w');
  t.after(() => full.close());
  const { code, stderr } = await dkc(['completion', 'bash'], { stdout: full.fd }).ended;
  assert.deepEqual([code, /^dkc: Cannot write the output: ENOSPC[^\n]*\n$/.test(stderr)], [3, true], stderr);
});

test('SIGINT ends a wait for standard input with one line', async () => {
  const { child, ended } = dkc(['validate', '-']);
  await new Promise((resolve) => child.stdin?.write(padding, resolve));
  child.kill('SIGINT');
  assert.deepEqual(await ended, { code: 130, stdout: '', stderr: 'dkc: interrupted\n' });
});

test('a second SIGINT ends a command on a disk that hangs, whether a read blocks the process or not', async (t) => {
  const { root } = await nodeOnDisk(t);
  execFileSync('mkfifo', [join(root, 'fifo')]); // nobody writes to it
  for (const open of ['fs.openSync', 'fs.promises.open']) {
    const node = hooked(`import fs from 'node:fs'; import { syncBuiltinESMExports } from 'node:module'; const open = ${open};
      ${open} = (path, ...how) => (String(path).includes('/meta/') ? (fs.writeSync(2, 'waits'), open('${root}/fifo')) : open(path, ...how)); syncBuiltinESMExports();`);
    const { child, ended } = dkc(['status', `--agent-config=${root}/../agent.yaml`], { node });
    assert.equal(String((await once(child.stderr as Readable, 'data'))[0]), 'waits');
    for (let n = 0; n < 20 && child.signalCode === null; n++) await Promise.race([child.kill('SIGINT') && ended, sleep(500)]);
    child.kill('SIGKILL'); // where the command goes on
    assert.equal((await ended).code, 'SIGINT'); // 130 in a shell
  }
});

test('the program that kubectl asks for completions completes, also what would run an agent', () => {
  assert.equal(completesForKubectl({}, '/opt/kubectl_complete-dkc'), true);
  assert.equal(completesForKubectl({ DKC_CALLED_AS: 'kubectl_complete-dkc' }, '/x/dkc.js'), true);
  const run = (...words: string[]): string =>
    spawnSync(process.execPath, ['cli/main.ts', ...words], { encoding: 'utf8', timeout: 60_000, env: { ...process.env, DKC_CALLED_AS: 'kubectl_complete-dkc' } }).stdout; // prettier-ignore
  assert.match(run('rollout', 'st'), /^status\t.*\n:4\n$/);
  assert.match(run('agent', 'run', '--mer'), /^--merge\t.*\n:4\n$/);
  assert.equal(run('validate', ''), ':0\n');
  assert.match(run('agent', 'run', '--once', '--help'), /^--help\t/);
});

test('a reader or a terminal that is gone is outlived; every other failure of a stream is remembered, the first one', () => {
  const [stdout, other] = [new EventEmitter(), new EventEmitter()];
  const failure = outliveReaders([stdout, other]);
  const failed = (code: string): Error => Object.assign(new Error(`write ${code}`), { code });
  // Without a listener the first of them would be thrown here, as Node does with an error that nobody minds.
  for (const code of ['EPIPE', 'EIO', 'ERR_STREAM_DESTROYED']) stdout.emit('error', failed(code));
  assert.equal(failure(), undefined);
  const full = failed('ENOSPC');
  for (const error of [full, failed('EFBIG')]) other.emit('error', error);
  assert.equal(failure(), full);
});

test('Node.js before 24 is refused', () => {
  assert.match(nodeProblem('20.20.2') ?? '', /^Node.js 24 or newer is required, but this is 20\.20\.2; /);
  assert.deepEqual(['24.0.0', '100.0.0'].map(nodeProblem), [undefined, undefined]);
});
