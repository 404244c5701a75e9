import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { aborted } from '../../../../base/waiting.ts';
import { defaultSchedulerConfig, type SchedulerConfig } from '../../../../scheduler/config/config.ts';
import { runScheduler, type MakeScheduler } from '../../../../cli/scheduler/run.ts';
import { schedulerFlags } from '../../../../cli/scheduler/config.ts';
import { nodes, pods } from '../../../../kube/api/object.ts';
import type { Command } from '../../../../cli/command.ts';
import { servedKinds, type ServedKinds } from '../../../../scheduler/scheduler.ts';
import { tempFile } from '../../../support/temp-dir.ts';
import { eventually } from '../../../support/eventually.ts';
import { longContract, quick, type Running, startLong, up } from '../process/long.ts';

/** What a scheduler that does nothing was told, and whether it is at work. */
interface Seen {
  config?: SchedulerConfig;
  served?: ServedKinds;
  works?: boolean;
}

/** It reads pods and nodes, and schedules nothing. */
const idle = (seen: Seen = {}): MakeScheduler => ({
  servedKinds,
  schedulerRunnable: ({ informers }, config, served) => {
    seen.config = config;
    seen.served = served;
    for (const kind of [pods, nodes]) informers.of(kind);
    const run = async (signal: AbortSignal): Promise<void> => {
      seen.works = true;
      await aborted(signal);
      seen.works = false;
    };
    return [{ name: 'scheduler', run }];
  },
});

/** `dkc scheduler run ARGV` in this process. */
function start(t: TestContext, argv: readonly string[], make = idle()): Running {
  const run: Command['run'] = (context, args) => runScheduler(context, args, make);
  const command = { describe: 'Schedules.', examples: [], flags: schedulerFlags, positionals: [], run };
  return startLong(t, { name: 'scheduler run', argv, command });
}

longContract({
  name: 'scheduler run',
  lease: 'dkc-scheduler',
  away: { says: 'warn: API discovery has not succeeded yet', waits: /^\[-\]discovery failed: API discovery has not succeeded yet: Cannot GET /m }, // prettier-ignore
  start,
  broken: {
    part: 'scheduler',
    start: (t, argv) =>
      start(t, argv, { ...idle(), schedulerRunnable: () => [{ name: 'scheduler', run: () => Promise.reject(new Error('a bug')) }] }),
  },
});

// prettier-ignore
test('scheduler run works by its file, says what in it has no effect, and takes the lease of a flag over that of the file', { timeout: 120_000 }, async (t) => {
  const { server, kubeconfig } = await up(t);
  const seen: Seen = {};
  const file = await tempFile(
    t,
    'profiles: [{schedulerName: batch}, {}]\npercentageOfNodesToScore: 5\nleaderElection: {leaseName: of-file, namespace: kube-public}',
  );
  const flags = [`--config=${file}`, '--leader-elect-resource-name=of-flag'];
  const run = start(t, [...flags, `--kubeconfig=${await kubeconfig()}`, ...quick], idle(seen));
  await eventually('it works', () => seen.works === true);
  assert.deepEqual([...(seen.config?.profiles.keys() ?? [])], ['batch', 'default-scheduler']);
  const started = run.fields[run.lines.indexOf('info: starting scheduler')] ?? {};
  assert.partialDeepStrictEqual(started, { server: server.url, profiles: 'batch,default-scheduler', config: file, lease: 'kube-public/of-flag' }); // prettier-ignore
  const suspicious = run.fields[run.lines.indexOf('warn: suspicious configuration key')];
  assert.deepEqual(suspicious, { key: 'percentageOfNodesToScore', why: 'it has no effect: every node is scored' });
  await run.stop();
  assert.equal(seen.works, false);
});

test('without a file it works by the defaults', { timeout: 120_000 }, async (t) => {
  const { kubeconfig } = await up(t);
  const seen: Seen = {};
  await start(t, [`--kubeconfig=${await kubeconfig()}`, '--leader-elect=false'], idle(seen)).ready;
  assert.deepEqual([seen.config, seen.served?.storage.csiNodes?.version], [defaultSchedulerConfig, 'v1']);
});

const impossible = [
  { why: 'the file is not there', argv: ['--config=/gone'], code: 3, says: /^dkc: Cannot read \/gone: no such file[^\n]*\n$/ },
  { why: 'a flag of the lease is wrong', argv: ['--leader-elect-retry-period=9s'], code: 2, says: /^dkc: scheduler run: --leader-elect-renew-deadline must be longer than 1\.2 times --leader-elect-retry-period; see dkc scheduler run --help\n$/ }, // prettier-ignore
];
for (const { why, argv, code, says } of impossible)
  test(`scheduler run ends with ${code} where ${why}`, async (t) => {
    const run = start(t, argv);
    assert.equal(await run.ended, code);
    assert.match(run.err(), says);
  });

test('a wrong configuration ends it with 1 before anything is asked, and the line says where to read all of it', async (t) => {
  const file = await tempFile(t, 'api: {qps: 5}\npodMaxBackoffSeconds: 0\nx: 1');
  const run = start(t, [`--config=${file}`, '--kubeconfig=/gone']);
  assert.equal(await run.ended, 1);
  const first = 'podMaxBackoffSeconds: it is 0; it must be whole seconds, from 1 to 2000000';
  assert.equal(run.err(), `dkc: scheduler run: ${file}: ${first}, and 2 more; run dkc scheduler config --config=${file} for all errors\n`);
});
