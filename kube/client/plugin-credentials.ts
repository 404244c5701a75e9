import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import type { RequestOptions } from 'node:https';
import type { ExecAuth } from '@kubernetes/client-node/dist/exec_auth.js';
import { ActionError, describeError } from '../../base/errors.ts';
import { isJsonObject, type JsonObject } from '../api/json.ts';
import { type NewTokens, persistTokens } from './kubeconfig-tokens.ts';
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
