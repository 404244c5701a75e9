import assert from 'node:assert/strict';
import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { describe, test } from 'node:test';
import { describeError } from '../../../../base/errors.ts';
import { silentLog } from '../../../../base/log.ts';
import { nodes } from '../../../../kube/api/object.ts';
import { createClient } from '../../../../kube/client/http-client.ts';
import { persistTokens } from '../../../../kube/client/kubeconfig-tokens.ts';
import { pluginCredentials } from '../../../../kube/client/plugin-credentials.ts';
import { tempDir } from '../../../support/temp-dir.ts';

const kubeconfig = (refresh: string): string => `# of the team, see wiki
apiVersion: v1
kind: Config
x-unknown: {kept: yes}
users:
- name: other
  user: {token: abc}
- name: me
  user:
    auth-provider:
      name: oidc
      config:
        client-id: dkc # the client
        id-token: old-id
        refresh-token: ${refresh}
        extra: 0644
`;
const tokens = { idToken: 'new-id', refreshToken: 'new-refresh', used: 'first' };

test('tokens are replaced in the file that has the user, and every other word of it stays', async (t) => {
  const dir = await tempDir(t);
  const [none, gone, real, link] = ['none', 'gone', 'real', 'link'].map((name) => join(dir, name)) as [string, string, string, string];
  await writeFile(none, 'users: []\n');
  await writeFile(real, kubeconfig('first'));
  await chmod(real, 0o640);
  await symlink(real, link);
  assert.equal(await persistTokens([none, gone, link].join(delimiter), 'me', tokens), true);
  const expected = kubeconfig('"new-refresh"').replace('old-id', '"new-id"');
  assert.equal(await readFile(real, 'utf8'), expected);
  assert.equal((await stat(real)).mode & 0o777, 0o640);
  assert.deepEqual((await readdir(dir)).toSorted(), ['link', 'none', 'real'], 'nothing is left behind');
});

test('a user who had no id token yet gets one; tokens that somebody else refreshed meanwhile stay', async (t) => {
  const path = join(await tempDir(t), 'kubeconfig');
  await writeFile(path, kubeconfig('first').replace(/ +id-token: .*\n/, ''));
  assert.equal(await persistTokens(path, 'me', tokens), true);
  assert.match(await readFile(path, 'utf8'), /# the client\n[^]*^ +refresh-token: new-refresh\n[^]*^ +id-token: new-id$/m);
  await writeFile(path, kubeconfig('of-kubectl'));
  assert.equal(await persistTokens(path, 'me', tokens), false);
  assert.equal(await readFile(path, 'utf8'), kubeconfig('of-kubectl'));
});

test('a lock that nobody takes away, and a file that is no YAML, are errors without a token in them', async (t) => {
  const dir = await tempDir(t);
  const path = join(dir, 'kubeconfig');
  await writeFile(path, kubeconfig('first'));
  await mkdir(`${path}.lock`);
  await assert.rejects(persistTokens(path, 'me', tokens), {
    message: /^Cannot write the refreshed OIDC tokens into .*kubeconfig: (?!.*new-)/,
  });
  assert.equal(await readFile(path, 'utf8'), kubeconfig('first'));
  const broken = join(dir, 'broken');
  await writeFile(broken, 'users: [\n  secret');
  await assert.rejects(persistTokens(broken, 'me', tokens), { message: /cannot be read as YAML(?!.*secret)/ });
});

describe('a program of an exec user', () => {
  const user = (script: string) => ({
    kubeconfig: '/k',
    context: 'c',
    user: 'me',
    exec: { command: '/bin/sh', args: ['-c', script] },
    execInfo: { kind: 'ExecCredential' as const, apiVersion: 'client.authentication.k8s.io/v1', spec: { interactive: false } },
  });
  const ask = { renew: false, nowMs: 0, log: silentLog };
  const why = (pattern: RegExp) => (error: Error) => {
    assert.match(error.message, /^Cannot get credentials for \/k: the exec program \/bin\/sh of user "me" failed/);
    assert.match(describeError(error), pattern);
    return true;
  };

  test('that once gives no credentials has failed, and is run again the next time', async (t) => {
    for (const [answer, says] of Object.entries({
      '{"status":{}}': /neither a token nor a certificate/,
      '{"status":{"clientCertificateData":"x"}}': /a certificate or a key alone/,
      '{"status":{"token":"a\\nb"}}': /characters that are not allowed/,
    })) {
      const once = join(await tempDir(t), 'once');
      const plugin = user(`if mkdir ${once} 2>/dev/null; then printf %s '${answer}'; else echo '{"status":{"token":"t"}}'; fi`);
      await assert.rejects(pluginCredentials(plugin, ask), why(says));
      assert.deepEqual(await pluginCredentials(plugin, ask), { authorization: 'Bearer t' });
    }
  });

  test('is run once for all who ask at the same time, and once more for those whose credentials were refused', async (t) => {
    const runs = join(await tempDir(t), 'runs');
    const plugin = user(`sleep 0.2; echo x >>${runs}; echo '{"status":{"token":"t'$(wc -l <${runs})'"}}'`);
    const asked = [false, false, true, true].map((renew) => pluginCredentials(plugin, { ...ask, renew }));
    const tokens = (await Promise.all(asked)).map(({ authorization }) => authorization);
    assert.deepEqual(tokens, ['Bearer t1', 'Bearer t1', 'Bearer t2', 'Bearer t2']);
    assert.equal((await pluginCredentials(plugin, ask)).authorization, 'Bearer t2');
  });

  test('that was stopped, since nobody waited for it any more, is run again for who asks next', async () => {
    const plugin = user(`sleep 0.1; echo '{"status":{"token":"t"}}'`);
    const stop = new AbortController();
    const first = assert.rejects(pluginCredentials(plugin, { ...ask, signal: stop.signal }), why(/no longer needed, and was killed/));
    stop.abort();
    const next = [pluginCredentials(plugin, ask), pluginCredentials(plugin, ask)];
    assert.deepEqual(await Promise.all(next), [{ authorization: 'Bearer t' }, { authorization: 'Bearer t' }]);
    await first;
  });

  test('that fails without a word, never ends, or writes without end, has its error say so', async () => {
    await assert.rejects(pluginCredentials(user('exit 7'), ask), why(/it exited with 7, without output/));
    const hanging = user('sleep 10 & sleep 10; :');
    await assert.rejects(pluginCredentials(hanging, { ...ask, longestRunMs: 300 }), why(/it did not end within 0.3 s, and was killed/));
    const client = createClient({ origin: '/k', server: 'https://127.0.0.1:1', plugin: user('exec sleep 1') }, { timeoutMs: 100 });
    await assert.rejects(
      client.get(nodes, { name: 'n' }),
      /not sent, because the exec program .* gave no credentials: no answer within 100 ms$/,
    );
    await client.close();
    await assert.rejects(pluginCredentials(user('exec yes'), { ...ask, longestRunMs: 20_000 }), why(/it wrote more than 4194304 bytes/));
  });
});
