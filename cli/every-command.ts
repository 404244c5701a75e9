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
import { realDisk, scanningDisk } from '../base/disk.ts';
import { Interrupted } from './failure.ts';
import { programName } from './help/help.ts';
import type { Context, Sink } from './command.ts';

/** Runs every command except `agent run`. main.ts loads this file only by `import()`: the build bundles everything behind it separately. */
export async function runCommand(argv: readonly string[]): Promise<number> {
  const context = realContext();
  if (completesForKubectl(process.env, process.argv[1])) return (await import('./completion/command.ts')).completeForKubectl(context, argv);
  return dispatch(commands, argv, context);
}

/** The Context of a command, with real clock, disk, locks, network and terminal. They are created here and nowhere else. */
function realContext(): Context {
  const { signal, beforeBlocking } = endSignals();
  return {
    stdout: sink(process.stdout),
    stderr: sink(process.stderr),
    stdin: () => readStdin(signal),
    env: process.env,
    clock: realClock,
    disk: realDisk,
    scanDisk: scanningDisk(beforeBlocking),
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
  // Otherwise a read of standard input would not end.
  signal.addEventListener('abort', () => process.stdin.destroy(signal.reason as Error));
  const parts: Uint8Array[] = [];
  for await (const part of process.stdin) parts.push(part as Uint8Array);
  return Buffer.concat(parts);
}

interface EndSignals {
  signal: AbortSignal;
  /**
   * Call it before a system call that may block the process for good, such as a read on a disk that hangs. No handler could run then, so SIGINT and SIGTERM
   * kill at once until the event loop runs again.
   */
  beforeBlocking: () => void;
}

/**
 * The first SIGINT, SIGTERM or SIGHUP aborts the command; a second SIGINT or SIGTERM kills it. A second SIGHUP is ignored: when a terminal closes,
 * the kernel and then the shell send SIGHUP, and the command still needs time to end cleanly.
 */
function endSignals(): EndSignals {
  const control = new AbortController();
  const end = (name: NodeJS.Signals): void =>
    control.abort(name === 'SIGINT' ? new Interrupted() : new ActionError('finish', 'the command', { hint: `terminated by ${name}` }));
  const caught = new Set<NodeJS.Signals>(['SIGINT', 'SIGTERM']);
  const first = (name: NodeJS.Signals): void => {
    caught.delete(name);
    process.off(name, first);
    end(name);
  };
  const handle = (): void => caught.forEach((name) => process.on(name, first));
  handle();
  process.on('SIGHUP', end);
  let isBlocking = false;
  const beforeBlocking = (): void => {
    if (isBlocking) return;
    isBlocking = true;
    for (const name of caught) process.off(name, first);
    setImmediate(() => {
      isBlocking = false;
      handle();
    });
  };
  return { signal: control.signal, beforeBlocking };
}
