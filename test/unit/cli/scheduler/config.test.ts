import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { schedulerConfig } from '../../../../cli/scheduler/config.ts';
import { dispatch } from '../../../../cli/dispatch.ts';
import { defaultSchedulerConfig } from '../../../../scheduler/config/config.ts';
import { readSchedulerConfig } from '../../../../scheduler/config/parse.ts';
import { cliContext, type Ran } from '../../../support/cli-context.ts';
import { configFile } from './scheduler-world.ts';

async function run(argv: readonly string[], stdin = ''): Promise<Ran> {
  const { context, out, err } = cliContext({ stdin: async () => Buffer.from(stdin) });
  const entry = { name: 'scheduler config', summary: 'Print', group: 'Controllers', load: async () => schedulerConfig } as const;
  const code = await dispatch([entry], ['scheduler', 'config', ...argv], context);
  return { code, stdout: out(), stderr: err() };
}

test('scheduler config prints the defaults, as YAML and as JSON, which mean the same', async () => {
  const yaml = await run([]);
  assert.deepEqual([yaml.code, yaml.stderr], [0, '']);
  assert.match(yaml.stdout, /^profiles:\n {2}- schedulerName: default-scheduler\n/);
  assert.deepEqual(readSchedulerConfig(parse(yaml.stdout)), { ok: true, config: defaultSchedulerConfig, warnings: [] });
  assert.deepEqual(JSON.parse((await run(['-o', 'json'])).stdout), parse(yaml.stdout));
});

test('it reads a file, or standard input, and fills in the rest', async (t) => {
  const text = 'podMaxBackoffSeconds: 20';
  const path = await configFile(t, text);
  const [file, piped] = [await run([`--config=${path}`, '-o', 'json']), await run(['--config=-', '-o', 'json'], text)];
  assert.equal(file.stdout, piped.stdout);
  const { podMaxBackoffSeconds, podInitialBackoffSeconds } = JSON.parse(file.stdout) as Record<string, unknown>;
  assert.deepEqual([podMaxBackoffSeconds, podInitialBackoffSeconds], [20, 1]);
});

test('what has no effect is said, and is no error', async () => {
  const { code, stdout, stderr } = await run(['--config=-'], 'percentageOfNodesToScore: 5');
  assert.deepEqual([code, stderr], [0, 'warning: percentageOfNodesToScore: it has no effect: every node is scored\n']);
  assert.match(stdout, /^percentageOfNodesToScore: 5$/m);
});

const wrong = [
  { why: 'one mistake', text: 'apii: {}', says: ['error: apii: there is no such key; did you mean api?', 'dkc: scheduler config: standard input has 1 error'] }, // prettier-ignore
  {
    why: 'two',
    text: 'api: {pageSize: 0}\npreemption: no',
    says: [
      'error: preemption: it is "no"; it must be a mapping of keys to values',
      'error: api.pageSize: it is 0; it must be a whole number from 1 to 10000',
      'dkc: scheduler config: standard input has 2 errors',
    ],
  },
  { why: 'a text that cannot be shown', text: 'compat: {tieBreak: "\\e[2J"}', says: ['error: compat.tieBreak: it is "\\u001b[2J"; it must be one of random, roundRobin', 'dkc: scheduler config: standard input has 1 error'] }, // prettier-ignore
];
for (const { why, text, says } of wrong)
  test(`a file with ${why} ends it with 1, and nothing is printed`, async () => {
    assert.deepEqual(await run(['--config=-'], text), { code: 1, stdout: '', stderr: `${says.join('\n')}\n` });
  });

test('a file that is not there ends it with 3', async () => {
  const { code, stderr } = await run(['--config=/gone']);
  assert.deepEqual([code, stderr.split(':')[1]], [3, ' Cannot read /gone']);
});
