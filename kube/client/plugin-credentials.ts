import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import type { RequestOptions } from 'node:https';
import { chmod, chown, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { delimiter } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ExecAuth } from '@kubernetes/client-node/dist/exec_auth.js';
import type { Document, isMap, isScalar, isSeq, parseDocument } from 'yaml';
import { ActionError, describeError, errorCode } from '../../base/errors.ts';
import { isJsonObject, type JsonObject } from '../api/json.ts';
import { OidcUser } from './oidc.ts';
import type { Millis } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { ExecInfo, Plugin } from './access.ts';

export interface PluginCredentials {
  authorization: string | undefined;
  cert?: string;
  key?: string;
}

interface CredentialsRequest {
  renew: boolean;
  ca?: string | undefined;
  /** In ms. @default 300_000 */
  longestRunMs?: Millis;
  /** Aborts when the caller needs no answer any more. */
  signal?: AbortSignal;
}

interface PendingRequest {
  renews: boolean;
  answer: Promise<PluginCredentials>;
  /** Number of callers that wait for the answer. */
  waiters: number;
  /** Ends the program. */
  stop: AbortController;
}

type ExecPlugin = Extract<Plugin, { exec: JsonObject }>;
type OidcPlugin = Extract<Plugin, { oidc: JsonObject }>;

const execs = new WeakMap<ExecPlugin, ExecAuth>();
const oidcUsers = new WeakMap<OidcPlugin, OidcUser>();
const unwritable = new Set<string>();
/** Requests for credentials that are running. A process has several clients of one user, whose credentials expire for all of them at once. */
const pendingRequests = new WeakMap<Plugin, PendingRequest>();

/**
 * Credentials from a kubeconfig user's `exec` program, kept until they expire, or from its OIDC provider. Concurrent callers share one request: a provider
 * that accepts each refresh token once would reject the second, or consider both stolen.
 * @param renew - the server rejected the last credentials: run the program again, refresh the token
 * @param nowMs - the wall clock
 * @param ca - PEM of the cluster's certificate authorities, for programs that ask for it
 * @param longestRunMs - a program that takes longer is killed
 * @param signal - once no caller waits any more, the program is killed: a command that was interrupted could otherwise not exit before it
 * @param log - gets a warning when refreshed tokens cannot be written back
 * @throws {ActionError} when the program or the provider fails
 */
export async function pluginCredentials(
  plugin: Plugin,
  request: CredentialsRequest & { nowMs: Millis; log: Log },
): Promise<PluginCredentials> {
  for (let other = pendingRequests.get(plugin); other !== undefined; other = pendingRequests.get(plugin)) {
    // One that was stopped fails, whatever its program has answered.
    if (!other.stop.signal.aborted && (other.renews || !request.renew)) return answerOf(other, request.signal);
    await other.answer.catch(() => undefined);
  }
  const stop = new AbortController();
  const answer = requestCredentials(plugin, { ...request, signal: stop.signal }).finally(() => pendingRequests.delete(plugin));
  const run = { renews: request.renew, answer, waiters: 0, stop };
  pendingRequests.set(plugin, run);
  return answerOf(run, request.signal);
}

async function answerOf(run: PendingRequest, signal: AbortSignal | undefined): Promise<PluginCredentials> {
  const leave = (): void => {
    if (--run.waiters === 0) run.stop.abort();
  };
  run.waiters++;
  if (signal?.aborted === true) leave();
  else signal?.addEventListener('abort', leave, { once: true });
  try {
    return await run.answer;
  } finally {
    signal?.removeEventListener('abort', leave);
  }
}

async function requestCredentials(
  plugin: Plugin,
  { nowMs, log, ...request }: CredentialsRequest & { nowMs: Millis; log: Log },
): Promise<PluginCredentials> {
  const { renew } = request;
  if ('oidc' in plugin) {
    const user = oidcUsers.get(plugin) ?? new OidcUser(plugin.oidc, (tokens) => keep(plugin, tokens, log));
    oidcUsers.set(plugin, user);
    return { authorization: `Bearer ${await user.token(nowMs, renew)}` };
  }
  return execCredentials(plugin, request);
}

/** For a program that hangs. Longer than programs wait for a login in a browser. */
const LONGEST_RUN_MS: Millis = 5 * 60_000;
/** Bytes that the program may write, to both of its outputs together. */
const LONGEST_ANSWER = 4 * 1024 * 1024;

/** Loads only this part of @kubernetes/client-node: its index would load the whole generated API, some 86 MB of memory. */
async function execCredentials(
  plugin: ExecPlugin,
  { renew, ca, longestRunMs = LONGEST_RUN_MS, signal }: CredentialsRequest,
): Promise<PluginCredentials> {
  const { ExecAuth } = await import('@kubernetes/client-node/dist/exec_auth.js');
  const auth = (renew ? undefined : execs.get(plugin)) ?? new ExecAuth();
  execs.set(plugin, auth);
  const run = new Run(longestRunMs, signal);
  auth['execFn'] = run.spawn;
  const options: RequestOptions & { headers: Record<string, string> } = { headers: {} };
  const given: readonly unknown[] = Array.isArray(plugin.exec['env']) ? plugin.exec['env'] : [];
  // The package does not set this variable, client-go always does: programs read from it the apiVersion to answer with.
  const env = [...given.filter(isJsonObject), { name: 'KUBERNETES_EXEC_INFO', value: execInfoText(plugin.execInfo, ca) }];
  try {
    await auth.applyAuthentication({ name: plugin.user, exec: { ...plugin.exec, env } }, options);
    return checked(options);
  } catch (cause) {
    // The package caches a program's answer before checking it, and would return the invalid answer from then on.
    execs.delete(plugin);
    const install = plugin.exec['installHint'];
    throw new ActionError('get credentials for', plugin.kubeconfig, {
      hint: `the exec program ${String(plugin.exec['command'])} of user "${plugin.user}" failed; ${typeof install === 'string' ? install : 'run kubectl with this kubeconfig to see why'}`,
      cause: run.explained(cause),
    });
  }
}

/** Checks a program's answer as client-go does. @throws {Error} for an answer without credentials: a request without any would be sent as anonymous */
function checked(options: RequestOptions & { headers: Record<string, string> }): PluginCredentials {
  const authorization = options.headers['Authorization'];
  const [cert, key] = [pem(options.cert), pem(options.key)];
  if ((cert === undefined) !== (key === undefined)) throw new Error('it answered with a certificate or a key alone');
  if (authorization === undefined && cert === undefined) throw new Error('it answered with neither a token nor a certificate and its key');
  if (authorization !== undefined && !/^Bearer [\x21-\x7e]+$/.test(authorization))
    throw new Error('it answered with a token that contains characters that are not allowed in one');
  return { authorization, ...(cert === undefined ? {} : { cert }), ...(key === undefined ? {} : { key }) };
}

/** One run of an exec program. */
class Run {
  readonly #longestMs: Millis;
  readonly #signal: AbortSignal | undefined;
  #end: string | undefined;
  #killed: Error | undefined;

  constructor(longestMs: Millis, signal: AbortSignal | undefined) {
    this.#longestMs = longestMs;
    this.#signal = signal;
  }

  /** Without stdin, as client-go does for non-interactive programs: a program that reads gets the end of input and does not wait forever. */
  readonly spawn = (command: string, args: readonly string[] | undefined, options: SpawnOptions): ChildProcess => {
    const child = spawn(command, args ?? [], { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    const kill = (why: string): void => {
      this.#killed ??= new Error(`${why}, and was killed`);
      child.kill('SIGKILL');
      // Children of the program may still run and hold these open.
      child.stdout.destroy();
      child.stderr.destroy();
    };
    const timer = setTimeout(() => kill(`it did not end within ${this.#longestMs / 1_000} s`), this.#longestMs);
    // The package buffers all output of both streams.
    let length = 0;
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (part: string | Buffer) => {
        length += part.length;
        if (length > LONGEST_ANSWER) kill(`it wrote more than ${LONGEST_ANSWER} bytes`);
      });
    child.once('exit', (code, signal) => (this.#end = `it exited with ${signal ?? code}, without output`));
    const leave = (): void => kill('it was no longer needed');
    if (this.#signal?.aborted === true) leave();
    else this.#signal?.addEventListener('abort', leave, { once: true });
    child.once('close', () => clearTimeout(timer));
    return child;
  };

  /** The package's error is what the program wrote to stderr, which may be empty, or not the reason for its end. */
  explained(cause: unknown): unknown {
    if (this.#killed !== undefined) return this.#killed;
    return cause instanceof Error && cause.message.trim() === '' && this.#end !== undefined ? new Error(this.#end, { cause }) : cause;
  }
}

function execInfoText({ kind, apiVersion, spec }: ExecInfo, ca: string | undefined): string {
  const { cluster, ...rest } = spec;
  const data = ca === undefined ? undefined : Buffer.from(ca).toString('base64');
  return JSON.stringify({
    kind,
    apiVersion,
    spec: { ...rest, ...(cluster !== undefined && { cluster: { ...cluster, 'certificate-authority-data': data } }) },
  });
}

/** Warns once about a kubeconfig that cannot be written (a read-only mount); the tokens in memory stay in use. */
async function keep({ kubeconfig, user }: OidcPlugin, tokens: NewTokens, log: Log): Promise<void> {
  if (unwritable.has(kubeconfig)) return;
  try {
    await persistTokens(kubeconfig, user, tokens);
  } catch (error) {
    unwritable.add(kubeconfig);
    const remedy = 'if the provider issues each refresh token once, log in again before restarting this process';
    log.warn('failed to save refreshed OIDC tokens, keeping them in memory only', { error: describeError(error), remedy });
  }
}

function pem(value: unknown): string | undefined {
  return typeof value === 'string' || Buffer.isBuffer(value) ? value.toString() : undefined;
}

/** The library, loaded when it is needed. */
interface Yaml {
  isMap: typeof isMap;
  isScalar: typeof isScalar;
  isSeq: typeof isSeq;
  parseDocument: typeof parseDocument;
}

/** A provider's tokens, and the refresh token that was used for them. */
export interface NewTokens {
  idToken: string;
  refreshToken: string;
  /** The refresh token that was used up. */
  used: string;
}

/** kubectl holds the lock for a moment. */
const LOCK_TRIES = 20;
const LOCK_WAIT_MS = 50;

/**
 * Writes refreshed OIDC tokens into the user's kubeconfig, as kubectl does: where a provider accepts each refresh token once, the one in the file is no
 * longer valid. Everything else in the file stays as it is, comments and unknown fields too; the file is replaced as a whole, under kubectl's lock.
 * @param kubeconfig - a path; several as in `$KUBECONFIG`, of which the first that has the user is written
 * @returns false where the file has another refresh token by now: another process has logged in or refreshed, and its tokens stay
 * @throws {ActionError} when the file cannot be written; its message has no token
 */
export async function persistTokens(kubeconfig: string, user: string, tokens: NewTokens): Promise<boolean> {
  for (const path of new Set([kubeconfig, ...kubeconfig.split(delimiter)])) {
    const written = await persistIn(path, user, tokens).catch((cause: unknown) => {
      if (errorCode(cause) === 'ENOENT') return undefined;
      throw new ActionError('write the refreshed OIDC tokens into', path, { hint: remedyFor(errorCode(cause), path), cause });
    });
    if (written !== undefined) return written;
  }
  return false;
}

function remedyFor(code: string | undefined, path: string): string {
  if (code === 'EEXIST') return `another process holds ${path}.lock; if no process does, remove that file`;
  return code === undefined ? 'it cannot be read as YAML; log in again' : 'make the file and its directory writable';
}

/** @returns undefined where the file does not have the user */
async function persistIn(path: string, user: string, tokens: NewTokens): Promise<boolean | undefined> {
  const file = await realpath(path);
  const yaml = await import('yaml');
  if (withTokens(yaml, await readFile(file, 'utf8'), user, tokens) === undefined) return undefined;
  const lock = `${file}.lock`;
  await takeLock(lock);
  try {
    const text = withTokens(yaml, await readFile(file, 'utf8'), user, tokens);
    if (typeof text === 'string') await replace(file, text);
    return typeof text === 'string';
  } finally {
    await rm(lock, { force: true });
  }
}

async function takeLock(lock: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await (await open(lock, 'wx', 0o600)).close();
      return;
    } catch (error) {
      if (errorCode(error) !== 'EEXIST' || tries === LOCK_TRIES) throw error;
      await delay(LOCK_WAIT_MS);
    }
  }
}

/** Replaces the file atomically: a crash leaves the old text or the whole new one. */
async function replace(file: string, text: string): Promise<void> {
  const { mode, uid, gid } = await stat(file);
  const next = `${file}.dkc-${process.pid}`;
  try {
    const handle = await open(next, 'wx', 0o600);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    // Keep the owner where permitted: only root may set it.
    await chown(next, uid, gid).catch(() => {});
    await chmod(next, mode & 0o777);
    await rename(next, file);
  } catch (error) {
    await rm(next, { force: true });
    throw error;
  }
}

/** @returns the new text; false where it has another refresh token; undefined where it has no such user */
function withTokens(yaml: Yaml, text: string, user: string, { idToken, refreshToken, used }: NewTokens): string | false | undefined {
  const document = yaml.parseDocument(text, { prettyErrors: false, logLevel: 'silent' });
  if (document.errors.length > 0) throw new Error('it cannot be read as YAML');
  const config = configOf(yaml, document, user);
  if (config === undefined) return undefined;
  if (document.getIn([...config, 'refresh-token']) !== used) return false;
  const values = { 'id-token': idToken, 'refresh-token': refreshToken };
  const places = Object.entries(values).flatMap(([field, value]) => {
    const node = document.getIn([...config, field], true);
    return yaml.isScalar(node) && node.range ? [{ from: node.range[0], to: node.range[1], value }] : [];
  });
  if (places.length === 2) return spliced(text, places);
  // One of the fields is missing: the library inserts it, and may reformat numbers and spaces elsewhere.
  for (const [field, value] of Object.entries(values)) document.setIn([...config, field], value);
  return document.toString({ lineWidth: 0, indentSeq: false });
}

/** The text with two values replaced, and every other byte unchanged. A JSON string is also a YAML string. */
function spliced(text: string, places: readonly { from: number; to: number; value: string }[]): string {
  let result = text;
  for (const { from, to, value } of places.toSorted((a, b) => b.from - a.from))
    result = `${result.slice(0, from)}${JSON.stringify(value)}${result.slice(to)}`;
  return result;
}

function configOf({ isMap, isSeq }: Yaml, document: Document, user: string): (string | number)[] | undefined {
  const users = document.get('users');
  if (!isSeq(users)) return undefined;
  const at = users.items.findIndex((item) => isMap(item) && item.get('name') === user);
  const config = ['users', at, 'user', 'auth-provider', 'config'];
  return at >= 0 && isMap(document.getIn(config)) ? config : undefined;
}
