import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { config, HandMadeNode, numbered } from './hand-made-store.ts';

const main = join(import.meta.dirname, '../../../../cli/main.ts');

interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** `dkc agent run --once`, as a process of its own. @param before - shell commands in a mount namespace of its own, as root */
function once(node: HandMadeNode, { flags = [], before }: { flags?: readonly string[]; before?: string } = {}): Promise<Ran> {
  const command = [process.execPath, '--disable-warning=ExperimentalWarning', main, 'agent', 'run', '--once', '-o', 'json', `--agent-config=${join(node.dir, 'agent.yaml')}`, ...flags]; // prettier-ignore
  const [program = '', ...args] =
    before === undefined ? command : ['unshare', '-m', '--propagation', 'private', 'sh', '-ec', `${before}\nexec "$@"`, 'sh', ...command];
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

const LOAD = 'failed to load config, see Kubelet log for details';
const VALIDATE = 'failed to validate config, see Kubelet log for details';
const INTERNAL = 'internal failure, see Kubelet log for details';

// prettier-ignore
const runs: { why: string; make?: (node: HandMadeNode) => Promise<void>; assigned?: string; flags?: string[]; used: string; n?: number; error: string | null; pods: number }[] = [
  { why: 'a good assignment', used: 'assigned', n: 1, error: null, pods: 41 },
  { why: 'an invalid one', assigned: config('maxPods: -1'), used: 'last-known-good', n: 2, error: VALIDATE, pods: 42 },
  { why: 'a damaged record', make: (node) => node.write(node.path('meta', 'assigned'), 'garbage'), used: 'last-known-good', n: 2, error: INTERNAL, pods: 42 },
  { why: 'nothing that loads', make: (node) => rm(node.path('checkpoints'), { recursive: true }), used: 'local', error: LOAD, pods: 110 },
];

test('dkc agent run --once prints the choice as json and ends with 0 whenever there is a usable file, also after a fall back', async (t) => {
  await Promise.all(
    runs.map(async (row) => {
      const node = await prepared(t, row.assigned);
      await row.make?.(node);
      const { code, stdout, stderr } = await once(node, { flags: row.flags ?? [] });
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
  const [bad, none] = await Promise.all([once(node, { flags: ['--merge=both'] }), once(blocked)]);
  assert.equal(bad.code, 2, bad.stderr);
  assert.match(bad.stderr, /--merge/);
  assert.equal(none.code, 1, none.stderr);
  assert.match(none.stdout, /"error": "internal failure, see Kubelet log for details"/);
});

test('the dynamic config directory may be a symbolic link: the store behind it is locked and used, and the link stays', async (t) => {
  const node = await prepared(t);
  const [real, chain] = [join(node.dir, 'data'), join(node.dir, 'chain')];
  await rename(node.root, real);
  await symlink(real, chain);
  await symlink('chain', node.root);
  const { code, stdout, stderr } = await once(node);
  assert.equal(code, 0, stderr);
  const { used, effective } = JSON.parse(stdout) as { used: string; effective: { path: string; changed: boolean } };
  assert.deepEqual([used, effective.path, effective.changed], ['assigned', join(real, 'kubelet.yaml'), true]);
  assert.match(await readFile(join(node.root, 'kubelet.yaml'), 'utf8'), /maxPods: 41\n/);
  assert.doesNotMatch(stderr, /lock/);
  assert.match(await readFile(node.path('journal.jsonl'), 'utf8'), /"booted"/);
});

test('something else in the place of the dynamic config directory is one error with its remedy, and nothing is changed', async (t) => {
  const inTheWay: [string, (root: string, dir: string) => Promise<void>, RegExp][] = [
    [
      'a link that leads nowhere',
      (root, dir) => symlink(join(dir, 'nowhere'), root),
      /it is a symbolic link that leads to no directory: make that directory/,
    ],
    ['a link to itself', (root) => symlink(root, root), /it is a symbolic link that leads to no directory/],
    [
      'a file',
      (root) => writeFile(root, 'x'),
      /it is a file, not a directory: move it away, or set another directory with --dynamic-config-dir/,
    ],
    ['a link to a file', (root, dir) => symlink(join(dir, 'agent.yaml'), root), /it is a file, not a directory/],
  ];
  for (const [what, make, says] of inTheWay) {
    const node = await prepared(t);
    await rm(node.root, { recursive: true });
    await make(node.root, node.dir);
    const { code, stdout, stderr } = await once(node);
    assert.deepEqual([code, stdout], [1, ''], what);
    assert.match(stderr, /^dkc: Cannot use .*\n$/, `${what}: one line`);
    assert.match(stderr, says, what);
  }
  const below = await prepared(t);
  await rm(below.root, { recursive: true });
  const flags = [`--dynamic-config-dir=${join(below.dir, 'agent.yaml', 'dkc')}`];
  assert.match((await once(below, { flags })).stderr, /^dkc: Cannot use .*: a part of its path is not a directory: move that away/);
});

const skip = cannotMount();

test('a read-only disk and a full one, for real: the file that is there stays, and exit is 0', { skip }, async (t) => {
  const onReadOnly = await prepared(t);
  await onReadOnly.boot();
  await onReadOnly.checkpoint(numbered(1), { kubelet: config('maxPods: 43') }); // torn: its manifest says otherwise
  const bare = await prepared(t);
  await bare.write(bare.options.effectiveConfig, config('maxPods: 77'));
  const full = await prepared(t);
  const mountReadOnly = (node: HandMadeNode): string => `mount --bind ${node.root} ${node.root}; mount -o remount,bind,ro ${node.root}`;
  // A tmpfs of a few pages with a copy of the store on it, filled to the last byte; what it holds afterwards goes to stdout's side, a file.
  const fill = `cp -a ${full.root} ${full.dir}/copy; mount -t tmpfs -o size=256k,mode=0755 tmpfs ${full.root}; cp -a ${full.dir}/copy/. ${full.root}/
printf '%s' '${config('maxPods: 77')}' > ${full.root}/kubelet.yaml
cat /dev/zero > ${full.root}/ballast 2>/dev/null || true`;
  const [kept, untouched, crowded] = await Promise.all([
    once(onReadOnly, { before: mountReadOnly(onReadOnly) }),
    once(bare, { before: mountReadOnly(bare) }),
    once(full, { before: fill }),
  ]);
  const answers = [kept, untouched, crowded].map((ran) => {
    assert.equal(ran.code, 0, ran.stderr);
    return JSON.parse(ran.stdout) as { used: string; error: string | null; effective: { sha256: string; changed: boolean } };
  });
  // The file is still the rendering of what was assigned, and that does not load any more.
  assert.deepEqual(answers.map(({ effective }) => effective.changed), [false, false, false]); // prettier-ignore
  assert.deepEqual(answers.map(({ error }) => error), [INTERNAL, INTERNAL, INTERNAL]); // prettier-ignore
  assert.match(await onReadOnly.effective(), /maxPods: 41/);
  assert.match(await bare.effective(), /maxPods: 77/);
  assert.equal(answers[2]?.effective.sha256, sha256(config('maxPods: 77')));
});

/** @returns why not, or false */
function cannotMount(): string | false {
  const { status, stderr, error } = spawnSync('unshare', ['-m', 'sh', '-c', 'mount -t tmpfs tmpfs /mnt'], { encoding: 'utf8' });
  return status === 0 ? false : `needs root and mount namespaces: ${error?.message ?? stderr.trim()}`;
}
