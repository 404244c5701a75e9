import assert from 'node:assert/strict';
import { readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { withinBounds } from '../../../../cli/support-bundle/bounds.ts';
import { collectAll, type Collector, defaultBounds } from '../../../../cli/support-bundle/collector.ts';
import { KnownValues } from '../../../../cli/support-bundle/redact/known-values.ts';
import { runCli } from '../../../support/cli-context.ts';
import { nodeOnDisk, type NodeOnDisk } from '../../../support/node-on-disk.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import type { Exec } from '../../../../base/exec.ts';

const secrets = Array.from({ length: 19 }, (_, at) => `Hunter${at}x7`);
const [header, annotation, journal, agentKey, agentUrl, unitVar, unitFlag, bearer, pem, otherKey, effective, exits, evidence, comment, kubeconfigToken, password, message, query, argument] = secrets as [string, ...string[]] & string[]; // prettier-ignore

/** A node with a secret in every place that a bundle is made from, and programs that print some more. */
async function nodeOfSecrets(t: { after(done: () => Promise<void>): void }): Promise<{ node: NodeOnDisk; exec: Exec }> {
  const dir = await tempDir(t);
  const kubeconfig = join(dir, 'kubeconfig');
  // The token goes before the program, which nobody asks.
  const user = { token: kubeconfigToken, username: 'u', password, exec: { command: 'x', args: [argument] } };
  const parts = { clusters: [{ name: 'c', cluster: { server: 'https://10.0.0.1:6443' } }], users: [{ name: 'node-user', user }] };
  const contexts = [{ name: 'x', context: { cluster: 'c', user: 'node-user' } }];
  await writeFile(kubeconfig, JSON.stringify({ ...parts, contexts, 'current-context': 'x' }));
  const kubeletHealthz = `http://u:${agentUrl}@127.0.0.1:1/healthz?q=${query}`;
  const node = await nodeOnDisk(t, { kubeconfig, kubeletHealthz, metricsBindAddress: '""' });
  const text = `# ${comment}\napiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: 7\nstaticPodURLHeader: {Authorization: [Bearer ${header}]}\nmaxPod: ${effective}\n`;
  const annotations = { 'dkc.dev/retry': `token=${annotation}` };
  const source = await node.save('41', { files: { kubelet: text, other: `password ${otherKey}` }, annotations });
  await node.assign(source);
  await node.condemn(source, { evidence: [`died with --password=${evidence}`], reason: `Authorization: Bearer ${bearer}` });
  await node.runs('assigned', source);
  await writeFile(node.paths.effective, text);
  await node.store.addToJournal({ at: new Date(0).toISOString(), event: 'assigned', source, detail: `{"apiKey":"${journal}"}` });
  await writeFile(join(node.root, '..', 'kubelet-exits'), `2026-01-01T00:00:00Z exit-code exited 1 -\n${exits}\n`);
  const settings = join(node.root, '..', 'agent.yaml');
  const log = [
    `2026-01-01T00:00:03+0000 h kubelet[1]: sent ${header} and ${kubeconfigToken} and ${effective} and ${argument}`,
    `2026-01-01T00:00:02+0000 h kubelet[1]: -----BEGIN PRIVATE KEY-----\n    ${pem}\n    -----END PRIVATE KEY-----`,
    `2026-01-01T00:00:01+0000 h kubelet[1]: "failed" err="client_secret=${message}"`,
  ];
  const exec: Exec = async (program, args) => {
    const unit = `# /etc/a.conf\n# ${comment}\n[Service]\nEnvironment=A=${unitVar}\nExecStart=/k --x-thing=${unitFlag}\n`;
    const stdout = program === 'journalctl' ? `${log.join('\n')}\n` : args[0] === 'cat' ? unit : '';
    return { code: 0, stdout, stderr: '' };
  };
  await writeFile(settings, `${await readFile(settings, 'utf8')}# ${agentKey}\n`);
  return { node, exec };
}

/** `dkc support-bundle` on a node, and what is in the bundle. */
async function bundled(t: Parameters<typeof tempDir>[0], node: NodeOnDisk, over: { exec?: Exec } = {}) {
  const out = await tempDir(t);
  const ran = await node.dkcIn({ ...over, path: (text) => resolve(out, text) }, 'support-bundle');
  assert.equal(ran.code, 0, ran.stderr);
  const [name = ''] = await readdir(out);
  const text = gunzipSync(await readFile(join(out, name))).toString('utf8');
  return { name, text, said: `${ran.stdout}${ran.stderr}`, mode: (await stat(join(out, name))).mode & 0o777 };
}

test('a bundle of a node has no secret in it, wherever one was, and neither has the output', async (t) => {
  const { node, exec } = await nodeOfSecrets(t);
  const { name, text, said, mode } = await bundled(t, node, { exec });
  assert.match(name, /^dkc-support-node-a-20260301T\d{6}Z\.tar\.gz$/);
  assert.equal(mode, 0o600);
  for (const secret of secrets) {
    for (const form of [secret, Buffer.from(secret).toString('base64').slice(0, -2)])
      assert.ok(!`${text}${said}`.includes(form), `${secret}: ${text.split('\n').find((line) => line.includes(form))}`);
  }
  // What is no secret is there.
  const shown = ['maxPods: 7', 'node-user', 'dkc-system', '"condemned"', 'exit-code exited 1 -', 'kubelet[1]: "failed"', 'units/dkc-agent.service.txt', '"token"']; // prettier-ignore
  for (const one of shown) assert.ok(text.includes(one), one);
});

test('a bundle never takes the place of a file, leaves nothing half done, and says what to do', async (t) => {
  const node = await nodeOnDisk(t);
  const out = await tempDir(t);
  const file = join(out, 'a.tar.gz');
  await writeFile(file, 'mine');
  const ran = await node.dkc('support-bundle', `--output-file=${file}`);
  assert.equal(ran.code, 3);
  assert.match(ran.stderr, /^dkc: Cannot write \S+a\.tar\.gz: a file with this name exists; move it away or set another name with --output-file/); // prettier-ignore
  assert.deepEqual([await readFile(file, 'utf8'), await readdir(out)], ['mine', ['a.tar.gz']]);
});

test('a bundle for standard output is bytes there, and the list is on stderr', async (t) => {
  const node = await nodeOnDisk(t);
  const parts: Uint8Array[] = [];
  const stdout = { write: () => assert.fail('text on stdout'), writeBytes: (bytes: Uint8Array) => void parts.push(bytes), isTTY: false, columns: undefined }; // prettier-ignore
  const ran = await node.dkcIn({ stdout }, 'support-bundle', '--output-file=-');
  assert.equal(ran.code, 0);
  assert.ok(gunzipSync(Buffer.concat(parts)).toString('utf8').includes('index.json'));
  assert.match(ran.stderr, /versions\.json/);
  const terminal = await node.dkcIn({ stdout: { ...stdout, isTTY: true } }, 'support-bundle', '--output-file=-');
  assert.deepEqual([terminal.code, terminal.stderr.includes('standard output is a terminal')], [2, true]);
});

test('links in the store are named and not followed', async (t) => {
  const node = await nodeOnDisk(t);
  const outside = await tempDir(t);
  await writeFile(join(outside, 'x.json'), '{"where":"outside-of-it"}');
  await symlink(join(outside, 'x.json'), join(node.paths.metaDir, 'x.json'));
  const { text, said } = await bundled(t, node);
  assert.match(said, /store\/store\/meta\/x\.json: not a regular file, such as a symbolic link: not followed/);
  assert.ok(!text.includes('outside-of-it'));
});

test('files of the store that nobody wrote like that are left out, and nothing of them is quoted', async (t) => {
  const node = await nodeOnDisk(t);
  const two = 'a: &a [x]\nb: [*a,*a\nc: bad-secret';
  const source = await node.save('41', { files: { kubelet: `${'['.repeat(200_000)}deep-secret`, two } });
  await writeFile(join(node.paths.metaDir, 'condemned.json'), `{"reason": "cut-secret`);
  await writeFile(node.paths.journal, `{"at":"cut-secret`);
  const { text, said } = await bundled(t, node);
  assert.ok(text.includes(`${source.uid}/41/kubelet`));
  assert.match(said, /condemned\.json: 22 bytes that are neither JSON nor YAML/);
  assert.match(said, /journal\.jsonl .*last 0 of 1 lines; 1 that are not JSON are left out/);
  for (const secret of ['deep-secret', 'bad-secret', 'cut-secret']) assert.ok(!`${text}${said}`.includes(secret), secret);
});

test('a bundle in which there would be nothing is an error, and no file', async (t) => {
  const out = await tempDir(t);
  const ran = await runCli(['support-bundle', '--cluster'], { path: (text) => resolve(out, text) });
  assert.equal(ran.code, 3);
  assert.match(ran.stderr, /^dkc: Cannot collect a support bundle: nothing could be read; .*no network in this test\n$/);
  assert.deepEqual([ran.stdout, await readdir(out)], ['', []]);
});

test('a part that hangs ends after its time, one that fails is named, and the others are there', async () => {
  const clock = new FakeClock();
  const hangs: Collector = { name: 'hangs', what: '', collect: () => new Promise(() => undefined) };
  const fails: Collector = { name: 'fails', what: '', collect: () => Promise.reject(new Error('password=hunter2')) };
  const works: Collector = { name: 'works', what: '', collect: async () => [{ path: 'a-known-one', text: 'b\u001b[1m known-one', note: 'known-one' }] }; // prettier-ignore
  const known = new KnownValues();
  known.add('known-one', 'secret');
  const collecting = collectAll({ clock, signal: new AbortController().signal }, [hangs, fails, works], known, defaultBounds);
  await clock.advance(defaultBounds.time);
  const { files, errors } = await collecting;
  assert.deepEqual(files, [{ path: 'a-_redacted_', text: 'b\\u001b[1m <redacted>', note: '<redacted>', bytes: 21 }]); // prettier-ignore
  const byName = errors.toSorted((a, b) => (a.collector < b.collector ? -1 : 1));
  assert.deepEqual(byName, [{ collector: 'fails', why: 'password=<redacted>' }, { collector: 'hangs', why: 'no result within 30 s' }]); // prettier-ignore
});

const bounds = { total: 25, file: 10, count: 3, time: 1 };
const lines = '1111\n2222\n3333\n';
const files = (names: string, text: string) => names.split('').map((path) => ({ path, text }));
const bounded = [
  { why: 'cut to whole lines from the start', found: files('a', lines), is: ['a 10 first 10 of 15 bytes'] },
  { why: 'cut to whole lines from the end', found: [{ path: 'a', text: lines, keep: 'end' as const }], is: ['a 5 last 5 of 15 bytes'] },
  { why: 'left out past the total', found: files('abc', '123456789\n'), is: ['a 10 ', 'b 10 ', '-c the bundle would be larger than 25 bytes'] }, // prettier-ignore
  { why: 'left out past the count', found: files('abcd', '1'), is: ['a 1 ', 'b 1 ', 'c 1 ', '-d the bundle has 3 files'] },
  { why: 'left out with a name that is taken', found: [...files('a', '1'), { path: './a', text: '2' }], is: ['a 1 ', '-a another file has this name'] }, // prettier-ignore
  { why: 'kept in the folder', found: [{ path: '../../x/\u001b[1m y', text: '1' }], is: ['x/__1m_y 1 '] },
];
for (const { why, found, is } of bounded)
  test(`a file is ${why}`, () => {
    const { files, leftOut } = withinBounds(found, [], bounds);
    const kept = files.map(({ path, bytes, note = '' }) => `${path} ${bytes} ${note}`);
    assert.deepEqual([...kept, ...leftOut.map((one) => `-${one.path} ${one.why}`)], is);
  });
