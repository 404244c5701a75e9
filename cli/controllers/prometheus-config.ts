import { dirname, resolve } from 'node:path';
import { parseDocument } from 'yaml';
import { ActionError, describeError } from '../../base/errors.ts';
import { SERVERS_FLAG, type PrometheusServer, type TlsFiles } from '../../controllers/rollout/gates/contract.ts';
import { Findings, readMapping, type Mapping, type MustBe } from '../../scheduler/config/mapping.ts';
import { readConfigFile } from '../config/config-file.ts';
import type { Context } from '../command.ts';

/** Servers of one file: each request looks through them. */
const MAX_SERVERS = 64;

/** What `--rollout-prometheus-config` names. @throws {ActionError} naming the file, the key and what it must be */
export async function prometheusServers(context: Context, file: string | undefined): Promise<readonly PrometheusServer[]> {
  if (file === undefined) return [];
  const text = Buffer.from(await readConfigFile(context, file)).toString('utf8');
  const path = file === '-' ? 'standard input' : context.path(file);
  return parsePrometheusConfig(text, path, file === '-' ? context.path('.') : dirname(path));
}

/** @param directory - that relative paths are of. Pure. @throws {ActionError} */
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
  // Not repeated: somebody may have written a password into it.
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
