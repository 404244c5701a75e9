import { sourceText } from '../../agent/checkpoint/source.ts';
import { printable, jsonText, yamlText } from '../output/printable.ts';
import { hostname } from 'node:os';
import { bootOnce, runAgent } from '../../agent/agent.ts';
import { openNotify, READY_AT_MS } from '../../agent/run/notify.ts';
import { probeHealth } from '../../agent/trial/health.ts';
import { realClock } from '../../base/clock.ts';
import { realExec } from '../../base/exec.ts';
import { flock } from '../../base/lock.ts';
import { formatFor, openLineLog } from '../../base/line-log.ts';
import { realRandom } from '../../base/random.ts';
import { startingDisk } from '../../base/disk.ts';
import { fileWatcher } from '../../base/changing-files.ts';
import { runFlags } from './flags.ts';
import { buildInfo, pathsFrom } from '../program.ts';
import { UsageError, failureText, USAGE } from '../failure.ts';
import { nodeOptions } from './node-options.ts';
import { plainFlags, type Args } from '../args/args.ts';
import type { BootOutcome } from '../../agent/boot/execute.ts';
import type { AgentOptions, AgentWorld } from '../../agent/options.ts';
import type { Log } from '../../base/log.ts';

/** `dkc agent run ARGV`. @returns 0 = start me again, 2 = bad flags, anything else 1 */
export async function agentRun(argv: readonly string[]): Promise<number> {
  const debug = (process.env['DKC_DEBUG'] ?? '') !== '';
  try {
    return await runWith(plainFlags('agent run', runFlags, argv));
  } catch (error) {
    process.stderr.write(failureText(error, debug));
    return error instanceof UsageError ? USAGE : 1;
  }
}

/** Like {@link agentRun}, with parsed flags. */
export async function runWith(args: Args): Promise<number> {
  // A child process, such as a credential plugin, may be a Node.js program too: it must not write to our compile cache.
  delete process.env['NODE_COMPILE_CACHE'];
  const files = startingDisk();
  const host = { disk: files.disk, hostName: hostname(), path: pathsFrom(process) };
  const options = await nodeOptions(host, args);
  const log = agentLog(options);
  return args.on('once')
    ? boot(options, agentWorld(log, files), args.text('output') ?? 'table')
    : runAgent(options, agentWorld(log, files));
}

function agentLog(options: AgentOptions): Log {
  return openLineLog({ level: options.verbosity > 0 ? 'debug' : 'info', format: formatFor(process.env) });
}

async function boot(options: AgentOptions, world: AgentWorld, output: string): Promise<number> {
  const outcome = await bootOnce(options, world);
  process.stdout.write(onceText(outcome, output));
  return outcome.effective.usable ? 0 : 1;
}

/** The world of an agent: leaner than a command's, since it is held in memory on every node for years. */
function agentWorld(log: Log, { disk, started, syncs }: ReturnType<typeof startingDisk>): AgentWorld {
  const stop = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => stop.abort());
  const notify = openNotify({ env: process.env, pid: process.pid, exec: realExec, clock: realClock, log });
  return {
    disk,
    syncs,
    locks: flock,
    clock: realClock,
    random: realRandom,
    log,
    exec: realExec,
    watchFiles: fileWatcher(disk, realClock, log),
    probe: probeHealth,
    notify: {
      ...notify,
      ready: (status) => {
        started(); // while starting, disk calls block the process; from here on, other work continues during a disk call
        return notify.ready(status);
      },
    },
    connect: async (kubeconfig) => {
      const { createClient } = await import('../../kube/client/http-client.ts');
      const { kubeconfigSource } = await import('../../kube/client/access.ts');
      return createClient(kubeconfigSource(kubeconfig), { userAgent: 'dkc-agent' });
    },
    fetchFromKubelet: async (url, as) => {
      const { fetchFromKubelet } = await import('../connect/connect.ts');
      return fetchFromKubelet(url, { ...as, userAgent: 'dkc-agent' });
    },
    tokenFile: async (kubeconfig) => (await (await import('../../kube/client/access.ts')).loadKubeconfig(kubeconfig)).tokenFile,
    credentialProblem: async (of) => {
      const look = await import('../doctor/inspect/credentials.ts');
      return look.credentialProblem(of, process.env, realClock.now());
    },
    // Node.js itself takes seconds to start on a busy machine.
    readyWithinMs: Math.max(0, READY_AT_MS - process.uptime() * 1000),
    version: buildInfo().version,
    stop: stop.signal,
  };
}

/** What `dkc agent run --once` prints. */
function onceText({ used, source, error, effective }: BootOutcome, format: string): string {
  const { path, sha256, changed } = effective;
  const data = { used, source, error, effective: { path, sha256, changed } };
  if (format === 'json') return jsonText(data);
  if (format === 'yaml') return yamlText(data);
  const lines = [
    `used       ${used}`,
    `source     ${printable(sourceText(source))}`,
    `error      ${printable(error ?? '-')}`,
    `effective  ${printable(path)} ${effective.usable ? (changed ? 'written' : 'unchanged') : 'NOT USABLE'}`,
    `sha256     ${sha256 || '-'}`,
  ];
  return `${lines.join('\n')}\n`;
}
