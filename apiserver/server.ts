import { randomBytes } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { isJsonObject } from '../kube/api/json.ts';
import type { KubeObject } from '../kube/api/object.ts';
import type { Random } from '../base/random.ts';
import type { Api } from './api.ts';
import { Authenticator } from './auth/authenticate.ts';
import type { Token } from './auth/authenticate.ts';
import type { Context } from './handlers/context.ts';
import { incomingObject } from './handlers/incoming.ts';
import { createObject } from './handlers/write.ts';
import type { Fault } from './faults/fault.ts';
import { FaultPlan } from './faults/plan.ts';
import { listen } from './http/listener.ts';
import type { Incoming, Listener, Outgoing } from './http/listener.ts';
import { serve } from './http/serve.ts';
import { firstNamespaces } from './kinds/namespaces.ts';
import { apiVersion } from './kinds/kind.ts';
import type { Kind } from './kinds/kind.ts';
import { builtInKinds, Registry } from './kinds/registry.ts';
import { kubeconfigText } from './kubeconfig.ts';
import { Storage } from './storage/storage.ts';
import { badRequest } from './status-error.ts';
import { selfSigned } from './tls/certificate.ts';

export interface ApiServerOptions {
  /** Loopback only; port 0 takes a free one. @default '127.0.0.1:0' */
  listen?: string;
  /** @default true */
  tls?: boolean;
  /** Besides the admin, who always has one. Nodes are `system:node:NAME` in group `system:nodes`. */
  tokens?: readonly Token[];
  /** The feature gate DynamicKubeletConfig. @default true */
  dynamicKubeletConfig?: boolean;
  clock: Clock;
  random: Random;
  log: Log;
  /** Changes remembered per kind for watches and continued lists; older ones get 410. @default 10_000 */
  watchWindow?: number;
  /** Time between bookmarks of a watch, in ms. @default 60_000 */
  bookmarkMs?: number;
  /** What it says it is. @default 'v1.20.2' with the gate on, 'v1.34.0' with it off, as real servers have it */
  version?: string;
  /** What goes wrong on purpose. @default nothing */
  faults?: readonly Fault[];
  /** @default all built-in kinds */
  kinds?: readonly Kind[];
}

export interface ApiServer {
  /** `https://127.0.0.1:PORT`. */
  url: string;
  /** '' without TLS. */
  caPem: string;
  /** The admin's. */
  token: string;
  /** Of the admin, or of whoever has `token`; YAML. */
  kubeconfig(token?: string): string;
  /** Creates an object as a manifest has it, with apiVersion and kind; without a namespace it goes into `default`. @throws StatusError */
  add(manifest: Readonly<Record<string, unknown>>): KubeObject;
  /** Ends every connection; data is gone. Twice is harmless. */
  stop(): Promise<void>;
  /** For tests and demos. */
  hooks: ApiServerHooks;
}

export interface ApiServerHooks {
  /** Forgets all changes so far: watches and continued lists from older versions get 410. */
  compact(): void;
  /** Cuts every connection, without a word. */
  dropConnections(): void;
  /** Goes away: connections are cut and new ones refused. Data stays. */
  pause(): Promise<void>;
  /** Comes back at the same address, with what it had. */
  resume(): Promise<void>;
  /** Replaces the fault plan. */
  setFaults(faults: readonly Fault[]): void;
  storage: Storage;
}

/** Starts an API server in this process. @throws ActionError when it cannot listen there */
export async function startApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const gate = options.dynamicKubeletConfig ?? true;
  const token = randomBytes(16).toString('hex');
  const tokens: readonly Token[] = [{ token, user: 'admin', groups: ['system:masters'] }, ...(options.tokens ?? [])];
  const keys = options.tls === false ? undefined : selfSigned(options.clock.now());
  const context = {
    storage: new Storage(options.watchWindow ?? 10_000),
    registry: new Registry(options.kinds ?? builtInKinds),
    clock: options.clock,
    random: options.random,
    dynamicKubeletConfig: gate,
    bookmarkMs: options.bookmarkMs ?? 60_000,
  };
  let listener: Listener | undefined;
  let address = '';
  const stopping = new AbortController();
  const api: Api = {
    context,
    version: versionInfo(options.version ?? (gate ? 'v1.20.2' : 'v1.34.0')),
    address: () => address,
    log: options.log,
  };
  createFirstNamespaces(api);
  const authenticator = new Authenticator(tokens);
  const faults = new FaultPlan(options.faults ?? [], options.random);
  const handle = (request: Incoming, response: Outgoing): void => {
    serve({ api, authenticator, faults, stopping: stopping.signal, resetPort: (port) => listener?.reset(port) }, request, response).catch(
      (error: unknown) => {
        options.log.debug('request not answered', { error: describeError(error) });
        response.destroy();
      },
    );
  };
  const open = async (at: string): Promise<void> => {
    listener = await listen(at, keys, handle);
    address = listener.address;
  };
  const close = async (): Promise<void> => {
    const closing = listener;
    listener = undefined;
    await closing?.close();
  };
  await open(options.listen ?? '127.0.0.1:0');
  const url = `${keys ? 'https' : 'http'}://${address}`;
  const caPem = keys?.certificatePem ?? '';
  return {
    url,
    caPem,
    token,
    kubeconfig: (of = token) => kubeconfigText({ url, caPem, token: of, user: tokens.find((one) => one.token === of)?.user ?? 'user' }),
    add: (manifest) => addObject(context, manifest),
    async stop() {
      stopping.abort();
      await close();
    },
    hooks: {
      compact: () => context.storage.compact(),
      dropConnections: () => listener?.dropConnections(),
      pause: close,
      async resume() {
        if (listener === undefined) await open(address);
      },
      setFaults: (next) => faults.replace(next),
      storage: context.storage,
    },
  };
}

function addObject(context: Context, manifest: Readonly<Record<string, unknown>>): KubeObject {
  const { apiVersion: version, kind: name, metadata } = manifest;
  const served = context.registry.all().find(({ kind, at }) => kind.kind === name && apiVersion(at) === version);
  if (served === undefined) throw badRequest(`no matches for kind ${JSON.stringify(name)} in version ${JSON.stringify(version)}`);
  const { namespace = 'default' }: { namespace?: unknown } = isJsonObject(metadata) ? metadata : {};
  const place = { name: '', namespace: served.kind.namespaced && typeof namespace === 'string' ? namespace : '' };
  return createObject(context, served, incomingObject({ ...manifest }, served, place), { dryRun: false, subresource: '' });
}

function createFirstNamespaces(api: Api): void {
  const served = api.context.registry.find('', 'v1', 'namespaces');
  if (served === undefined) return;
  for (const name of firstNamespaces) createObject(api.context, served, { metadata: { name } }, { dryRun: false, subresource: '' });
}

function versionInfo(gitVersion: string): Record<string, string> {
  const [, major = '1', minor = ''] = /^v(\d+)\.(\d+)/.exec(gitVersion) ?? [];
  return {
    major,
    minor,
    gitVersion,
    gitCommit: '',
    gitTreeState: 'clean',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: 'none',
    compiler: 'none',
    platform: 'linux/amd64',
  };
}
