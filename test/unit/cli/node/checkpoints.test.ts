import assert from 'node:assert/strict';
import { printableLines } from '../../../../cli/output/printable.ts';
import { chmod, chown, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { assignedAndTrusted, kubeletYaml, nodeOnDisk, uidA, uidB } from '../../../support/node-on-disk.ts';

interface ListedRow {
  source: Record<string, string>;
  bytes: number;
  files: { key: string; bytes: number; sha256: string }[];
  roles: string[];
  state: string;
  savedAt: string | null;
}

/** Two versions of one ConfigMap and one of another: 1 is trusted, 2 is assigned and runs, 3 has two files. */
async function threeCheckpoints(t: TestContext) {
  const node = await assignedAndTrusted(t);
  const other = await node.save('3', { uid: uidB, name: 'db', files: { kubelet: kubeletYaml(3), 'ca.pem': 'CERT' } });
  node.later(7200_000);
  return { ...node, other };
}

test('checkpoints list shows people what they need to go on', async (t) => {
  const { dkc } = await threeCheckpoints(t);
  const { code, stdout, stderr } = await dkc('checkpoints', 'list');
  assert.equal(code, 0);
  assert.equal(stderr, '');
  assert.deepEqual(
    stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/\s{2,}/)),
    [
      ['REF', 'CONFIG', 'KEYS', 'SIZE', 'SAVED', 'ROLES', 'STATE'],
      ['8c1f2d34-7', 'dkc-system/db:kubelet@3', 'kubelet,ca.pem', '84 B', '2h', '-', 'intact'],
      ['8c1f2d34-0/2', 'dkc-system/web:kubelet@2', 'kubelet', '82 B', '2h', 'assigned,active', 'intact'],
      ['8c1f2d34-0/1', 'dkc-system/web:kubelet@1', 'kubelet', '82 B', '2h', 'last-known-good', 'intact'],
    ],
  );
});

test('checkpoints list in json is the contract, newest first', async (t) => {
  const { dkc, condemn, trusted } = await threeCheckpoints(t);
  await condemn(trusted);
  const rows = JSON.parse((await dkc('checkpoints', 'list', '-o', 'json')).stdout) as ListedRow[];
  assert.deepEqual(
    rows.map((row) => [row.source['resourceVersion'], row.roles, row.state]),
    [
      ['3', [], 'intact'],
      ['2', ['assigned', 'active'], 'intact'],
      ['1', ['last-known-good'], 'condemned'],
    ],
  );
  const [newest] = rows;
  assert.deepEqual(Object.keys(newest ?? {}), ['source', 'bytes', 'files', 'roles', 'state', 'savedAt']);
  assert.deepEqual(newest?.source, { namespace: 'dkc-system', name: 'db', uid: uidB, resourceVersion: '3', kubeletConfigKey: 'kubelet' });
  assert.equal(
    newest?.files.reduce((sum, file) => sum + file.bytes, 0),
    newest?.bytes,
  );
  assert.equal(newest?.savedAt, '2026-03-01T00:03:00.000Z');
});

test('a wrong key that was tried on what runs takes nothing from its state', async (t) => {
  const node = await nodeOnDisk(t);
  const runs = await node.save('1', { files: { kubelet: kubeletYaml(1), 'ca.pem': 'CERT' } });
  const spare = await node.save('2', { uid: uidB, name: 'db', files: { kubelet: kubeletYaml(2), 'ca.pem': 'CERT' } });
  await node.trust(runs);
  await node.assign(runs);
  await node.runs('assigned', runs);
  for (const source of [runs, spare].map((one) => ({ ...one, kubeletConfigKey: 'ca.pem' }))) {
    await node.condemn(source);
    await node.store.addToJournal({ at: '2026-03-01T00:05:00.000Z', event: 'refused', source, detail: 'type' });
  }
  const states = async (): Promise<(string | undefined)[]> =>
    (JSON.parse((await node.dkc('checkpoints', 'list', '-o', 'json')).stdout) as ListedRow[]).map(({ state }) => state);
  assert.deepEqual(await states(), ['condemned', 'intact']);
  await node.store.setCondemned([]);
  assert.deepEqual(await states(), ['refused', 'intact']);
});

test('a store of an upstream kubelet is listed, its records tell the names', async (t) => {
  const { dkc, paths, trusted, assigned } = await threeCheckpoints(t);
  for (const ref of [trusted, assigned]) await rm(paths.manifest(ref));
  const rows = JSON.parse((await dkc('checkpoints', 'list', '-o', 'json')).stdout) as ListedRow[];
  assert.deepEqual(rows.map((row) => `${row.source['name']} ${row.state}`).toSorted(), ['db intact', 'web intact', 'web intact']);
});

test('damage is shown in list, found by verify and changed by neither', async (t) => {
  const { dkc, paths, assigned } = await threeCheckpoints(t);
  await writeFile(paths.file(assigned, 'kubelet'), 'torn');
  await writeFile(paths.meta('last-known-good'), 'a: [');
  await writeFile(paths.condemned, 'x');
  const before = await readdir(paths.metaDir);

  const listed = await dkc('checkpoints', 'list');
  assert.equal(listed.code, 0);
  assert.match(listed.stdout, /assigned,active +damaged/);
  assert.match(listed.stderr, /last-known-good: it is neither YAML nor JSON/);

  const verified = await dkc('checkpoints', 'verify', '-o', 'json');
  assert.equal(verified.code, 1);
  const paths1 = (JSON.parse(verified.stdout) as { path: string; problem: string }[]).map((one) => one.path);
  assert.deepEqual(paths1, [paths.meta('last-known-good'), paths.condemned, paths.file(assigned, 'kubelet')]);
  assert.match(verified.stderr, /^dkc: 3 of the store's files are damaged\n$/);

  assert.equal((await dkc('status')).code, 1);
  assert.deepEqual(await readdir(paths.metaDir), before);
});

test('verify is content with a sound store', async (t) => {
  const { dkc } = await threeCheckpoints(t);
  assert.deepEqual(await dkc('checkpoints', 'verify'), { code: 0, stdout: 'OK: 3 checkpoints and all records are intact.\n', stderr: '' });
  assert.equal((await dkc('checkpoints', 'verify', '-o', 'json')).stdout, '[]\n');
});

test('verify finds a directory in place of active.json, and status exits with 1', async (t) => {
  const { dkc, paths } = await threeCheckpoints(t);
  await rm(paths.active, { force: true });
  await mkdir(paths.active);
  const { stdout } = await dkc('checkpoints', 'verify');
  assert.match(stdout, /active\.json +a directory is in its place: move that away/);
  assert.equal((await dkc('status')).stderr, 'dkc: the store is damaged\n');
});

test('what the agent may not read or change is found by verify, status and doctor, though root reads it, and with it what the agent wrote last may be out of date', async (t) => {
  const node = await nodeOnDisk(t);
  const source = await node.save('7');
  await node.trust(source);
  await node.assign(source);
  await node.runs('assigned', source);
  await writeFile(node.paths.effective, 'kind: KubeletConfiguration\n');
  await chmod(node.paths.metaDir, 0o500);
  const { code, stdout, stderr } = await node.dkc('checkpoints', 'verify');
  assert.match(stdout, /\/meta +its mode is 0500, so the agent may not read or change it: chmod u\+rwx \S+\/meta\n/);
  assert.deepEqual([code, stderr], [1, 'dkc: the agent may not read or change all of the store\n']);
  const status = await node.dkc('status');
  assert.match(status.stdout, /^State: +running, agent error\nRunning: +unknown: the agent cannot write down what it uses$/m);
  assert.match(status.stdout, /^Kept from the agent:\n +\S+\/meta: its mode is 0500/m);
  assert.match(status.stdout, /^Next: The agent may not read or change all of its store/m);
  assert.equal(status.code, 1);
  assert.match((await node.dkc('doctor')).stdout, /^store +failed +\S+\/meta: its mode is 0500/m);
  await chmod(node.paths.metaDir, 0o700);
  if (process.getuid?.() !== 0) return t.diagnostic('only root can give a file to somebody else');
  await chown(node.paths.meta('assigned'), 65534, 65534);
  assert.match(
    (await node.dkc('checkpoints', 'verify')).stdout,
    /\/meta\/assigned +it belongs to uid 65534, so .*: chown -R root: \S+\/meta\/assigned\n/,
  );
});

test('checkpoints show prints all files, or one of them byte for byte', async (t) => {
  const { dkc, dkcIn, save } = await threeCheckpoints(t);
  const raw = '\ufeffa: "\u001b[31m"\r\nno end';
  await save('9', { uid: 'raw', files: { kubelet: raw } });
  assert.equal((await dkc('checkpoints', 'show', 'raw', '--file=kubelet')).stdout, raw);
  assert.ok(!(await dkc('checkpoints', 'show', 'raw')).stdout.includes('\u001b'));
  let onTerminal = '';
  const stdout = { write: (text: string) => void (onTerminal += text), isTTY: true, columns: 80 };
  await dkcIn({ stdout }, 'checkpoints', 'show', 'raw', '--file=kubelet');
  assert.equal(onTerminal, printableLines(raw), 'a terminal obeys nothing of it');

  const shown = JSON.parse((await dkc('checkpoints', 'show', '8c1f2d34-7', '-o', 'json')).stdout) as object;
  const source = { namespace: 'dkc-system', name: 'db', uid: uidB, resourceVersion: '3', kubeletConfigKey: 'kubelet' };
  assert.deepEqual(shown, { source, files: { 'ca.pem': 'CERT', kubelet: kubeletYaml(3) } });
  assert.match((await dkc('checkpoints', 'show', 'assigned')).stdout, /^# kubelet \(the kubelet configuration\)\napiVersion/);
});

const wrongRefs = [
  { argv: ['show', 'zzz'], code: 3, says: /Cannot find checkpoint "zzz": no checkpoint has that name/ },
  { argv: ['show', '8c1f'], code: 2, says: /matches 3 checkpoints .* give more characters of it/ },
  { argv: ['show'], code: 2, says: /REF is missing/ },
  { argv: ['show', 'assigned', '--file=nope'], code: 3, says: /no such key; it has: kubelet/ },
  { argv: ['show', 'assigned', '--file=__proto__'], code: 3, says: /no such key; it has: kubelet/ },
  { argv: ['prune', '--keep=-1'], code: 2, says: /must be an integer/ },
];
for (const { argv, code, says } of wrongRefs) {
  test(`checkpoints ${argv.join(' ')} ends with ${code} and one line`, async (t) => {
    const { dkc } = await threeCheckpoints(t);
    const ran = await dkc('checkpoints', ...argv);
    assert.equal(ran.code, code);
    assert.match(ran.stderr, says);
    assert.equal(ran.stderr.split('\n').length, 2);
  });
}

test('show of a damaged checkpoint finds it wrong, of one that is gone cannot', async (t) => {
  const { dkc, paths, assigned } = await threeCheckpoints(t);
  await writeFile(paths.file(assigned, 'kubelet'), 'torn');
  assert.equal((await dkc('checkpoints', 'show', 'assigned')).code, 1);
  await rm(paths.checkpoint(assigned), { recursive: true });
  assert.equal((await dkc('checkpoints', 'show', 'assigned')).code, 3);
});

test('prune removes what is not needed, and nothing in a dry run', async (t) => {
  const { dkc, paths, other, assigned, trusted } = await threeCheckpoints(t);
  const there = (ref: typeof other) =>
    stat(paths.checkpoint(ref)).then(
      () => true,
      () => false,
    );
  const dry = JSON.parse((await dkc('checkpoints', 'prune', '--keep=0', '--dry-run', '-o', 'json')).stdout) as unknown;
  assert.deepEqual(dry, [{ source: other, removed: false }]);
  assert.ok(await there(other));
  assert.equal((await dkc('checkpoints', 'prune')).stdout, 'Nothing to remove.\n');
  const wet = JSON.parse((await dkc('checkpoints', 'prune', '--keep=0', '-o', 'json')).stdout) as unknown;
  assert.deepEqual(wet, [{ source: other, removed: true }]);
  assert.deepEqual(await Promise.all([other, assigned, trusted].map(there)), [false, true, true]);
});

test('prune keeps a checkpoint whose files the effective file names', async (t) => {
  const { dkc, paths, other } = await threeCheckpoints(t);
  await writeFile(paths.effective, `tlsCertFile: ${join(paths.checkpoint(other), 'ca.pem')}\n`);
  assert.equal((await dkc('checkpoints', 'prune', '--keep=0', '-o', 'json')).stdout, '[]\n');
});

test('nothing is pruned while it is not known what is assigned', async (t) => {
  const { dkc, paths } = await threeCheckpoints(t);
  await rm(paths.meta('assigned'));
  assert.equal((await dkc('checkpoints', 'prune', '--keep=0', '-o', 'json')).stdout, '[]\n');
});

test('an empty store is no error', async (t) => {
  const { dkc } = await nodeOnDisk(t);
  assert.match((await dkc('checkpoints', 'list')).stdout, /^No checkpoints/);
  assert.equal((await dkc('checkpoints', 'list', '-o', 'json')).stdout, '[]\n');
  assert.equal((await dkc('history')).stdout, 'No history.\n');
});

test('a store that may not be read asks for root', async (t) => {
  const { dkcIn, paths } = await threeCheckpoints(t);
  const { unsyncedDisk } = await import('../../../support/unsynced-disk.ts');
  const denied = () => Promise.reject(Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' }));
  for (const disk of [
    { ...unsyncedDisk, stat: denied },
    { ...unsyncedDisk, read: (path: string) => (path.startsWith(paths.store) ? denied() : unsyncedDisk.read(path)) },
    { ...unsyncedDisk, read: (path: string) => (path.startsWith(`${paths.checkpoints}/${uidA}`) ? denied() : unsyncedDisk.read(path)) },
    { ...unsyncedDisk, readLinked: (path: string) => (path.endsWith('/local/config.yaml') ? denied() : unsyncedDisk.readLinked(path)) },
  ])
    for (const argv of [['status'], ['drill'], ['checkpoints', 'verify']]) {
      const { code, stdout, stderr } = await dkcIn({ disk }, ...argv);
      assert.deepEqual([argv, code, stdout], [argv, 3, '']);
      assert.match(stderr, /^dkc: Cannot read \/\S+: permission denied: run this as root; where root is denied, see /);
    }
});

test('a uid with an escape sequence reaches no terminal', async (t) => {
  const { dkc, store, paths } = await nodeOnDisk(t);
  const evil = { namespace: 'ns', name: 'web', uid: uidA, resourceVersion: '1', kubeletConfigKey: 'kubelet' };
  await store.save({ ...evil, files: new Map([['kubelet', new Uint8Array([65])]]), annotations: {} });
  await writeFile(
    paths.condemned,
    JSON.stringify([{ ...evil, contentSha256: 'x', reason: '\u001b[2Jgone', evidence: ['\u009b31m'], by: 'agent', at: 'x' }]),
  );
  for (const argv of [['status'], ['status', '-o', 'wide'], ['checkpoints', 'list'], ['retry']]) {
    const { stdout, stderr } = await dkc(...argv);
    assert.ok(!/[\u001b\u009b]/.test(stdout + stderr), argv.join(' '));
  }
});

test('history -w prints what there is, then each further transition, until Ctrl-C', async (t) => {
  const { store, watched, dkc, paths } = await nodeOnDisk(t);
  const add = (minute: number, detail: string) => () =>
    store.addToJournal({ at: `2026-03-01T00:0${minute}:00.000Z`, event: 'booted', source: null, detail });
  for (const [minute, detail] of ['first', 'second'].entries()) await add(minute, detail)();
  const nothing = async (): Promise<void> => {};
  const { code, stdout, stderr } = await watched(['history', '-w', '-n', '1'], [nothing, add(2, 'third'), nothing, add(3, 'fourth')]);
  assert.deepEqual([code, stderr], [130, 'dkc: interrupted\n']);
  assert.deepEqual(
    stdout.trimEnd().split('\n').map((line) => line.split(/\s{2,}/).at(-1)),
    ['DETAIL', 'second', 'third', 'fourth'],
  ); // prettier-ignore
  // A history that was set aside begins anew.
  const again = await watched(['history', '-w', '-n', '0', '-o', 'json'], [() => rm(paths.journal), add(4, 'new')]);
  assert.deepEqual(again.stdout.trimEnd().split('\n').map((line) => (JSON.parse(line) as { detail: string }).detail), ['new']); // prettier-ignore
  const refused = await dkc('history', '-w', '-o', 'yaml');
  assert.deepEqual([refused.code, refused.stdout], [2, '']);
});
