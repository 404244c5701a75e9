import assert from 'node:assert/strict';
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../../../cli/main.ts', import.meta.url));

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

function dkc(argv: readonly string[], { node = [], env = {} }: { node?: string[]; env?: Record<string, string> } = {}): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(process.execPath, [...node, main, ...argv], { env: { ...process.env, ...env } }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr }),
    );
  });
}

async function scratch(t: TestContext): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'dkc-test-'));
  t.after(() => rm(dir, { recursive: true }));
  return dir;
}

test('agent run --once boots and loads no parser, no table, no client library and no server', async (t) => {
  const dir = await scratch(t);
  await writeFile(join(dir, 'local.yaml'), 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: 55\n');
  const settings = `dynamicConfigDir: ${dir}/d\nlocalConfig: ${dir}/local.yaml\nkubeletUnit: ""\nkubeletVersion: 1.30\n`;
  await writeFile(join(dir, 'agent.yaml'), settings);
  const hook = `import { registerHooks } from 'node:module'; registerHooks({ load: (url, context, next) => { process.stderr.write('LOAD ' + url + '\\n'); return next(url, context); } });`;
  const node = ['--import', `data:text/javascript,${encodeURIComponent(hook)}`];
  const { code, stdout, stderr } = await dkc(['agent', 'run', '--once', '-o', 'json', `--agent-config=${dir}/agent.yaml`], { node });
  assert.equal(code, 0, stderr);
  const answer = JSON.parse(stdout) as {
    used: string;
    source: null;
    error: null;
    effective: { path: string; sha256: string; changed: boolean };
  };
  const { effective, ...said } = answer;
  assert.deepEqual(said, { used: 'local', source: null, error: null });
  assert.deepEqual([effective.path, effective.sha256.length, effective.changed], [`${dir}/d/kubelet.yaml`, 64, true]);
  assert.match(await readFile(answer.effective.path, 'utf8'), /maxPods: 55/);
  const loaded = stderr.split('\n').filter((line) => line.startsWith('LOAD '));
  assert.ok(loaded.length > 10, 'the hook saw modules');
  const heavy =
    /node_modules\/(yargs|yargs-parser|cli-table3|picocolors|@kubernetes|diff|write-file-atomic)\/|\/(apiserver|controllers|scheduler)\//;
  assert.deepEqual(loaded.filter((line) => heavy.test(line)), []); // prettier-ignore

  const again = await dkc(['agent', 'run', '--once', `--agent-config=${dir}/agent.yaml`]);
  assert.match(again.stdout, /^used {7}local\nsource {5}local\nerror {6}-\neffective {2}.*kubelet\.yaml unchanged\n/);
});

test('a reader that goes away in the middle of the work neither ends it nor makes a wrong result fine', async () => {
  // Says a word as soon as the command waits for its input: the reader is found gone long before the result is there.
  const hook = `process.stdin.on('newListener', (event) => event === 'readable' && process.stdout.write('a word'));`;
  const node = ['--import', `data:text/javascript,${encodeURIComponent(hook)}`];
  const child = spawn(process.execPath, [...node, main, 'validate', '-', '--kubelet-version=1.29'], { stdio: 'pipe' });
  child.stdout.destroy();
  let stderr = '';
  child.stderr.on('data', (text: Buffer) => (stderr += text.toString()));
  const padding = `#${' '.repeat(256 * 1024)}\n`; // more than a pipe holds: when it is gone the command reads
  child.stdin.on('error', () => {}); // where it ended too early, the code below tells
  child.stdin.write(padding, () => child.stdin.end('apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: -1\n'));
  const [code] = (await once(child, 'close')) as [number];
  assert.equal(code, 1);
  assert.match(stderr, /is not valid for kubelet 1\.29/);
});

test(
  'an output that cannot be written is no success',
  { skip: existsSync('/dev/full') ? false : 'there is no /dev/full here' },
  async (t) => {
    const full = await open('/dev/full', 'w');
    t.after(() => full.close());
    const child = spawn(process.execPath, [main, 'completion', 'bash'], { stdio: ['ignore', full.fd, 'pipe'] });
    let stderr = '';
    child.stderr?.on('data', (text: Buffer) => (stderr += text.toString()));
    const [code] = (await once(child, 'close')) as [number];
    assert.equal(code, 3);
    assert.match(stderr, /^dkc: Cannot write the output: ENOSPC[^\n]*\n$/);
  },
);

test('help of agent run comes through the front door; DKC_DEBUG shows stacks', async () => {
  const help = await dkc(['agent', 'run', '--help']);
  assert.equal(help.code, 0);
  assert.match(help.stdout, /--trial-duration=TIME +healthy time before a config is trusted \(default: 10m\)/);
  const failed = await dkc(['validate', '/nowhere/x'], { env: { DKC_DEBUG: '1' } });
  assert.equal(failed.code, 3);
  assert.match(failed.stderr, /^dkc: Cannot read \/nowhere\/x: no such file.*\n.*\n +at /);
});

test('SIGINT ends a wait for standard input with one line', async () => {
  const child = spawn(process.execPath, [main, 'validate', '-'], { stdio: ['pipe', 'ignore', 'pipe'] });
  let stderr = '';
  child.stderr.on('data', (text: Buffer) => (stderr += text.toString()));
  await readsStdin(child);
  child.kill('SIGINT');
  const [code] = (await once(child, 'close')) as [number];
  assert.deepEqual([code, stderr], [130, 'dkc: interrupted\n']);
});

/** Writes more than a pipe holds to its standard input: when it is gone the command reads, and its handlers are there. */
function readsStdin({ stdin }: ChildProcess): Promise<void> {
  assert.ok(stdin);
  stdin.on('error', () => {}); // it ends with text left over
  return new Promise((resolve) => stdin.write(Buffer.alloc(256 * 1024, '#'), () => resolve()));
}
