import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { accessOf, connect } from '../../../cli/connect/connect.ts';
import type { ConnectQuery } from '../../../cli/command.ts';
import { freePorts } from '../../support/real-parts/free-ports.ts';

let dir = '';
let port = 0;
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'dkc-test-'));
  // A port that nobody listens at: calls fail at once, and their error names the server that was asked.
  [port = 0] = await freePorts(1);
  await mkdir(join(dir, '.kube'));
  for (const [name, path] of [
    ['first', 'one'],
    ['second', 'two'],
    ['home', '.kube/config'],
  ] as const)
    await writeFile(join(dir, path), kubeconfig(name));
});
after(() => rm(dir, { recursive: true }));

const kubeconfig = (name: string): string =>
  JSON.stringify({
    'current-context': name,
    contexts: ['', '-other'].map((end) => ({ name: `${name}${end}`, context: { cluster: `${name}${end}` } })),
    clusters: ['', '-other'].map((end) => ({ name: `${name}${end}`, cluster: { server: `http://127.0.0.1:${port}/${name}${end}` } })),
  });

test('a flag wins over $KUBECONFIG, that over the file at home', async () => {
  const env = { KUBECONFIG: join(dir, 'two'), HOME: dir };
  // A context that none of them has makes each say which ones it has.
  const read = (...[query, env]: Parameters<typeof connect>): Promise<string> =>
    connect({ ...query, context: 'nope' }, env).then(() => 'connected', String);
  assert.match(await read({ kubeconfig: join(dir, 'one') }, env), /there are first, first-other/);
  assert.match(await read({}, env), /there are second, second-other/);
  assert.match(await read({}, { HOME: dir }), /there are home, home-other/);
});

test('without any kubeconfig the error names the place and the remedy', async () => {
  await assert.rejects(connect({}, { HOME: '/nowhere' }), {
    message: 'Cannot use kubeconfig /nowhere/.kube/config: no such file; set --kubeconfig or $KUBECONFIG',
  });
  await symlink('loop', join(dir, 'loop')); // there, and not to be reached
  await assert.rejects(
    connect({ kubeconfig: join(dir, 'loop') }, {}),
    /Cannot read kubeconfig \S+loop: its symbolic link leads back to itself/,
  );
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
