import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { schedulerConfig } from '../../../../cli/scheduler/config.ts';
import { dispatch } from '../../../../cli/dispatch.ts';
import { defaultSchedulerConfig } from '../../../../scheduler/config/config.ts';
import { readSchedulerConfig } from '../../../../scheduler/config/parse.ts';
import { cliContext, type Ran } from '../../../support/cli-context.ts';
import { tempFile } from '../../../support/temp-dir.ts';

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

const cases = [
  { why: 'fills in the rest of a file', text: 'podMaxBackoffSeconds: 20', code: 0, out: /^podInitialBackoffSeconds: 1\npodMaxBackoffSeconds: 20$/m, err: [] },
  { why: 'says what has no effect, which is no error', text: 'percentageOfNodesToScore: 5', code: 0, out: /^percentageOfNodesToScore: 5$/m, err: ['warning: percentageOfNodesToScore: it has no effect: every node is scored'] },
  { why: 'ends with 1 on a mistake', text: 'apii: {}', code: 1, out: /^$/, err: ['error: apii: there is no such key; did you mean api?', 'dkc: scheduler config: standard input has 1 error'] },
  { why: 'ends with 1 on two, of which one has a text that cannot be shown', text: 'api: {pageSize: 0}\ncompat: {tieBreak: "\\e[2J"}', code: 1, out: /^$/, err: ['error: compat.tieBreak: it is "\\u001b[2J"; it must be one of random, roundRobin', 'error: api.pageSize: it is 0; it must be a whole number from 1 to 10000', 'dkc: scheduler config: standard input has 2 errors'] },
]; // prettier-ignore
for (const { why, text, code, out, err } of cases)
  test(`scheduler config ${why}`, async (t) => {
    const ran = await run(['--config=-'], text);
    assert.deepEqual([ran.code, ran.stderr], [code, err.map((line) => `${line}\n`).join('')]);
    assert.match(ran.stdout, out);
    if (code === 0) assert.equal((await run([`--config=${await tempFile(t, text)}`])).stdout, ran.stdout);
  });
