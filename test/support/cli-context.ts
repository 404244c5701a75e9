import { flock } from '../../base/lock.ts';
import { realClock } from '../../base/clock.ts';
import { silentLog } from '../../base/log.ts';
import { seededRandom } from '../../base/random.ts';
import { realDisk } from '../../base/disk.ts';
import { dispatch } from '../../cli/dispatch.ts';
import { commands } from '../../cli/commands.ts';
import { resolve } from 'node:path';
import type { Context } from '../../cli/command.ts';

export type Ran = { code: number; stdout: string; stderr: string };

/** A context for commands in tests: what is written is kept, there is no terminal, no network and an empty environment. */
export function cliContext(over: Partial<Context> = {}): { context: Context; out: () => string; err: () => string } {
  const kept = { out: '', err: '' };
  const context: Context = {
    stdout: { write: (text) => void (kept.out += text), isTTY: false, columns: undefined },
    stderr: { write: (text) => void (kept.err += text), isTTY: false, columns: undefined },
    stdin: async () => new Uint8Array(),
    env: {},
    clock: realClock,
    disk: realDisk,
    locks: flock,
    random: seededRandom(1),
    exec: async () => ({ code: null, stdout: '', stderr: 'no programs in this test' }),
    log: silentLog,
    openLog: () => silentLog,
    program: 'dkc',
    build: { version: '1.2.3', commit: 'abc', node: '24.0.0' },
    signal: new AbortController().signal,
    hostName: 'Node-A',
    path: (text) => resolve('/nowhere', text),
    connect: () => Promise.reject(new Error('no network in this test')),
    namespaceOf: () => Promise.resolve(undefined),
    ...over,
  };
  return { context, out: () => kept.out, err: () => kept.err };
}

/** Runs `dkc ARGV` in this process. Commands that read /etc/dkc/agent.yaml get `--agent-config` from the test. */
export async function runCli(argv: readonly string[], over: Partial<Context> = {}): Promise<Ran> {
  const { context, out, err } = cliContext(over);
  const code = await dispatch(commands, argv, context);
  return { code, stdout: out(), stderr: err() };
}
