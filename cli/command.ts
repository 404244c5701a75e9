import type { Args } from './args/args.ts';
import type { Clock } from '../base/clock.ts';
import type { Disk } from '../base/disk.ts';
import type { Exec } from '../base/exec.ts';
import type { Locks } from '../base/lock.ts';
import type { Log, LogLevel } from '../base/log.ts';
import type { Random } from '../base/random.ts';
import type { Client } from '../kube/client/client.ts';

/** Type of a flag's value. `duration` is Go's (`1m30s`); `count` is a flag that may be repeated (`-vv`) or given a number. */
export type FlagType = 'string' | 'boolean' | 'number' | 'duration' | 'count';

/** What completion offers for a value: the shell itself lists files and directories, `dkc __complete` everything else. */
export type Completes =
  | 'file'
  | 'dir'
  | 'ref'
  | 'node'
  | 'daemonset'
  | 'statefulset'
  | 'pod'
  | 'configmap'
  | 'configmap-key'
  | 'context'
  | 'namespace'
  | 'field'
  | 'rollout';

export interface Flag {
  /** Kebab case, without dashes. */
  name: string;
  /** One letter. */
  alias?: string;
  type: FlagType;
  /** One line for `--help`. */
  text: string;
  /** Applied by the parser. Durations are written as Go's. */
  default?: string | number | boolean;
  /** Shown in help in place of `default`, where the command computes the default. */
  defaultText?: string;
  /** Name of the value in help: FILE, NS/NAME. */
  value?: string;
  choices?: readonly string[];
  /** Prefixes that are valid in addition to the choices, such as `jsonpath=`. */
  prefixes?: readonly string[];
  /** Of a string: the value of the flag without `=`. The next word is then not the flag's value. */
  implied?: string;
  /** Of a string: may be given more than once; `Args.texts` returns all values. */
  many?: true;
  /** Of a duration: a number without a unit is seconds, as kubectl reads it. */
  bareSeconds?: true;
  /** Values that completion offers; other values are valid too. */
  offers?: readonly string[];
  completes?: Completes;
  /** Must be given. */
  required?: boolean;
  /** Works, but help does not list it. */
  hidden?: boolean;
  /** Selects the node and its settings: help lists the flag in a separate section. */
  ofNode?: true;
}

export interface Positional {
  /** Name in the usage line: `ref`, `node`. */
  name: string;
  text: string;
  required?: boolean;
  /** Takes all remaining words; only the last positional may. */
  many?: boolean;
  choices?: readonly string[];
  completes?: Completes;
}

export interface Example {
  run: string;
  what: string;
}

/** Result of a command that did its work: 0, or 1 with the line for stderr that says what is wrong. Codes 2 and 3 are thrown (cli/failure.ts). */
export type Exit = { code: 0 } | { code: 1; why: string };

export const fine: Exit = { code: 0 };
export const wrong = (why: string): Exit => ({ code: 1, why });

/** One command of `dkc`. Its name and summary are in the registry (cli/commands.ts), so that help loads no command. */
export interface Command {
  /** Paragraphs for `--help`, separated by an empty line. */
  describe: string;
  /** At least one; `run` is the whole command line, with `dkc`. */
  examples: readonly Example[];
  /** Without the global flags such as `--help` and `-v`. */
  flags: readonly Flag[];
  positionals: readonly Positional[];
  /** @throws UsageError (exit 2), ActionError and every other error (exit 3) */
  run(context: Context, args: Args): Promise<Exit>;
}

/** A place to write text. */
export interface Sink {
  write(text: string): void;
  /** Writes bytes unchanged, for an archive. Absent if the sink accepts only text. */
  writeBytes?(bytes: Uint8Array): void;
  readonly isTTY: boolean;
  /** Width of the terminal, undefined without one. */
  readonly columns: number | undefined;
  /** Height of the terminal. */
  readonly rows?: number | undefined;
}

export type Program = 'dkc' | 'kubectl dkc';

export interface Build {
  version: string;
  /** Git commit of the bundle; `source` when run from a checkout. */
  commit: string;
  /** Node's version, without `v`. */
  node: string;
}

export interface ConnectQuery {
  /** Absent: $KUBECONFIG, then ~/.kube/config. */
  kubeconfig?: string;
  /** Absent: the kubeconfig's current context. */
  context?: string;
  /** User to impersonate. Absent, as the next two: the value of the kubeconfig. */
  as?: string;
  asGroups?: readonly string[];
  asUid?: string;
  /** Maximum wait for a response, in ms; Infinity: no limit. Absent: the client's default. */
  requestTimeoutMs?: number;
}

/** The world as commands see it. The real one is built in cli/every-command.ts and nowhere else; tests build theirs in test/support/cli-context.ts. */
export interface Context {
  stdout: Sink;
  stderr: Sink;
  /** All of standard input. */
  stdin(): Promise<Uint8Array>;
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  disk: Disk;
  /** The same disk, for reading a whole store: faster for thousands of files, but a call may block the process. @default disk */
  scanDisk?: Disk;
  locks: Locks;
  random: Random;
  exec: Exec;
  log: Log;
  /** The log of a long-running command, on stderr. */
  openLog(how: { level: LogLevel; format: 'text' | 'journald' | 'json' }): Log;
  build: Build;
  /** The name that the user called; usage lines repeat it. */
  program: Program;
  /** Aborts on SIGINT, SIGTERM and SIGHUP: every wait ends then. */
  signal: AbortSignal;
  /** As the operating system reports it, not yet in lower case. */
  hostName: string;
  /** Makes a path of the command line absolute. */
  path(text: string): string;
  /** A client of the API server; the caller closes it. @throws ActionError without a usable kubeconfig */
  connect(query: ConnectQuery): Promise<Client>;
  /** The namespace of the kubeconfig's context; undefined if the context has none. @throws ActionError as `connect` */
  namespaceOf(query: ConnectQuery): Promise<string | undefined>;
}

/** A remark of a command on its own work. The user should act on a warning. */
export interface Note {
  level: 'note' | 'warning';
  text: string;
}

/**
 * Ends a command that has a remark. With exit 0 the remark is a separate line; with exit 1 it is part of the one line that says
 * what was found, since stderr has only that line. A command that throws drops its remark.
 */
export function withNote({ stderr }: Pick<Context, 'stderr'>, exit: Exit, note: Note | undefined): Exit {
  if (note === undefined) return exit;
  if (exit.code === 1) return { ...exit, why: `${exit.why}; ${note.text}` };
  stderr.write(`dkc: ${note.level}: ${note.text}\n`);
  return exit;
}
