import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { mergeKubeconfigs } from '../../../../kube/client/kubeconfig.ts';
import { kubeconfigSource, loadKubeconfig } from '../../../../kube/client/access.ts';

const cluster = (name: string, more: object) => ({ name, cluster: more });
const user = (name: string, more: object) => ({ name, user: more });

test('the first file that has an entry gives all of it, the first that sets current-context gives that', () => {
  const merged = mergeKubeconfigs([
    { path: '/a/config', document: { clusters: [cluster('c', { server: 'https://first' })], 'current-context': '' } },
    { path: '/b/config', document: null },
    {
      path: '/c/config',
      document: {
        'current-context': 'x',
        clusters: [cluster('c', { server: 'https://second', 'tls-server-name': 's' }), cluster('d', { server: 'https://third' })],
        contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      },
    },
    { path: '/d/config', document: { 'current-context': 'y', users: [user('u', { token: 't' })], contexts: 'nonsense' } },
  ]);
  assert.deepEqual(merged, {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'x',
    clusters: [cluster('c', { server: 'https://first' }), cluster('d', { server: 'https://third' })],
    users: [user('u', { token: 't' })],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
  });
});

test('paths start at the directory of the file that has them', () => {
  const merged = mergeKubeconfigs([
    { path: '/a/config', document: { clusters: [cluster('c', { 'certificate-authority': 'ca.crt', server: 'ca.crt' })] } },
    { path: '/b/config', document: { users: [user('u', { 'client-certificate': 'sub/c', 'client-key': '/k', tokenFile: '../t' })] } },
  ]);
  assert.deepEqual(merged['clusters'], [cluster('c', { 'certificate-authority': '/a/ca.crt', server: 'ca.crt' })]);
  assert.deepEqual(merged['users'], [user('u', { 'client-certificate': '/b/sub/c', 'client-key': '/k', tokenFile: '/t' })]);
});

test('several files are one kubeconfig, also while they come and change', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'dkc-merge-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  const [one, two, none] = [join(dir, 'one'), join(dir, 'two'), join(dir, 'none')];
  const contexts = [{ name: 'x', context: { cluster: 'c', user: 'u' } }];
  await writeFile(one, JSON.stringify({ 'current-context': 'x', contexts, clusters: [cluster('c', { server: 'https://127.0.0.1:1' })] }));
  await writeFile(two, `users:\n- name: u\n  user: {token: one}\n`);
  const source = kubeconfigSource([none, one, two]);
  const first = await source.current();
  assert.deepEqual(first, { origin: `${one}:${two}`, server: 'https://127.0.0.1:1', token: 'one' });
  assert.equal(await source.current(), first);
  await writeFile(two, `users:\n- name: u\n  user: {token: second}\n`);
  assert.equal((await source.current()).token, 'second');
  await writeFile(none, JSON.stringify({ users: [user('u', { token: 'third' })] }));
  assert.equal((await source.current()).token, 'third');
  await assert.rejects(loadKubeconfig([none]), /has no current-context/);
  await assert.rejects(loadKubeconfig([join(dir, 'a'), join(dir, 'b')]), /Cannot read kubeconfig .*\/a: no such file/);
});

test('what a proxy variable says counts for a kubeconfig without proxy-url', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'dkc-merge-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  const path = join(dir, 'config');
  const write = (more: object) => {
    const contexts = [{ name: 'x', context: { cluster: 'c' } }];
    return writeFile(
      path,
      JSON.stringify({ 'current-context': 'x', contexts, clusters: [cluster('c', { server: 'https://api:6443', ...more })] }),
    );
  };
  const environment = { HTTPS_PROXY: 'http://u:p@variable:3128' };
  await write({});
  assert.equal((await loadKubeconfig(path, { environment })).proxy, 'http://u:p@variable:3128/');
  assert.equal((await loadKubeconfig(path, { environment: { ...environment, NO_PROXY: 'api' } })).proxy, undefined);
  await write({ 'proxy-url': 'http://file:1' });
  assert.equal((await loadKubeconfig(path, { environment: { ...environment, NO_PROXY: '*' } })).proxy, 'http://file:1/');
});
