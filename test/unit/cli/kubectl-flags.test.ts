import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { completesForKubectl } from '../../../cli/program.ts';
import { runCli } from '../../support/cli-context.ts';
import type { ConnectQuery } from '../../../cli/command.ts';

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
  { argv: 'rollout approve web --as=a', is: { as: 'a' } },
  { argv: 'why pod a/b --request-timeout=2', is: { requestTimeoutMs: 2_000 } },
];
for (const { argv, is } of cases) test(`dkc ${argv}`, async () => assert.deepEqual(await asked(...argv.split(' ')), is));

test('a time that is none is a usage error', async () => {
  for (const argv of ['nodes --request-timeout=soon', 'nodes --request-timeout=-1'])
    assert.match(JSON.stringify(await asked(...argv.split(' '))), /^"2: dkc: .*must be a duration/, argv);
});

test('the program that kubectl asks for completions completes, also what would run an agent', () => {
  assert.equal(completesForKubectl({}, '/opt/kubectl_complete-dkc'), true);
  assert.equal(completesForKubectl({ DKC_CALLED_AS: 'kubectl_complete-dkc' }, '/x/dkc.js'), true);
  const run = (...words: string[]): string =>
    spawnSync(process.execPath, ['cli/main.ts', ...words], { encoding: 'utf8', timeout: 60_000, env: { ...process.env, DKC_CALLED_AS: 'kubectl_complete-dkc' } }).stdout; // prettier-ignore
  assert.match(run('rollout', 'st'), /^status\t.*\n:4\n$/);
  assert.match(run('agent', 'run', '--mer'), /^--merge\t.*\n:4\n$/);
  assert.equal(run('validate', ''), ':0\n');
  assert.match(run('agent', 'run', '--once', '--help'), /^--help\t/);
});
