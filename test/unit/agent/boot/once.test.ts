import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { config, HandMadeNode, numbered } from './hand-made-store.ts';

const main = join(import.meta.dirname, '../../../../cli/main.ts');

type Ran = Record<'stdout' | 'stderr', string> & { code: number | null };

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

// prettier-ignore
const runs: { why: string; assigned?: string; flags?: string[]; blocked?: true; code: number; says: RegExp; pods?: number }[] = [
  { why: 'a good assignment', code: 0, says: /"used": "assigned"[^]*"resourceVersion": "rv-1"[^]*"error": null[^]*"changed": true/, pods: 41 },
  { why: 'an invalid one', assigned: config('maxPods: -1'), code: 0, says: /"used": "last-known-good"[^]*"rv-2"[^]*"error": "failed to validate config, see Kubelet log/, pods: 42 },
  { why: 'bad flags', flags: ['--merge=both'], code: 2, says: /--merge/ },
  { why: 'a directory where the file should be', blocked: true, code: 1, says: /"error": "internal failure, see Kubelet log for details"/ },
];
for (const { why, assigned, flags, blocked, code, says, pods } of runs)
  test(`dkc agent run --once with ${why} ends with ${code}`, async (t) => {
    const node = await prepared(t, assigned);
    if (blocked) await mkdir(join(node.root, 'kubelet.yaml'));
    const ran = await once(node, flags);
    assert.equal(ran.code, code, ran.stderr);
    assert.match(code === 2 ? ran.stderr : ran.stdout, says);
    if (pods === undefined) return;
    const text = await node.effective();
    assert.match(text, new RegExp(`maxPods: ${pods}\\n`));
    assert.ok(ran.stdout.includes(createHash('sha256').update(text).digest('hex')));
  });
