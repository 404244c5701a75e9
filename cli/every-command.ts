import { commands } from './commands.ts';
import { dispatch } from './dispatch.ts';
import { buildInfo, completesForKubectl, pathsFrom } from './program.ts';
import { hostname } from 'node:os';
import { isatty } from 'node:tty';
import { realClock } from '../base/clock.ts';
import { ActionError } from '../base/errors.ts';
import { realExec } from '../base/exec.ts';
import { flock } from '../base/lock.ts';
import { openLog } from '../base/pino-log.ts';
import { realRandom } from '../base/random.ts';
import { realDisk } from '../base/disk.ts';
import { Interrupted } from './failure.ts';
import { programName } from './help/help.ts';
import type { Context, Sink } from './command.ts';

/** Every command but `agent run`. main.ts reaches this file by `import()` alone: the build packs what lies behind it. */
export async function runCommand(argv: readonly string[]): Promise<number> {
  const context = realContext();
  if (completesForKubectl(process.env, process.argv[1])) return (await import('./completion/command.ts')).completeForKubectl(context, argv);
  return dispatch(commands, argv, context);
}

/** The world of a command: real clock, disk, locks, network and terminal. The one place where they are put together. */
function realContext(): Context {
  const signal = endSignal();
  return {
    stdout: sink(process.stdout),
    stderr: sink(process.stderr),
    stdin: () => readStdin(signal),
    env: process.env,
    clock: realClock,
    disk: realDisk,
    locks: flock,
    random: realRandom,
    exec: realExec,
    log: openLog({ level: process.env['DKC_DEBUG'] ? 'debug' : 'warn' }),
    openLog,
    build: buildInfo(),
    program: programName(process.env, process.argv[1]),
    signal,
    hostName: hostname(),
    path: pathsFrom(process),
    connect: async (query) => (await import('./connect/connect.ts')).connect(query, process.env),
    namespaceOf: async (query) => (await import('./connect/connect.ts')).namespaceOf(query, process.env),
  };
}

function sink(stream: NodeJS.WriteStream & { fd: 1 | 2 }): Sink {
  const isTTY = isatty(stream.fd);
  return {
    write: (text) => void stream.write(text),
    writeBytes: (bytes) => void stream.write(bytes),
    isTTY,
    columns: isTTY ? stream.columns : undefined,
    rows: isTTY ? stream.rows : undefined,
  };
}

async function readStdin(signal: AbortSignal): Promise<Uint8Array> {
  signal.throwIfAborted();
  // Nothing else would end a wait for somebody's typing.
  signal.addEventListener('abort', () => process.stdin.destroy(signal.reason as Error));
  const parts: Uint8Array[] = [];
  for await (const part of process.stdin) parts.push(part as Uint8Array);
  return Buffer.concat(parts);
}

/**
 * The first SIGINT, SIGTERM or SIGHUP asks to end; a second SIGINT or SIGTERM ends. A SIGHUP never does: a terminal that goes away
 * sends it more than once (the kernel, then the shell), and nobody is left to be in a hurry.
 */
function endSignal(): AbortSignal {
  const control = new AbortController();
  const end = (name: NodeJS.Signals): void =>
    control.abort(name === 'SIGINT' ? new Interrupted() : new ActionError('finish', 'the command', { hint: `terminated by ${name}` }));
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, end);
  process.on('SIGHUP', end);
  return control.signal;
}
