import { randomBytes } from 'node:crypto';
import type { Clock, Millis } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { Random } from '../base/random.ts';
import { describeError } from '../base/errors.ts';
import { isJsonObject } from '../kube/api/json.ts';
import type { KubeObject } from '../kube/api/object.ts';
import type { Connection } from '../kube/client/connection.ts';
import type { Api } from './api.ts';
import { Authenticator } from './auth/authenticate.ts';
import type { Token } from './auth/authenticate.ts';
import { customResourceDefinitions, LiveKinds } from './crd/definitions.ts';
import { DirectLine } from './direct.ts';
import { unservedResources } from './faults/fault.ts';
import type { Fault } from './faults/fault.ts';
import { FaultPlan } from './faults/plan.ts';
import { Collector } from './gc/collector.ts';
import { deleteObject } from './handlers/delete.ts';
import type { Context } from './handlers/context.ts';
import { incomingObject } from './handlers/incoming.ts';
import { createObject } from './handlers/write.ts';
import type { Server } from './http/reply.ts';
import { storageName } from './kinds/kind.ts';
import type { Kind } from './kinds/kind.ts';
import { firstNamespaces } from './kinds/namespaces.ts';
import { systemPriorityClasses } from './kinds/priority-classes.ts';
import { firstClusterRoleBindings, firstClusterRoles } from './kinds/roles.ts';
import { builtInKinds, Registry } from './kinds/registry.ts';
import { badRequest } from './errors.ts';
import { Storage } from './storage/storage.ts';
import type { Change } from './storage/watch-log.ts';

export interface LocalApiOptions {
  /** Additional tokens, besides the admin's. Nodes are `system:node:NAME` in group `system:nodes`. */
  tokens?: readonly Token[];
  /** The feature gate DynamicKubeletConfig: Nodes store `spec.configSource` and `status.config`. @default true; false for a `version` from 1.26 on */
  dynamicKubeletConfig?: boolean;
  clock: Clock;
  random: Random;
  log: Log;
  /** Changes remembered per kind for watches and continued lists; older ones get 410. @default 10_000 */
  watchWindow?: number;
  /** Time between bookmarks of a watch, in ms. @default 60_000 */
  bookmarkMs?: number;
  /** The release that the server behaves like. @default 'v1.20.2' with the gate on, 'v1.36.3' with it off, as on real servers */
  version?: string;
  /** Faults. @default none */
  faults?: readonly Fault[];
  /** @default all built-in kinds */
  kinds?: readonly Kind[];
  /** CustomResourceDefinitions that exist from the start. @default none */
  definitions?: readonly KubeObject[];
  /** Runs the garbage collector. Disable it if kube-controller-manager collects garbage. @default true */
  garbageCollection?: boolean;
  /**
   * When deleted pods that are bound to a node are removed: never, as without a kubelet; or by a simulated kubelet, in a later turn or after this many ms.
   * @default 'none'
   */
  podKubelet?: 'none' | 'instant' | Millis;
}

/** An API server without a port: no sockets, no TLS, no real time. */
export interface LocalApi {
  /** The admin's token. */
  token: string;
  /** All tokens, the admin's first. */
  tokens: readonly Token[];
  /** For `ClientOptions.dial`: opens a connection to this server, whatever the address. */
  dial: () => Promise<Connection>;
  /** Creates the object of a manifest, with apiVersion and kind; the default namespace is `default`. @throws StatusError */
  add: (manifest: Readonly<Record<string, unknown>>) => KubeObject;
  /** Closes every direct connection. Idempotent. */
  stop(): void;
  /** For tests and demos. */
  hooks: LocalApiHooks;
  /** For transports other than `dial`. */
  server: Server;
}

export interface LocalApiHooks {
  /** Discards all changes so far: watches and continued lists from older versions get 410. */
  compact(): void;
  /** Closes every connection abruptly. */
  dropConnections(): void;
  /** Stops serving: closes connections and refuses new ones. Data stays. */
  pause(): Promise<void>;
  /** Serves again at the same address, with the same data. */
  resume(): Promise<void>;
  /** Replaces the fault plan. Logs a warning for resources that are not served. */
  setFaults(faults: readonly Fault[]): void;
  /** Resolves once the garbage collector has nothing left to do. */
  settled(): Promise<void>;
  storage: Storage;
}

/**
 * Creates an API server for this process only. It holds no sockets or files, and no timers but those of its pod kubelet: without one it needs no
 * `stop`.
 */
export function createLocalApi(options: LocalApiOptions): LocalApi {
  const token = randomBytes(16).toString('hex');
  const tokens: readonly Token[] = [{ token, user: 'admin', groups: ['system:masters'] }, ...(options.tokens ?? [])];
  const { version, gate } = releaseOf(options);
  const context: Context = {
    storage: new Storage(options.watchWindow ?? 10_000),
    registry: new Registry(options.kinds ?? [...builtInKinds, customResourceDefinitions], Number(version['minor'] ?? 0)),
    clock: options.clock,
    random: options.random,
    dynamicKubeletConfig: gate,
    bookmarkMs: options.bookmarkMs ?? 60_000,
  };
  const api: Api = {
    context,
    version,
    address: () => 'localhost',
    log: options.log,
  };
  const collector = options.garbageCollection === false ? undefined : new Collector(context, options.log);
  const liveKinds = new LiveKinds(context);
  const stopping = new AbortController();
  const { podKubelet = 'none' } = options;
  if (podKubelet !== 'none') finishPods(context, podKubelet === 'instant' ? 0 : podKubelet, options.log, stopping.signal);
  createFirstObjects(context);
  for (const definition of options.definitions ?? []) addObject(context, definition);
  const faults = new FaultPlan(options.faults ?? [], options.random);
  const warnOfStrangers = (named: readonly Fault[]): void => {
    const served = new Set(context.registry.all().map(({ kind }) => kind.resource));
    for (const resource of unservedResources(named, served)) options.log.warn('fault names a resource that is not served', { resource });
  };
  warnOfStrangers(options.faults ?? []);
  const server: Server = { api, authenticator: new Authenticator(tokens), faults };
  const line = new DirectLine(server);
  return {
    token,
    tokens,
    dial: () => line.dial(),
    add: (manifest) => addObject(context, manifest),
    stop() {
      stopping.abort();
      line.up = false;
    },
    hooks: {
      compact: () => context.storage.compact(),
      dropConnections: () => line.drop(),
      async pause() {
        line.up = false;
      },
      async resume() {
        line.up = true;
      },
      setFaults(next) {
        warnOfStrangers(next);
        faults.replace(next);
      },
      async settled() {
        await liveKinds.settled();
        await collector?.settled();
      },
      storage: context.storage,
    },
    server,
  };
}

/**
 * Simulates kubelets for deleted pods: removes a terminating pod after `ms`, or in a later turn of the event loop for 0. Finalizers still keep the pod.
 */
function finishPods(context: Context, ms: number, log: Log, signal: AbortSignal): void {
  const ending = new Set<string>();
  const finish = (change: Change): void => {
    const { uid = '', name = '', namespace = '' } = change.object.metadata;
    ending.delete(uid);
    const live = context.storage.get('/pods', change.key);
    const served = context.registry.stored('/pods');
    if (served === undefined || live?.metadata.uid !== uid) return;
    try {
      deleteObject(context, served, { namespace, name }, { dryRun: false, gracePeriodSeconds: 0, uid });
    } catch (error) {
      log.error('failed to finish deleted pod', { pod: `${namespace}/${name}`, error: describeError(error) });
    }
  };
  context.storage.onChange((kind, change) => {
    const { uid = '', deletionTimestamp, deletionGracePeriodSeconds = 0 } = change.object.metadata;
    if (kind !== '/pods' || change.type === 'DELETED' || deletionTimestamp === undefined) return;
    if (deletionGracePeriodSeconds === 0 || ending.has(uid)) return;
    ending.add(uid);
    if (ms === 0) {
      setImmediate(() => finish(change));
      return;
    }
    // Rejects only when the server stops.
    context.clock.sleep(ms, signal).then(
      () => finish(change),
      () => {},
    );
  });
}

function addObject(context: Context, manifest: Readonly<Record<string, unknown>>): KubeObject {
  const { apiVersion: version, kind: name, metadata } = manifest;
  const served = context.registry.named(String(version), String(name));
  if (served === undefined) throw badRequest(`no matches for kind ${JSON.stringify(name)} in version ${JSON.stringify(version)}`);
  const { namespace = 'default' }: { namespace?: unknown } = isJsonObject(metadata) ? metadata : {};
  const place = { name: '', namespace: served.kind.namespaced && typeof namespace === 'string' ? namespace : '' };
  return createObject(context, served, incomingObject({ ...manifest }, served, place), { dryRun: false, subresource: '' });
}

function createFirstObjects(context: Context): void {
  const namespaces = firstNamespaces.map((name) => ({ metadata: { name } }));
  const first: Readonly<Record<string, readonly KubeObject[]>> = {
    '/namespaces': namespaces,
    'scheduling.k8s.io/priorityclasses': systemPriorityClasses,
    'rbac.authorization.k8s.io/clusterroles': firstClusterRoles,
    'rbac.authorization.k8s.io/clusterrolebindings': firstClusterRoleBindings,
  };
  for (const served of context.registry.all()) {
    const objects = first[storageName(served.kind)] ?? [];
    for (const { metadata, ...rest } of objects)
      createObject(context, served, { ...rest, metadata: { ...metadata } }, { dryRun: false, subresource: '' });
  }
}

const NATIVE_VERSION = 'v1.20.2';
const TODAYS_VERSION = 'v1.36.3';
/** First release 1.N without the gate: its servers drop both fields. */
const WITHOUT_GATE = 26;

function releaseOf({ version: asked, dynamicKubeletConfig }: LocalApiOptions): { version: Record<string, string>; gate: boolean } {
  const version = versionInfo(asked ?? (dynamicKubeletConfig === false ? TODAYS_VERSION : NATIVE_VERSION));
  return { version, gate: dynamicKubeletConfig ?? Number(version['minor']) < WITHOUT_GATE };
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
