import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { accessOf, connect } from '../../../cli/connect/connect.ts';
import type { ConnectQuery } from '../../../cli/command.ts';
import { runCli } from '../../support/cli-context.ts';

let dir = '';
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'dkc-test-'));
  await mkdir(join(dir, '.kube'));
  for (const [path, name] of Object.entries({ one: 'first', two: 'second', '.kube/config': 'home' }))
    await writeFile(join(dir, path), kubeconfig(name));
});
after(() => rm(dir, { recursive: true }));

const kubeconfig = (name: string): string => {
  const clusters = [{ name, cluster: { server: 'http://127.0.0.1:1' } }];
  return JSON.stringify({ 'current-context': name, contexts: [{ name, context: { cluster: name } }], clusters });
};

test('a flag wins over $KUBECONFIG, that over the file at home', async () => {
  const env = { KUBECONFIG: join(dir, 'two'), HOME: dir };
  // A context that none of them has makes each say which ones it has.
  const read = (...[query, env]: Parameters<typeof connect>): Promise<string> =>
    connect({ ...query, context: 'nope' }, env).then(() => 'connected', String);
  assert.match(await read({ kubeconfig: join(dir, 'one') }, env), /there are first$/);
  assert.match(await read({}, env), /there are second$/);
  assert.match(await read({}, { HOME: dir }), /there are home$/);
});

test('without any kubeconfig the error names the place and the remedy', async () => {
  const message = 'Cannot use kubeconfig /nowhere/.kube/config: no such file; set --kubeconfig or $KUBECONFIG';
  await assert.rejects(connect({}, { HOME: '/nowhere' }), { message });
  await symlink('loop', join(dir, 'loop')); // there, and not to be reached
  const looped = connect({ kubeconfig: join(dir, 'loop') }, {});
  await assert.rejects(looped, /Cannot read kubeconfig \S+loop: its symbolic link leads back to itself/);
  await assert.rejects(connect({}, { HOME: dir, KUBECONFIG: '/nowhere/a:/nowhere/b' }), /Cannot use kubeconfig \/nowhere\/a: no such file/);
});

const extra = { k: ['v'] };
const all = { as: 'x', 'as-groups': ['g'], 'as-uid': '7', 'as-user-extra': extra };
// What `kubectl auth whoami` of 1.36.3 says with the same kubeconfig and flags.
const impersonations: { why: string; user: object; flags: Partial<ConnectQuery>; is: object | RegExp | undefined }[] = [
  { why: 'flags alone', user: {}, flags: { as: 'y', asGroups: ['h'] }, is: { user: 'y', groups: ['h'] } },
  { why: 'another user keeps groups, uid and extras', user: all, flags: { as: 'y' }, is: { user: 'y', groups: ['g'], uid: '7', extra } },
  { why: 'groups take the place of groups', user: all, flags: { asGroups: ['h'] }, is: { user: 'x', groups: ['h'], uid: '7', extra } },
  { why: 'a uid takes the place of the uid', user: all, flags: { asUid: '8' }, is: { user: 'x', groups: ['g'], uid: '8', extra } },
  { why: 'a uid without a user', user: {}, flags: { asUid: '8' }, is: /require --as/ },
  { why: 'groups without a user beside groups without one', user: { 'as-groups': ['g'] }, flags: { asGroups: ['h'] }, is: /without as/ },
  { why: 'neither', user: { token: 't' }, flags: {}, is: undefined },
];
for (const { why, user, flags, is } of impersonations)
  test(`impersonation: ${why}`, async () => {
    const path = join(dir, 'impersonation');
    const document = { ...JSON.parse(kubeconfig('k')), users: [{ name: 'u', user }] };
    document.contexts[0].context.user = 'u';
    await writeFile(path, JSON.stringify(document));
    const access = accessOf({ kubeconfig: path, ...flags }, {});
    if (is instanceof RegExp) await assert.rejects(access, is);
    else assert.deepEqual((await access).impersonate, is);
  });

/** What a command line asks the connection for; the command itself ends there. */
async function asked(...argv: string[]): Promise<ConnectQuery | string> {
  let query: ConnectQuery | undefined;
  const connect = (given: ConnectQuery): Promise<never> => {
    query = given;
    return Promise.reject(new Error('no network in this test'));
  };
  const { code, stderr } = await runCli(argv, { connect, path: (text) => text });
  return query ?? `${code}: ${stderr}`;
}

const cases: { argv: string; is: ConnectQuery }[] = [
  { argv: '--context=a nodes --kubeconfig=/k', is: { context: 'a', kubeconfig: '/k' } },
  { argv: 'nodes --as=a --as-group=b --as-group c --as-uid=1', is: { as: 'a', asGroups: ['b', 'c'], asUid: '1' } },
  { argv: '--as a --as-group b nodes --as-group=c', is: { as: 'a', asGroups: ['b', 'c'] } },
  { argv: 'nodes --request-timeout=5', is: { requestTimeoutMs: 5_000 } },
  { argv: 'nodes --request-timeout=0', is: { requestTimeoutMs: Infinity } },
  { argv: '-nshop why pod big -owide --as=a', is: { as: 'a' } },
  { argv: 'rollout status --as=a --as-group=b', is: { as: 'a', asGroups: ['b'] } },
];
for (const { argv, is } of cases) test(`dkc ${argv}`, async () => assert.deepEqual(await asked(...argv.split(' ')), is));

test('a time that is none is a usage error', async () => {
  for (const argv of ['nodes --request-timeout=soon', 'nodes --request-timeout=-1'])
    assert.match(JSON.stringify(await asked(...argv.split(' '))), /^"2: dkc: .*must be a duration/, argv);
});
