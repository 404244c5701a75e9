import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultSchedulerConfig } from '../../../../scheduler/config/config.ts';
import { holderOf, type Lease } from '../../../../kube/election/lease.ts';
import { text } from '../../kube/process/process-world.ts';
import { eventually } from '../../../support/eventually.ts';
import { longContract } from '../process/long-contract.ts';
import { LEASES, podOn, quick, up } from '../process/long-world.ts';
import { configFile, idle, start, type Seen } from './scheduler-world.ts';

longContract({
  name: 'scheduler run',
  lease: 'dkc-scheduler',
  away: { says: 'warn: API discovery has not succeeded yet', waits: /^\[-\]discovery failed: API discovery has not succeeded yet: Cannot GET /m }, // prettier-ignore
  start,
  broken: {
    part: 'scheduler',
    start: (t, argv) =>
      start(t, argv, {
        make: { ...idle(), schedulerRunnable: () => [{ name: 'scheduler', run: () => Promise.reject(new Error('a bug')) }] },
      }),
  },
});

test('scheduler run: one ready line, at work by its file, seen, and gone on SIGTERM without a trace', { timeout: 120_000 }, async (t) => {
  const { server, kubeconfig } = await up(t);
  const seen: Seen = {};
  const file = await configFile(t, 'profiles: [{schedulerName: batch}, {}]\npercentageOfNodesToScore: 5\napi: {pageSize: 7}');
  const run = start(t, [`--config=${file}`, `--kubeconfig=${await kubeconfig()}`, '--debug', ...quick], { make: idle(seen) });
  const { ready, metrics, pid } = await run.ready;
  assert.deepEqual([ready, pid], [true, process.pid]);
  await eventually('it works', () => seen.works === true);
  assert.deepEqual([...(seen.config?.profiles.keys() ?? [])], ['batch', 'default-scheduler']);
  const started = run.fields[run.lines.indexOf('info: starting scheduler')] ?? {};
  assert.deepEqual([started['server'], started['profiles'], started['config'], started['lease']], [server.url, 'batch,default-scheduler', file, 'kube-system/dkc-scheduler']); // prettier-ignore
  const suspicious = run.fields[run.lines.indexOf('warn: suspicious configuration key')];
  assert.deepEqual(suspicious, { key: 'percentageOfNodesToScore', why: 'it has no effect: every node is scored' });
  assert.match(await text(`${metrics}/metrics`), /^leader_election_master_status\{name="dkc-scheduler"\} 1$/m);
  assert.match(await text(`${metrics}/readyz?verbose`), /\[\+\]rights ok/);
  assert.match(await text(`${metrics}/debug/caches`), /"name": "pods"/);
  assert.equal(await run.stop(), 0);
  assert.equal(seen.works, false);
  assert.deepEqual([run.out().split('\n').length, run.err()], [2, '']);
  assert.equal(holderOf(server.hooks.storage.get(LEASES, 'kube-system/dkc-scheduler') as Lease), '', 'released for the next one');
  await server.stop();
  assert.equal(run.clock.sleepers, 0);
});

const file = 'leaderElection: {leaseName: of-file, namespace: kube-public}';
const off = 'leaderElection: {enabled: false, leaseName: of-file}';
const elections = [
  { why: 'a flag says, over the file', text: file, flags: ['--leader-elect-resource-name=of-flag'], lease: 'kube-public/of-flag' },
  { why: 'somebody leads for the flag, with the lease of the file', text: off, flags: ['--leader-elect'], lease: 'kube-system/of-file' },
];
for (const { why, text, flags, lease } of elections)
  test(`the lease is what ${why}`, { timeout: 120_000 }, async (t) => {
    const { kubeconfig } = await up(t);
    const run = start(t, [`--config=${await configFile(t, text)}`, `--kubeconfig=${await kubeconfig()}`, ...quick, ...flags]);
    await run.ready;
    assert.equal(run.fields[run.lines.indexOf('info: starting scheduler')]?.['lease'], lease);
    assert.equal(await run.stop(), 0);
  });

test(
  "without a file it works by the defaults, and without a kubeconfig with the pod's service account",
  { timeout: 120_000 },
  async (t) => {
    // prettier-ignore
    const { server, dir } = await up(t, { tls: true });
    const seen: Seen = {};
    const run = start(t, ['--metrics-bind-address=', ...quick], { make: idle(seen), ...(await podOn({ server, dir })) });
    assert.equal((await run.ready).metrics, null);
    assert.deepEqual([seen.config, seen.served?.storage.csiNodes?.version], [defaultSchedulerConfig, 'v1']);
    assert.equal(run.fields[run.lines.indexOf('info: starting scheduler')]?.['config'], 'defaults');
    assert.equal(await run.stop(), 0);
  },
);

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
  const file = await configFile(t, 'api: {qps: 5}\npodMaxBackoffSeconds: 0\nx: 1');
  const run = start(t, [`--config=${file}`, '--kubeconfig=/gone']);
  assert.equal(await run.ended, 1);
  const first = 'podMaxBackoffSeconds: it is 0; it must be whole seconds, from 1 to 2000000';
  assert.equal(run.err(), `dkc: scheduler run: ${file}: ${first}, and 2 more; run dkc scheduler config --config=${file} for all errors\n`);
});
