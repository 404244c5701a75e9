import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RealTime } from '../../../support/real-time.ts';
import { type ApiServer, type ApiServerOptions } from '../../../../apiserver/server.ts';
import { dispatch } from '../../../../cli/dispatch.ts';
import { freePorts } from '../../../support/real-parts/free-ports.ts';
import { cliContext } from '../../../support/cli-context.ts';
import { recordedLog } from '../../../support/recorded-log.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import type { Fields } from '../../../../base/log.ts';
import type { Command } from '../../../../cli/command.ts';
import { apiServer } from '../../../support/embedded-api.ts';
import { test, type TestContext } from 'node:test';
import { createClient } from '../../../../kube/client/http-client.ts';
import { leases } from '../../../../kube/api/object.ts';
import { holderOf, type Lease } from '../../../../kube/election/lease.ts';
import { eventually } from '../../../support/eventually.ts';
import { text } from '../../kube/process/process-world.ts';

const LEASES = 'coordination.k8s.io/leases';
/** Flags of an election that a test need not wait for: looked at often, and held through any stall of a busy machine. */
export const quick = ['--leader-elect-retry-period=20ms', '--leader-elect-renew-deadline=60s', '--leader-elect-lease-duration=90s'];

export interface Up {
  server: ApiServer;
  /** @param token - @default the admin's. @returns the path of a file */
  kubeconfig: (token?: string) => Promise<string>;
  dir: string;
}

/** An API server on a port of this machine, until the end of the test. */
export async function up(t: TestContext, options: Partial<ApiServerOptions> = {}): Promise<Up> {
  const dir = await tempDir(t);
  const server = await apiServer({ tls: false, ...options });
  t.after(() => server.stop());
  const kubeconfig = async (token?: string): Promise<string> => {
    const path = join(dir, `kubeconfig-${token ?? 'admin'}`);
    await writeFile(path, server.kubeconfig(token));
    return path;
  };
  return { server, dir, kubeconfig };
}

export interface Running {
  ready: Promise<{ ready: boolean; metrics: string | null; pid: number }>;
  ended: Promise<number>;
  stop: () => Promise<number>;
  out: () => string;
  err: () => string;
  lines: string[];
  fields: Fields[];
  clock: RealTime;
}

/** `dkc NAME ARGV` in this process, for as long as it goes on. */
export function startLong(
  t: TestContext,
  { name, argv, command, env = {} }: { name: string; argv: readonly string[]; command: Command; env?: Record<string, string> },
): Running {
  const asked = new AbortController();
  const { log, lines, fields } = recordedLog();
  const clock = new RealTime();
  const line = Promise.withResolvers<Awaited<Running['ready']>>();
  line.promise.catch(() => {}); // not every test waits for it
  let written = '';
  const write = (text: string): void => {
    written += text;
    line.resolve(JSON.parse(text) as Awaited<Running['ready']>);
  };
  const stdout = { write, isTTY: false, columns: undefined };
  const { context, err } = cliContext({ stdout, env, clock, openLog: () => log, signal: asked.signal });
  const entry = { name, summary: 'Run', group: 'Controllers', load: async () => command } as const;
  // On any port: several of them run at once, and each has one of its own by default.
  const serving = argv.some((flag) => flag.startsWith('--metrics-bind-address')) ? [] : ['--metrics-bind-address=127.0.0.1:0'];
  const ended = dispatch([entry], [...name.split(' '), ...serving, ...argv], context);
  void ended.then(() => line.reject(new Error(err())));
  const stop = (): Promise<number> => {
    asked.abort(new Error('SIGTERM'));
    return ended;
  };
  t.after(stop);
  return { ready: line.promise, ended, stop, out: () => written, err, lines, fields, clock };
}

/** What a pod finds of its service account: files, and where the server is. */
export async function podOn({ server, dir }: Pick<Up, 'server' | 'dir'>): Promise<{ env: Record<string, string>; serviceAccount: string }> {
  const serviceAccount = join(dir, 'sa');
  await mkdir(serviceAccount);
  for (const [name, content] of Object.entries({ token: server.token, 'ca.crt': server.caPem, namespace: 'kube-system' }))
    await writeFile(join(serviceAccount, name), content);
  const { hostname, port } = new URL(server.url);
  return { env: { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port }, serviceAccount };
}

/** What keeps a process alive. */
const sockets = (): string[] => process.getActiveResourcesInfo().filter((name) => /^(TCP|Pipe|Timeout)/.test(name));

/** A command that goes on until it is asked to end. */
export interface LongCommand {
  name: string;
  lease: string;
  /** What its log and /readyz say when the API server is away. */
  away: { says: string; waits: RegExp };
  start: (t: TestContext, argv: readonly string[]) => Running;
  /** With a part of this name that fails at once. */
  broken: { part: string; start: (t: TestContext, argv: readonly string[]) => Running };
}

/** How any such command begins and ends. */
export function longContract({ name, lease, away, start, broken }: LongCommand): void {
  test(`${name}: one ready line, at work, seen, and gone on SIGTERM without a trace`, { timeout: 120_000 }, async (t) => {
    const before = sockets();
    const { server, kubeconfig } = await up(t);
    const run = start(t, [`--kubeconfig=${await kubeconfig()}`, '--debug', ...quick]);
    const { ready, metrics, pid } = await run.ready;
    assert.deepEqual([ready, pid], [true, process.pid]);
    assert.match(await text(`${metrics}/metrics`), new RegExp(`^leader_election_master_status\\{name="${lease}"\\} 1$`, 'm'));
    assert.match(
      await text(`${metrics}/readyz?verbose`),
      /\[\+\]caches ok: all have synced\n\[\+\]leader ok: this process is the leader[^]*\[\+\]rights ok/,
    );
    assert.match(await text(`${metrics}/debug/caches`), /"name": "pods"/);
    assert.equal(await run.stop(), 0);
    assert.deepEqual([run.out().split('\n').length, run.err()], [2, '']);
    assert.equal(holderOf(server.hooks.storage.get(LEASES, `kube-system/${lease}`) as Lease), '', 'released for the next one');
    await server.stop();
    assert.equal(run.clock.sleepers, 0);
    await eventually('sockets and timers are gone', () => sockets().length <= before.length);
  });

  test(`${name}: a lost lease ends it with 1, and one line on stderr says to whom`, { timeout: 120_000 }, async (t) => {
    const { server, kubeconfig } = await up(t);
    const run = start(t, [`--kubeconfig=${await kubeconfig()}`, ...quick]);
    await run.ready;
    const client = createClient({ origin: 'test', server: server.url, token: server.token });
    t.after(() => client.close());
    const ref = { namespace: 'kube-system', name: lease };
    await client.patch(leases, ref, { spec: { holderIdentity: 'thief' } }, { type: 'merge' });
    assert.equal(await run.ended, 1);
    assert.equal(run.err(), `dkc: ${name}: leader election: the lease is lost: it is held by thief now; restart it\n`);
    assert.ok(run.lines.includes('error: lost the lease'));
  });

  for (const how of ['as the leader', 'without election'])
    test(`${name}: a part that gives up ends it with 1, ${how}, and the line says which and why`, { timeout: 120_000 }, async (t) => {
      const { server, kubeconfig } = await up(t);
      const flags = how === 'without election' ? ['--leader-elect=false'] : [];
      const run = broken.start(t, [`--kubeconfig=${await kubeconfig()}`, ...flags]);
      assert.equal(await run.ended, 1);
      assert.equal(run.err(), `dkc: ${name}: ${broken.part}: a bug; restart it\n`);
      const warning = 'warn: leader election is off: make sure that this is the only process';
      assert.equal(run.lines.some((line) => line.startsWith(warning)), how === 'without election'); // prettier-ignore
      assert.equal(server.hooks.storage.list(LEASES).objects.length, how === 'without election' ? 0 : 1);
    });

  // prettier-ignore
  test(`${name}: while its API server is away it is alive and says what it waits for, and asked to end it ends with 0`, { timeout: 120_000 }, async (t) => {
    const { server, kubeconfig } = await up(t);
    await server.hooks.pause();
    const url = `http://127.0.0.1:${(await freePorts(1))[0]}`;
    const run = start(t, [`--kubeconfig=${await kubeconfig()}`, `--metrics-bind-address=${new URL(url).host}`]);
    await eventually('the first failure', () => run.lines.includes(away.says));
    assert.match(await text(`${url}/readyz`, away.waits), away.waits);
    assert.equal(await text(`${url}/livez`), 'ok');
    assert.equal(await run.stop(), 0);
    assert.deepEqual([run.out(), run.err(), run.clock.sleepers], ['', '', 0]);
  });
}
