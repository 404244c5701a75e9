import type { Args } from './args/args.ts';
import type { Clock } from '../base/clock.ts';
import type { Disk } from '../base/disk.ts';
import type { Exec } from '../base/exec.ts';
import type { Locks } from '../base/lock.ts';
import type { Log, LogLevel } from '../base/log.ts';
import type { Random } from '../base/random.ts';
import type { Client } from '../kube/client/client.ts';

/** What follows a flag. `duration` is Go's (`1m30s`); `count` is a flag that may be repeated (`-vv`) or given a number. */
export type FlagType = 'string' | 'boolean' | 'number' | 'duration' | 'count';

/** What a shell may offer for a value: files are the shell's own business, the others are asked by `dkc __complete`. */
export type Completes =
  'file' | 'dir' | 'ref' | 'node' | 'daemonset' | 'statefulset' | 'pod' | 'configmap' | 'configmap-key' | 'context' | 'field' | 'rollout';

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
  /** Shown in help instead of a default that only the command itself knows. */
  defaultText?: string;
  /** How help names the value: FILE, NS/NAME. */
  value?: string;
  choices?: readonly string[];
  /** Beginnings that are right beside the choices, as `jsonpath=`. */
  prefixes?: readonly string[];
  /** Of a string: what the flag means without `=`. A word after it is then no value of it. */
  implied?: string;
  /** Of a string: may be given more than once, and every value counts: `Args.texts` has them. */
  many?: true;
  /** Of a duration: a number without a unit is seconds, as kubectl reads it. */
  bareSeconds?: true;
  /** Values that completion offers where others are right as well. */
  offers?: readonly string[];
  completes?: Completes;
  /** Must be given. */
  required?: boolean;
  /** Works, but help does not list it. */
  hidden?: boolean;
  /** Says which node is looked at, and by which settings: help lists it apart. */
  ofNode?: true;
}

export interface Positional {
  /** As in usage: `ref`, `node`. */
  name: string;
  text: string;
  required?: boolean;
  /** Takes all that is left; only the last one may. */
  many?: boolean;
  choices?: readonly string[];
  completes?: Completes;
}

export interface Example {
  run: string;
  what: string;
}

/** How a command that did its work ends: 0, or 1 with the line that says what it found wrong. Codes 2 and 3 are thrown (cli/failure.ts). */
export type Exit = { code: 0 } | { code: 1; why: string };

export const fine: Exit = { code: 0 };
export const wrong = (why: string): Exit => ({ code: 1, why });

/** One command of `dkc`. Its name and summary are in the registry (cli/commands.ts), so that help loads no command. */
export interface Command {
  /** Paragraphs for `--help`, separated by an empty line. */
  describe: string;
  /** At least one; `run` as typed, with `dkc`. */
  examples: readonly Example[];
  /** `--help` and `-v` are there without saying. */
  flags: readonly Flag[];
  positionals: readonly Positional[];
  /** @throws UsageError (exit 2), ActionError and every other error (exit 3) */
  run(context: Context, args: Args): Promise<Exit>;
}

/** A place to write text. */
export interface Sink {
  write(text: string): void;
  /** Bytes as they are, for an archive. Absent where nobody could take them. */
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
  /** Absent: the kubeconfig's current one. */
  context?: string;
  /** Whom to impersonate. Absent, as the next two: what the kubeconfig says. */
  as?: string;
  asGroups?: readonly string[];
  asUid?: string;
  /** Longest wait for an answer, in ms; Infinity: none. Absent: the client's own. */
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
  locks: Locks;
  random: Random;
  exec: Exec;
  log: Log;
  /** A log of a command that goes on for long, on stderr. */
  openLog(how: { level: LogLevel; format: 'text' | 'journald' | 'json' }): Log;
  build: Build;
  /** How the person called it: usage lines say the same. */
  program: Program;
  /** Aborts on SIGINT, SIGTERM and SIGHUP: every wait ends then. */
  signal: AbortSignal;
  /** As the system has it, not yet in lower case. */
  hostName: string;
  /** Makes a path of the command line absolute. */
  path(text: string): string;
  /** A client of the API server; the caller closes it. @throws ActionError without a usable kubeconfig */
  connect(query: ConnectQuery): Promise<Client>;
  /** The namespace of the kubeconfig's context; undefined where it names none. @throws ActionError as `connect` */
  namespaceOf(query: ConnectQuery): Promise<string | undefined>;
}

/** A remark of a command on its own work. A warning is one that the person should act on. */
export interface Note {
  level: 'note' | 'warning';
  text: string;
}

/**
 * Ends a command that has something to remark on its own work. A separate line beside exit 0; else part of the one line that says
 * what was found, since stderr has no more than that. A command that fails never comes here: what it would have remarked is no help.
 */
export function withNote({ stderr }: Pick<Context, 'stderr'>, exit: Exit, note: Note | undefined): Exit {
  if (note === undefined) return exit;
  if (exit.code === 1) return { ...exit, why: `${exit.why}; ${note.text}` };
  stderr.write(`dkc: ${note.level}: ${note.text}\n`);
  return exit;
}
