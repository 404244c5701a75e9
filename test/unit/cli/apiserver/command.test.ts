import assert from 'node:assert/strict';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { nodes } from '../../../../kube/api/object.ts';
import { isJsonObject } from '../../../../kube/api/json.ts';
import { connect } from '../../../../cli/connect/connect.ts';
import { cliContext, runCli } from '../../../support/cli-context.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { dispatch } from '../../../../cli/dispatch.ts';
import { commands } from '../../../../cli/commands.ts';

async function up(t: TestContext, flags: readonly string[]) {
  const dir = await tempDir(t);
  const ended = new AbortController();
  const line = Promise.withResolvers<string>();
  const stdout = { write: (text: string) => line.resolve(text), isTTY: false, columns: undefined };
  await mkdir(join(dir, 'seed'));
  await writeFile(join(dir, 'seed', 'node.yaml'), 'apiVersion: v1\nkind: Node\nmetadata: {name: seeded}\n');
  await writeFile(join(dir, 'faults.json'), JSON.stringify([{ verb: 'list', resource: 'nodes', status: 503, count: 1 }]));
  const { context, err } = cliContext({ stdout, signal: ended.signal, path: (text) => join(dir, text) });
  const running = dispatch(commands, ['apiserver', ...flags], context);
  const end = (): Promise<number> => {
    ended.abort();
    return running;
  };
  t.after(end);
  const text = await Promise.race([line.promise, running.then(() => Promise.reject(new Error(err())))]);
  const ready = JSON.parse(text) as { url: string; kubeconfig: string; pid: number };
  return { ready, dir, end };
}

test('apiserver says one line when it is ready, serves what was planted and ends with 0', async (t) => {
  const { ready, dir, end } = await up(t, ['--write-kubeconfig=kc', '--seed=seed']);
  assert.deepEqual(Object.keys(ready), ['url', 'kubeconfig', 'pid']);
  assert.match(ready.url, /^https:\/\/127\.0\.0\.1:\d+$/);
  assert.deepEqual([ready.kubeconfig, ready.pid], [join(dir, 'kc'), process.pid]);
  assert.equal((await stat(ready.kubeconfig)).mode & 0o777, 0o600);
  const client = await connect({ kubeconfig: ready.kubeconfig }, {});
  assert.equal((await client.get(nodes, { name: 'seeded' })).metadata.name, 'seeded');
  await client.close();
  assert.equal(await end(), 0);
  await readFile(ready.kubeconfig);
});

test('without --write-kubeconfig there is a temporary one, removed at the end', async (t) => {
  const { ready, end } = await up(t, []);
  assert.match(await readFile(ready.kubeconfig, 'utf8'), /current-context/);
  assert.equal(await end(), 0);
  await assert.rejects(readFile(ready.kubeconfig), { code: 'ENOENT' });
});

for (const { why, flags, version, keeps } of [
  { why: 'keeps the fields, as 1.20', flags: [], version: 'v1.20.2', keeps: true },
  { why: 'drops them, as 1.36', flags: ['--dynamic-kubelet-config=false'], version: 'v1.36.3', keeps: false },
  { why: 'drops them by its version', flags: ['--kubernetes-version=1.36'], version: 'v1.36.0', keeps: false },
]) {
  test(`with ${flags.join(' ') || 'no flags'} it ${why}`, async (t) => {
    const { ready } = await up(t, flags);
    const client = await connect({ kubeconfig: ready.kubeconfig }, {});
    t.after(() => client.close());
    const answer = await client.raw('GET', '/version');
    assert.ok(isJsonObject(answer));
    assert.equal(answer['gitVersion'], version);
    const source = { configMap: { namespace: 'a', name: 'b', kubeletConfigKey: 'c' } };
    const made = await client.create(nodes, { metadata: { name: 'n' }, spec: { configSource: source } });
    assert.equal(isJsonObject(made['spec']) && 'configSource' in made['spec'], keeps);
  });
}

test('--faults answers as the file says', async (t) => {
  const { ready } = await up(t, ['--faults=faults.json']);
  const client = await connect({ kubeconfig: ready.kubeconfig }, {});
  t.after(() => client.close());
  await assert.rejects(client.list(nodes), { code: 503 });
  await client.list(nodes);
});

for (const [flag, code, says] of [
  ['--listen=0.0.0.0:0', 3, /Cannot listen/],
  ['--faults=/gone.json', 3, /Cannot use the faults in \/gone\.json: no such file; an empty file means no faults/],
  ['--seed=/gone', 3, /Cannot read manifests from \/gone/],
  ['--kubernetes-version=latest', 2, /--kubernetes-version=latest is not a Kubernetes release: write it as 1\.36 or 1\.36\.3/],
] as const)
  test(`apiserver ${flag} is refused with ${code}`, async () => {
    const ran = await runCli(['apiserver', flag]);
    assert.deepEqual([ran.code, says.test(ran.stderr)], [code, true], ran.stderr);
  });
