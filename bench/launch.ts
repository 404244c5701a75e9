import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundle, checkout } from './checkout.ts';
import type { BenchNode } from './node.ts';

/** The Node.js flags of the unit, so that the benchmark measures the installed program. */
function unitFlags(): string[] {
  const unit = readFileSync(join(checkout, 'systemd/dkc-agent.service'), 'utf8');
  const [, flags = ''] = /^ExecStart=\S+\/node (.*?) ?\S+\/dkc\.js agent run$/m.exec(unit) ?? [];
  if (flags === '') throw new Error('systemd/dkc-agent.service starts the agent in a way that the benchmark does not know');
  return flags.split(' ');
}

/** The unit's `Environment=` lines. */
function unitEnvironment(): Record<string, string> {
  const unit = readFileSync(join(checkout, 'systemd/dkc-agent.service'), 'utf8');
  return Object.fromEntries([...unit.matchAll(/^Environment=(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]));
}

export interface Launched {
  /** Time from the start of the process to READY=1, in ms. */
  readyMs: Promise<number>;
  /** Resident memory as the kernel counts it (VmRSS), in MB of 1024 * 1024 bytes. */
  rssMb(): number;
  /** CPU time so far, of the process and its children that have ended, in ms. */
  cpuMs(): number;
  /** Resolves when the process exits. */
  over: Promise<unknown>;
  /** Kills the process and waits for its exit. */
  end(): Promise<void>;
}

export interface Command {
  args: readonly string[];
  env?: Readonly<Record<string, string>>;
}

/** Starts Node with these arguments and a notify socket as from systemd's OpenFile=; a pipe is enough for one message. */
export function launch({ args, env = {} }: Command): Launched {
  const from = performance.now();
  // LISTEN_PID must be the PID of Node, so a shell sets it and then runs `exec`.
  const child = spawn('/bin/sh', ['-c', 'LISTEN_PID=$$ exec "$@"', 'sh', process.execPath, ...args], {
    // systemd's PATH: a longer one makes each start of a program slower.
    env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LISTEN_FDS: '1', LISTEN_FDNAMES: 'notify', ...env },
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  });
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-4000)));
  const ready = Promise.withResolvers<number>();
  child.stdio[3]?.on('data', (text: Buffer) => {
    if (text.toString('latin1').includes('READY=1')) ready.resolve(performance.now() - from);
  });
  const closed = once(child, 'close');
  void closed.then(() => ready.reject(new Error(`it ended before it was ready: ${said}`)));
  ready.promise.catch(() => {});
  return {
    readyMs: ready.promise,
    over: closed,
    rssMb: () => Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024,
    cpuMs: () => {
      const text = (file: string): string => readFileSync(`/proc/${child.pid}/${file}`, 'utf8');
      const threads = readdirSync(`/proc/${child.pid}/task`).map((thread) => Number(text(`task/${thread}/schedstat`).split(' ')[0]) / 1e6);
      // cutime and cstime in ticks, which are 10 ms on every Linux that Node runs on.
      const children = text('stat').replace(/^.*\) /s, '').split(' ').slice(13, 15); // prettier-ignore
      return [...threads, ...children.map((ticks) => Number(ticks) * 10)].reduce((sum, ms) => sum + ms, 0);
    },
    end: async () => {
      child.kill('SIGKILL');
      await closed;
    },
  };
}

/** An empty Node process: it sends READY=1 first, and keeps running. */
export const emptyNode: Command = { args: ['-e', "require('node:fs').writeSync(3, 'READY=1'); setInterval(() => {}, 1e9)"] };

/** The installed agent on this node, as its unit starts it, except for the directory of the compile cache. @param more - flags of `dkc agent run` */
export function agentOn({ settings }: Pick<BenchNode, 'settings'>, more: readonly string[] = []) {
  const env = { ...unitEnvironment(), NODE_COMPILE_CACHE: join(settings, '../compile-cache') };
  return { args: [...unitFlags(), bundle, 'agent', 'run', `--agent-config=${settings}`, ...more], env };
}
