import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { config, HandMadeNode, numbered } from './hand-made-store.ts';

const main = join(import.meta.dirname, '../../../../cli/main.ts');

interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** `dkc agent run --once`, as a process of its own. */
function once(node: HandMadeNode, flags: readonly string[] = []): Promise<Ran> {
  const command = [process.execPath, '--disable-warning=ExperimentalWarning', main, 'agent', 'run', '--once', '-o', 'json', `--agent-config=${join(node.dir, 'agent.yaml')}`, ...flags]; // prettier-ignore
  const [program = '', ...args] = command;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const said = { stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => (said.stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said.stderr += text));
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, ...said }));
  });
}

/** A node with two of upstream's checkpoints, the first one assigned, and its settings in agent.yaml. */
async function prepared(t: TestContext, assigned = config('maxPods: 41')): Promise<HandMadeNode> {
  const node = await HandMadeNode.make(t);
  await node.records(numbered(1), numbered(2));
  await node.checkpoint(numbered(1), { kubelet: assigned });
  await node.checkpoint(numbered(2), { kubelet: config('maxPods: 42') });
  const settings = { dynamicConfigDir: node.root, localConfig: node.local, kubeletVersion: '"1.30"', kubeletUnit: '""', policy: 'none' };
  await node.write(join(node.dir, 'agent.yaml'), Object.entries(settings).map(([key, value]) => `${key}: ${value}\n`).join('')); // prettier-ignore
  return node;
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const VALIDATE = 'failed to validate config, see Kubelet log for details';

// prettier-ignore
const runs: { why: string; assigned?: string; used: string; n?: number; error: string | null; pods: number }[] = [
  { why: 'a good assignment', used: 'assigned', n: 1, error: null, pods: 41 },
  { why: 'an invalid one', assigned: config('maxPods: -1'), used: 'last-known-good', n: 2, error: VALIDATE, pods: 42 },
];

test('dkc agent run --once prints the choice as json and ends with 0 whenever there is a usable file, also after a fall back', async (t) => {
  await Promise.all(
    runs.map(async (row) => {
      const node = await prepared(t, row.assigned);
      const { code, stdout, stderr } = await once(node);
      assert.equal(code, 0, `${row.why}: ${stderr}`);
      const text = await node.effective();
      const answer: unknown = JSON.parse(stdout);
      const effective = { path: join(node.root, 'kubelet.yaml'), sha256: sha256(text), changed: true };
      assert.deepEqual(
        answer,
        { used: row.used, source: row.n === undefined ? null : numbered(row.n), error: row.error, effective },
        row.why,
      );
      assert.match(text, new RegExp(`maxPods: ${row.pods}\\n`));
    }),
  );
});

test('dkc agent run --once ends with 2 for bad flags, and with 1 where no usable file can be had', async (t) => {
  const node = await prepared(t);
  const blocked = await prepared(t);
  await mkdir(join(blocked.root, 'kubelet.yaml')); // a directory where the file should be
  const [bad, none] = await Promise.all([once(node, ['--merge=both']), once(blocked)]);
  assert.equal(bad.code, 2, bad.stderr);
  assert.match(bad.stderr, /--merge/);
  assert.equal(none.code, 1, none.stderr);
  assert.match(none.stdout, /"error": "internal failure, see Kubelet log for details"/);
});
