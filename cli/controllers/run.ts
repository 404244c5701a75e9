import { runLong } from '../process/run.ts';
import { type ControllersSettings, pageOptions } from './settings.ts';
import { rightsFor } from './rights.ts';
import type { DaemonSetOptions, StatefulSetOptions } from '../../controllers/common/types.ts';
import { ActionError, describeError } from '../../base/errors.ts';
import { installCommand } from '../../agent/status/choose-carrier.ts';
import { serverFacts, type ServerFacts, servesResource } from '../../controllers/fleet/server-facts.ts';
import { rollouts } from '../../controllers/rollout/types.ts';
import type { PageOptions } from '../../controllers/page/page.ts';
import type { RolloutOptions } from '../../controllers/rollout/observe.ts';
import type { Client } from '../../kube/client/client.ts';
import type { Log } from '../../base/log.ts';
import type { ProcessOptions, Runnable, Runtime } from '../../kube/process/contract.ts';
import type { Context, Exit } from '../command.ts';
import { dirname, resolve } from 'node:path';
import { parseDocument } from 'yaml';
import { type PrometheusServer, SERVERS_FLAG, type TlsFiles } from '../../controllers/rollout/gates/contract.ts';
import { Findings, type Mapping, type MustBe, readMapping } from '../../scheduler/config/mapping.ts';
import { readConfigFile } from '../config/config-file.ts';

/** Constructors of the controllers. */
export interface Makers {
  daemonset: (runtime: Runtime, options: DaemonSetOptions) => Runnable;
  statefulset: (runtime: Runtime, options: StatefulSetOptions) => Runnable;
  rollout: (runtime: Runtime, options: RolloutOptions & { serves: ServerFacts }) => Runnable;
  page: (runtime: Runtime, options: PageOptions) => Runnable;
}

/** Runs controllers until the context's signal aborts. @see runLong */
export async function runControllers(
  context: Context,
  settings: ControllersSettings,
  makers: Makers,
  serviceAccount?: string,
): Promise<Exit> {
  const page = settings.page === undefined ? undefined : await pageOptions(context, settings.page);
  const servers = await prometheusServers(context, settings.prometheusConfig);
  return runLong(context, settings, {
    command: 'controllers run',
    // User agent in the server's audit log, and reporting component of events about the lease.
    name: 'dkc-controllers',
    rights: rightsFor(settings),
    resyncMs: settings.resyncMs,
    setup: setupOf({ ...settings, rollout: { ...settings.rollout, prometheusServers: servers } }, makers, page),
    announce: (log, server) => announce(log, settings, server),
    serviceAccount,
  });
}

/** The rollout controller first asks the server what it serves; the other controllers need no such facts. */
function setupOf(settings: ControllersSettings, makers: Makers, page: Omit<PageOptions, 'serves'> | undefined): ProcessOptions['setup'] {
  const { controllers } = settings;
  const sets = (runtime: Runtime): Runnable[] => [
    ...(controllers.includes('daemonset') ? [makers.daemonset(runtime, settings.daemonSet)] : []),
    ...(controllers.includes('statefulset') ? [makers.statefulset(runtime, settings.statefulSet)] : []),
  ];
  if (!controllers.includes('rollout')) return sets;
  return {
    discover: async (client, signal) => {
      const serves = await rolloutFacts(client, signal);
      const pages = (runtime: Runtime): Runnable[] =>
        page === undefined ? [] : [makers.page(runtime, { ...page, ...settings.rollout, serves })];
      return (runtime) => [...sets(runtime), makers.rollout(runtime, { ...settings.rollout, serves }), ...pages(runtime)];
    },
  };
}

/** @throws {ActionError} where the server does not serve rollouts: the caller retries, and readiness reports the reason */
async function rolloutFacts(client: Client, signal: AbortSignal): Promise<ServerFacts> {
  const [facts, isServed] = await Promise.all([serverFacts(client, signal), servesResource(client, rollouts, signal)]);
  if (!isServed)
    throw new ActionError('run', 'the rollout controller', {
      hint: `the API server does not serve ${rollouts.kind}s; to install them: ${installCommand(facts.version)}`,
    });
  return facts;
}

function announce(log: Log, { controllers, daemonSet, rollout, leaderElect, resyncMs }: ControllersSettings, server: string): void {
  log.info('starting controllers', {
    controllers: controllers.join(','),
    server,
    namespace: daemonSet.namespace ?? 'all',
    objectSelector: daemonSet.objectSelector ?? 'all',
    ...(controllers.includes('daemonset') ? { placement: daemonSet.placement } : {}),
    ...(controllers.includes('rollout')
      ? { rolloutNamespace: rollout.configMapNamespace, rolloutMaxUnavailable: rollout.maxUnavailable ?? 'none' }
      : {}),
    workers: daemonSet.workers,
    ...(resyncMs > 0 ? { resyncMs } : {}),
    lease: leaderElect === false ? 'none' : `${leaderElect.namespace}/${leaderElect.name}`,
  });
  if (leaderElect === false) log.warn('leader election is off: make sure that this is the only process for these objects');
}

/** Maximum number of servers in one file: each request searches the list. */
const MAX_SERVERS = 64;

/** What `--rollout-prometheus-config` names. @throws {ActionError} naming the file, the key and what it must be */
async function prometheusServers(context: Context, file: string | undefined): Promise<readonly PrometheusServer[]> {
  if (file === undefined) return [];
  const text = Buffer.from(await readConfigFile(context, file)).toString('utf8');
  const path = file === '-' ? 'standard input' : context.path(file);
  return parsePrometheusConfig(text, path, file === '-' ? context.path('.') : dirname(path));
}

/** @param directory - base of relative paths. Pure. @throws {ActionError} */
export function parsePrometheusConfig(text: string, path: string, directory: string): readonly PrometheusServer[] {
  const wrong = (hint: string): ActionError => new ActionError(`use ${SERVERS_FLAG}`, path, { hint });
  const document = parseDocument(text, { uniqueKeys: true, logLevel: 'error' });
  const [error] = document.errors;
  if (error !== undefined) throw wrong(`it is not YAML: ${describeError(error).split('\n')[0]}`);
  const findings = new Findings();
  const servers = readMapping(document.toJS({ maxAliasCount: 100 }), '', findings, (all) => {
    all.requires('servers');
    return all.mappings('servers', (server) => readServer(server, directory)) ?? [];
  });
  const [problem] = findings.problems;
  if (problem !== undefined) throw wrong(problem.path === '' ? problem.message : `${problem.path}: ${problem.message}`);
  if (servers.length > MAX_SERVERS) throw wrong(`it has ${servers.length} servers, at most ${MAX_SERVERS} are allowed`);
  return servers;
}

function readServer(server: Mapping, directory: string): PrometheusServer {
  server.requires('url');
  const file = (of: Mapping, key: string): string | undefined => {
    const text = of.text(key, undefined, mustNotBeEmpty);
    return text === undefined ? undefined : resolve(directory, text);
  };
  // The error does not repeat the URL: it may contain a password.
  const url = server.secret('url') ?? '';
  if (url !== '' && !isBase(url))
    server.problem('url', 'it must be the base of a server without credentials, such as https://prometheus.monitoring:9090');
  const bearerTokenFile = file(server, 'bearerTokenFile');
  const basicAuth = server.has('basicAuth') ? server.mapping('basicAuth', (auth) => readBasicAuth(auth, file)) : undefined;
  if (bearerTokenFile !== undefined && basicAuth !== undefined)
    server.problem('basicAuth', 'there is a bearerTokenFile as well; keep one of them');
  const tlsConfig = server.has('tlsConfig') ? server.mapping('tlsConfig', (tls) => readTls(tls, file)) : undefined;
  if (tlsConfig !== undefined && url.startsWith('http:')) server.problem('tlsConfig', 'the URL is http; write https, or leave it out');
  return { url, bearerTokenFile, basicAuth, tlsConfig };
}

type File = (of: Mapping, key: string) => string | undefined;

function readBasicAuth(auth: Mapping, file: File): NonNullable<PrometheusServer['basicAuth']> {
  auth.requires('username', 'passwordFile');
  return { username: auth.text('username', '', mustBeUser), passwordFile: file(auth, 'passwordFile') ?? '' };
}

function readTls(tls: Mapping, file: File): TlsFiles {
  const [caFile, certFile, keyFile] = [file(tls, 'caFile'), file(tls, 'certFile'), file(tls, 'keyFile')];
  if ((certFile === undefined) !== (keyFile === undefined)) tls.problem('certFile', 'certFile and keyFile belong together; write both');
  return { caFile, certFile, keyFile, serverName: tls.text('serverName', undefined, mustNotBeEmpty) };
}

const mustNotBeEmpty: MustBe = (text) => (text === '' ? 'not empty' : undefined);
const mustBeUser: MustBe = (text) => (text === '' || /[:\p{Cc}]/u.test(text) ? 'a name without a colon' : undefined);

function isBase(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && ['http:', 'https:'].includes(url.protocol) && url.username === '' && url.password === '' && !/[?#]/.test(text);
}
