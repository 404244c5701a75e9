import assert from 'node:assert/strict';
import { chmod, stat, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { kubeletYaml, nodeOnDisk, uidB } from '../../../support/node-on-disk.ts';
import { unsyncedDisk } from '../../../support/unsynced-disk.ts';
import { threeCheckpoints } from './world.ts';

type ListedRow = { source: Record<string, string>; bytes: number; files: { bytes: number }[]; roles: string[]; state: string; savedAt: string | null }; // prettier-ignore

test('checkpoints list shows people what they need to go on', async (t) => {
  const { dkc } = await threeCheckpoints(t);
  const { code, stdout, stderr } = await dkc('checkpoints', 'list');
  assert.equal(code, 0);
  assert.equal(stderr, '');
  const lines = stdout.trimEnd().split('\n').map((line) => line.split(/\s{2,}/)); // prettier-ignore
  assert.deepEqual(lines, [
    ['REF', 'CONFIG', 'KEYS', 'SIZE', 'SAVED', 'ROLES', 'STATE'],
    ['8c1f2d34-7', 'dkc-system/db:kubelet@3', 'kubelet,ca.pem', '84 B', '2h', '-', 'intact'],
    ['8c1f2d34-0/2', 'dkc-system/web:kubelet@2', 'kubelet', '82 B', '2h', 'assigned,active', 'intact'],
    ['8c1f2d34-0/1', 'dkc-system/web:kubelet@1', 'kubelet', '82 B', '2h', 'last-known-good', 'intact'],
  ]);
});

test('checkpoints list in json is the contract, newest first', async (t) => {
  const { dkc, condemn, trusted } = await threeCheckpoints(t);
  await condemn(trusted);
  const rows = JSON.parse((await dkc('checkpoints', 'list', '-o', 'json')).stdout) as ListedRow[];
  const shown = rows.map((row) => `${row.source['resourceVersion']} ${row.roles.join()} ${row.state}`);
  assert.deepEqual(shown, ['3  intact', '2 assigned,active intact', '1 last-known-good condemned']);
  const [newest] = rows;
  assert.deepEqual(Object.keys(newest ?? {}), ['source', 'bytes', 'files', 'roles', 'state', 'savedAt']);
  assert.deepEqual(newest?.source, { namespace: 'dkc-system', name: 'db', uid: uidB, resourceVersion: '3', kubeletConfigKey: 'kubelet' });
  assert.deepEqual(newest?.files.map(({ bytes }) => bytes).reduce((a, b) => a + b), newest?.bytes); // prettier-ignore
  assert.equal(newest?.savedAt, '2026-03-01T00:03:00.000Z');
});

test('damage is shown in list, found by verify and changed by neither', async (t) => {
  const { dkc, paths, assigned } = await threeCheckpoints(t);
  await writeFile(paths.file(assigned, 'kubelet'), 'torn');
  await writeFile(paths.meta('last-known-good'), 'a: [');
  await writeFile(paths.condemned, 'x');
  const listed = await dkc('checkpoints', 'list');
  assert.equal(listed.code, 0);
  assert.match(listed.stdout, /assigned,active +damaged/);
  assert.match(listed.stderr, /last-known-good: it is neither YAML nor JSON/);

  const verified = await dkc('checkpoints', 'verify', '-o', 'json');
  assert.equal(verified.code, 1);
  const paths1 = (JSON.parse(verified.stdout) as { path: string; problem: string }[]).map((one) => one.path);
  assert.deepEqual(paths1, [paths.meta('last-known-good'), paths.condemned, paths.file(assigned, 'kubelet')]);
  assert.match(verified.stderr, /^dkc: 3 of the store's files are damaged\n$/);
});

test('what the agent may not read or change is found by verify and status, though root reads it', async (t) => {
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
});

test('checkpoints show prints all files, or one of them byte for byte', async (t) => {
  const { dkc, dkcIn, save } = await threeCheckpoints(t);
  const raw = '\ufeffa: "\u001b[31m"\r\nno end';
  await save('9', { uid: 'raw', files: { kubelet: raw } });
  assert.equal((await dkc('checkpoints', 'show', 'raw', '--file=kubelet')).stdout, raw);
  assert.ok(!(await dkc('checkpoints', 'show', 'raw')).stdout.includes('\u001b'));
  let seen = '';
  const stdout = { write: (text: string) => void (seen += text), isTTY: true, columns: 80 };
  await dkcIn({ stdout }, 'checkpoints', 'show', 'raw', '--file=kubelet');
  assert.ok(seen.includes('\\u001b') && !seen.includes('\u001b'), 'a terminal obeys nothing of it');

  const shown = JSON.parse((await dkc('checkpoints', 'show', '8c1f2d34-7', '-o', 'json')).stdout) as object;
  const source = { namespace: 'dkc-system', name: 'db', uid: uidB, resourceVersion: '3', kubeletConfigKey: 'kubelet' };
  assert.deepEqual(shown, { source, files: { 'ca.pem': 'CERT', kubelet: kubeletYaml(3) } });
  assert.match((await dkc('checkpoints', 'show', 'assigned')).stdout, /^# kubelet \(the kubelet configuration\)\napiVersion/);
});

test('prune removes what is not needed, and nothing in a dry run', async (t) => {
  const { dkc, paths, other, assigned, trusted } = await threeCheckpoints(t);
  const there = (ref: typeof other): Promise<boolean> => stat(paths.checkpoint(ref)).then(() => true, () => false); // prettier-ignore
  const dry = JSON.parse((await dkc('checkpoints', 'prune', '--keep=0', '--dry-run', '-o', 'json')).stdout) as unknown;
  assert.deepEqual(dry, [{ source: other, removed: false }]);
  assert.ok(await there(other));
  assert.equal((await dkc('checkpoints', 'prune')).stdout, 'Nothing to remove.\n');
  const wet = JSON.parse((await dkc('checkpoints', 'prune', '--keep=0', '-o', 'json')).stdout) as unknown;
  assert.deepEqual(wet, [{ source: other, removed: true }]);
  assert.deepEqual(await Promise.all([other, assigned, trusted].map(there)), [false, true, true]);
});

test('a store that may not be read asks for root', async (t) => {
  const { dkcIn, paths } = await threeCheckpoints(t);
  const denied = () => Promise.reject(Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' }));
  const disk = { ...unsyncedDisk, read: (path: string) => (path.startsWith(paths.store) ? denied() : unsyncedDisk.read(path)) };
  for (const argv of [['status'], ['drill'], ['checkpoints', 'verify']]) {
    const { code, stdout, stderr } = await dkcIn({ disk }, ...argv);
    assert.deepEqual([argv, code, stdout], [argv, 3, '']);
    assert.match(stderr, /^dkc: Cannot read \/\S+: permission denied: run this as root; where root is denied, see /);
  }
});

test('a uid with an escape sequence reaches no terminal', async (t) => {
  const { dkc, save, condemn } = await nodeOnDisk(t);
  await condemn(await save('1'), { reason: '\u001b[2Jgone', evidence: ['\u009b31m'] });
  for (const argv of [['status'], ['status', '-o', 'wide'], ['checkpoints', 'list'], ['retry']]) {
    const { stdout, stderr } = await dkc(...argv);
    assert.ok(!/[\u001b\u009b]/.test(stdout + stderr), argv.join(' '));
  }
});

test('checkpoints diff says field by field what differs, with B active by default; people get unified diffs of the other files', async (t) => {
  const { dkc, save, trust } = await threeCheckpoints(t);
  await trust(await save('7', { files: { kubelet: `${kubeletYaml(110)}readOnlyPort: 10255\n`, 'ca.pem': 'one\ntwo\n' } }));
  const ran = await dkc('checkpoints', 'diff', 'last-known-good', '-o', 'json');
  assert.deepEqual([ran.code, ran.stderr], [1, 'dkc: last-known-good and active differ in 2 fields and 1 other file\n']);
  const found = (JSON.parse(ran.stdout) as { field: string; from: unknown; to: unknown }[]).map(({ field, from, to }) => [field, from, to]);
  assert.deepEqual(found, [['readOnlyPort', 10255, null], ['maxPods', 110, 102], ['file:ca.pem', 'one\ntwo\n', null]]); // prettier-ignore
  const { stdout } = await dkc('checkpoints', 'diff', 'last-known-good', '8c1f2d34-7');
  assert.match(stdout, /^FIELD +CLASS +last-known-good +8c1f2d34-7\n[^]*\nmaxPods +\S+ +110 +3\n/);
  assert.match(stdout, /--- last-known-good\/ca\.pem\n\+\+\+ 8c1f2d34-7\/ca\.pem\n@@ -1,2 \+1,1 @@\n-one\n-two\n\+CERT\n/);
  assert.deepEqual(await dkc('checkpoints', 'diff', '8c1f2d34-7', '8c1f2d34-7', '-o', 'json').then(({ code, stdout: all }) => [code, JSON.parse(all)]), [0, []]); // prettier-ignore
});

test('history -w prints what there is, then each further transition, until Ctrl-C', async (t) => {
  const { store, watched } = await threeCheckpoints(t);
  const add = (detail: string) => () => store.addToJournal({ at: '2026-03-01T00:00:00.000Z', event: 'booted', source: null, detail });
  for (const detail of ['first', 'second']) await add(detail)();
  const { code, stdout, stderr } = await watched(['history', '-w', '-n', '1'], [add('third'), add('fourth')]);
  assert.deepEqual([code, stderr], [130, 'dkc: interrupted\n']);
  const details = stdout.trimEnd().split('\n').map((line) => line.split(/\s{2,}/).at(-1)); // prettier-ignore
  assert.deepEqual(details, ['DETAIL', 'second', 'third', 'fourth']);
});
