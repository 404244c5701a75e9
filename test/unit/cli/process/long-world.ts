import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RealTime } from '../../../support/real-time.ts';
import type { TestContext } from 'node:test';
import { type ApiServer, type ApiServerOptions } from '../../../../apiserver/server.ts';
import { dispatch } from '../../../../cli/dispatch.ts';
import { freePorts } from '../../../support/real-parts/free-ports.ts';
import { cliContext } from '../../../support/cli-context.ts';
import { recordedLog } from '../../../support/recorded-log.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import type { Fields } from '../../../../base/log.ts';
import type { Command } from '../../../../cli/command.ts';
import { apiServer } from '../../../support/embedded-api.ts';

/** Kind of the leases, for the server's storage. */
export const LEASES = 'coordination.k8s.io/leases';
/** Flags of an election that a test need not wait for: looked at often, and held through any stall of a busy machine. */
export const quick = ['--leader-elect-retry-period=20ms', '--leader-elect-renew-deadline=60s', '--leader-elect-lease-duration=90s'];

export interface Up {
  server: ApiServer;
  /** Of whoever has `token`, by default the admin: the path of a file. */
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
  /** What the ready line says; rejects with stderr where the command ends without one. */
  ready: Promise<{ ready: boolean; metrics: string | null; pid: number }>;
  ended: Promise<number>;
  /** As SIGTERM does. @returns the exit code */
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

/** A port that nobody listens on. */
export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return port;
}
