import { dirname, resolve } from 'node:path';
import { parseDocument } from 'yaml';
import { readConfigFile } from '../config/config-file.ts';
import { type PrometheusServer, SERVERS_FLAG, type TlsFiles } from '../../controllers/rollout/gates/contract.ts';
import { Findings, type Mapping, type MustBe, readMapping } from '../../kube/process/mapping.ts';
import { dnsLabelProblems } from '../../kube/api/names.ts';
import { parseLabelSelector, SelectorError } from '../../kube/api/selector.ts';
import { processSettings, type ProcessSettings, usageOf } from '../process/settings.ts';
import type { DaemonSetOptions, StatefulSetOptions } from '../../controllers/common/types.ts';
import type { RolloutOptions } from '../../controllers/rollout/observe.ts';
import type { Args } from '../args/args.ts';
import { ActionError, describeError, nearest } from '../../base/errors.ts';
import { FreshFile } from '../../base/changing-files.ts';
import { type BindAddress, isLoopback, parseBindAddress } from '../../kube/serving/serve.ts';
import { pageAssets } from './page-assets.ts';
import type { PageOptions } from '../../controllers/page/page.ts';
import type { Context, Flag } from '../command.ts';

const COMMAND = 'controllers run';
const usage = usageOf(COMMAND);

/** The checked settings of `dkc controllers run`. */
export interface ControllersSettings extends ProcessSettings {
  controllers: readonly ControllerName[];
  daemonSet: DaemonSetOptions;
  statefulSet: StatefulSetOptions;
  rollout: RolloutOptions;
  /** File that lists the Prometheus servers that need credentials. */
  prometheusConfig: string | undefined;
  /** The fleet page, served by the rollout controller; undefined: no page. */
  page: PageSettings | undefined;
  resyncMs: number;
}

/** @throws {UsageError} naming the flag and what it must be */
export function controllersSettings(args: Args): ControllersSettings {
  const names = readControllerNames(args.text('controllers') ?? '');
  if (!names.ok) throw usage('controllers', names.problem);
  const workers = args.number('concurrent-syncs') ?? 0;
  if (workers < 1) throw usage('concurrent-syncs', 'must be 1 or more');
  const namespace = args.text('namespace') ?? '';
  if (namespace !== '' && dnsLabelProblems(namespace).length > 0) throw usage('namespace', 'must be a namespace');
  const objectSelector = args.text('object-selector') ?? '';
  mustBeSelector(objectSelector);
  const settings = processSettings(COMMAND, args);
  const sets = { workers, ...(namespace === '' ? {} : { namespace }), ...(objectSelector === '' ? {} : { objectSelector }) };
  const placement = args.text('daemonset-placement') === 'controller' ? 'controller' : 'scheduler';
  if (placement === 'controller' && !names.names.includes('daemonset'))
    throw usage('daemonset-placement', 'applies to DaemonSets, which --controllers excludes');
  const configMapNamespace = args.text('rollout-namespace') ?? '';
  if (dnsLabelProblems(configMapNamespace).length > 0) throw usage('rollout-namespace', 'must be a namespace');
  return {
    ...settings,
    controllers: names.names,
    daemonSet: { placement, ...sets },
    statefulSet: sets,
    rollout: { configMapNamespace, workers, ...maxUnavailableOf(args.text('rollout-max-unavailable')) },
    prometheusConfig: args.text('rollout-prometheus-config') || undefined,
    page: names.names.includes('rollout') ? pageSettings(COMMAND, args) : undefined,
    resyncMs: args.ms('resync') ?? 0,
  };
}

/** 0 is invalid: it would block every rollout forever without a visible reason, unlike `dkc rollout pause`. */
function maxUnavailableOf(text: string | undefined): Pick<RolloutOptions, 'maxUnavailable'> {
  if (text === undefined || text === '') return {};
  const isPercent = /^(100|[1-9][0-9]?)%$/.test(text);
  if (!isPercent && !/^[1-9][0-9]{0,5}$/.test(text))
    throw usage('rollout-max-unavailable', 'must be a number of nodes from 1 on, or a percentage from 1% to 100%');
  return { maxUnavailable: isPercent ? text : Number(text) };
}

function mustBeSelector(text: string): void {
  try {
    parseLabelSelector(text);
  } catch (error) {
    if (error instanceof SelectorError)
      throw usage('object-selector', `must be a label selector such as app=web,tier!=test: ${error.message}`);
    throw error;
  }
}

/** The controllers of `dkc controllers run`. */
export const controllerNames = ['daemonset', 'statefulset', 'rollout'] as const;
export type ControllerName = (typeof controllerNames)[number];

/** Default of --controllers: those whose kinds every API server serves. */
export const DEFAULT_CONTROLLERS: readonly ControllerName[] = ['daemonset', 'statefulset'];

type NamesRead = { ok: true; names: readonly ControllerName[] } | { ok: false; problem: string };

/** Reads `--controllers=a,b`: each name once, in the order of {@link controllerNames}. */
function readControllerNames(text: string): NamesRead {
  const asked = text.split(',').map((name) => name.trim());
  const there = controllerNames.join(', ');
  for (const name of asked) {
    if (name === '') return { ok: false, problem: `has an empty name; known: ${there}` };
    if (!isControllerName(name)) {
      const meant = nearest(name, controllerNames);
      return {
        ok: false,
        problem: `has an unknown controller ${JSON.stringify(name)}${meant === undefined ? `; known: ${there}` : `, did you mean ${meant}?`}`,
      };
    }
  }
  return { ok: true, names: controllerNames.filter((name) => asked.includes(name)) };
}

const isControllerName = (name: string): name is ControllerName => controllerNames.some((known) => known === name);

/** Flags of the fleet page, which the rollout controller serves. */
export const pageFlags: readonly Flag[] = [
  {
    name: 'page-bind-address',
    type: 'string',
    value: 'HOST:PORT',
    default: '127.0.0.1:10463',
    text: 'address of the fleet page, served with the rollout controller; port 0 = any free port, empty = off',
  },
  {
    name: 'page-token-file',
    type: 'string',
    value: 'FILE',
    completes: 'file',
    text: 'file with the token that readers of the page must give; required unless the address is loopback',
    defaultText: 'no token',
  },
];

interface PageSettings {
  at: BindAddress;
  tokenFile: string | undefined;
}

/** @returns undefined: no page @throws {UsageError} naming the flag and what it must be */
function pageSettings(command: string, args: Args): PageSettings | undefined {
  const usage = usageOf(command);
  const at = addressOf(args.text('page-bind-address') ?? '', usage);
  if (at === undefined) return undefined;
  const file = args.text('page-token-file') ?? '';
  if (file === '' && !isLoopback(at.host))
    throw usage('page-bind-address', 'needs --page-token-file unless it is loopback: the page shows names and errors of all nodes');
  return { at, tokenFile: file === '' ? undefined : file };
}

/** What the page needs from this process. A changed token file takes effect at once. @throws {ActionError} when the token cannot be read */
export async function pageOptions({ path }: Pick<Context, 'path'>, { at, tokenFile }: PageSettings): Promise<Omit<PageOptions, 'serves'>> {
  const assets = pageAssets();
  if (tokenFile === undefined) return { at, assets };
  const file = new FreshFile(path(tokenFile), 'token file');
  const token = async (): Promise<string> => (await file.text()).trim();
  await token();
  return { at, assets, token };
}

function addressOf(text: string, usage: ReturnType<typeof usageOf>): BindAddress | undefined {
  try {
    return parseBindAddress(text, '--page-bind-address');
  } catch (error) {
    if (error instanceof ActionError) throw usage('page-bind-address', 'must be HOST:PORT, such as 127.0.0.1:0, or empty to switch it off');
    throw error;
  }
}

/** Maximum number of servers in one file: each request searches the list. */
const MAX_SERVERS = 64;

/** What `--rollout-prometheus-config` names. @throws {ActionError} naming the file, the key and what it must be */
export async function prometheusServers(context: Context, file: string | undefined): Promise<readonly PrometheusServer[]> {
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
