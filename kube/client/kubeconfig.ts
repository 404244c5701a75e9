import { dirname, isAbsolute, resolve } from 'node:path';
import { ActionError } from '../../base/errors.ts';
import { isJsonObject, type JsonObject, ownField } from '../api/json.ts';
import type { ClusterAccess, ExecInfo, Material, Plugin } from './access.ts';
import { checkedProxy, type Environment, proxyFor } from './proxy.ts';

export interface KubeconfigChoice {
  /** The context to use. @default the file's `current-context` */
  context?: string;
  /** The user to act as in place of the kubeconfig's `as`; its groups, uid and extras stay, as with kubectl. */
  as?: string;
  /** Where proxy variables are looked up when the cluster has no `proxy-url`. @default `process.env` where files are read, else nowhere */
  environment?: Environment;
}

/** A kubeconfig. @member fail - makes the error about this file */
interface File {
  document: JsonObject;
  path: string;
  fail: (hint: string) => ActionError;
}

/**
 * The access of one context of a kubeconfig. Relative paths start at the kubeconfig's own directory.
 * @param document - the file's content, already parsed
 * @param path - absolute path of the file; the list of paths for merged files
 * @throws {ActionError} naming what is missing: context, cluster, user, a field; never a value
 */
export function accessFromKubeconfig(document: unknown, path: string, choice: KubeconfigChoice = {}): ClusterAccess {
  const fail = (hint: string) => new ActionError('use kubeconfig', path, { hint });
  if (!isJsonObject(document)) throw fail('it is not a mapping; write a kubeconfig with clusters, users and contexts');
  const file: File = { document, path, fail };
  const contextName = choice.context ?? text(document, 'current-context');
  if (contextName === undefined) throw fail('it has no current-context; set one, or name a context');
  const context = entryOf(file, 'contexts', 'context', contextName);
  const clusterName = text(context, 'cluster');
  if (clusterName === undefined) throw fail(`context "${contextName}" names no cluster`);
  const cluster = entryOf(file, 'clusters', 'cluster', clusterName);
  const userName = text(context, 'user');
  const user = userName === undefined ? {} : entryOf(file, 'users', 'user', userName);
  return {
    origin: path,
    ...clusterAccess(file, cluster, `cluster "${clusterName}"`, choice),
    ...userAccess(file, choice.as === undefined ? user : { ...user, as: choice.as }, cluster, {
      kubeconfig: path,
      context: contextName,
      user: userName ?? '',
    }),
    ...given('namespace', text(context, 'namespace')),
  };
}

function entryOf({ document, fail }: File, list: string, field: string, name: string): JsonObject {
  const entries = ownField(document, list);
  const entry = Array.isArray(entries) ? entries.find((item) => isJsonObject(item) && item['name'] === name) : undefined;
  const found: unknown = isJsonObject(entry) ? (entry[field] ?? {}) : undefined;
  if (isJsonObject(found)) return found;
  throw fail(`it has no ${field} "${name}"; ${known(entries)}`);
}

type OfCluster = Pick<ClusterAccess, 'server' | 'proxy' | 'ca' | 'insecureSkipTlsVerify' | 'tlsServerName'>;

function clusterAccess(file: File, cluster: JsonObject, name: string, { environment = {} }: KubeconfigChoice): OfCluster {
  const { fail } = file;
  const server = checkedServer(text(cluster, 'server'), (hint) => fail(`${name} ${hint}`));
  const proxyUrl = text(cluster, 'proxy-url');
  const proxy =
    proxyUrl === undefined ? proxyFor(server, environment) : checkedProxy(proxyUrl, (hint) => fail(`the proxy-url of ${name} ${hint}`));
  const insecure = ownField(cluster, 'insecure-skip-tls-verify') === true;
  const ca = materialOf(file, cluster, 'certificate-authority', name);
  if (insecure && ca !== undefined) throw fail(`${name} has both insecure-skip-tls-verify and a certificate-authority; remove one of them`);
  return {
    server,
    ...given('proxy', proxy),
    ...given('ca', ca),
    ...(insecure ? { insecureSkipTlsVerify: true } : {}),
    ...given('tlsServerName', text(cluster, 'tls-server-name')),
  };
}

function userAccess(file: File, user: JsonObject, cluster: JsonObject, name: PluginName): Partial<ClusterAccess> {
  const owner = `user "${name.user}"`;
  const fail = (hint: string): ActionError => file.fail(`${owner} ${hint}`);
  const clientCertificate = materialOf(file, user, 'client-certificate', owner);
  const clientKey = materialOf(file, user, 'client-key', owner);
  if ((clientCertificate === undefined) !== (clientKey === undefined))
    throw fail(`has ${clientKey === undefined ? 'a client-certificate without client-key' : 'a client-key without client-certificate'}`);
  const tokenFile = text(user, 'tokenFile');
  const isAsked = asksPlugin(user, clientCertificate !== undefined);
  return {
    ...given('tokenFile', tokenFile === undefined ? undefined : resolve(dirname(file.path), tokenFile)),
    ...given('token', text(user, 'token')),
    ...given('basic', basicOf(user)),
    ...given('clientCertificate', clientCertificate),
    ...given('clientKey', clientKey),
    ...given('impersonate', impersonateOf(user, fail)),
    ...given('plugin', isAsked ? pluginOf(user, cluster, name, fail) : undefined),
    ...given('unused', isAsked ? undefined : givenTo(user['exec'], user['auth-provider'])),
  };
}

/**
 * Whether the exec program or the auth-provider is asked for credentials. As in client-go: credentials in the kubeconfig take precedence, and an exec program is
 * also not run where there is a certificate.
 */
function asksPlugin(user: JsonObject, hasCertificate: boolean): boolean {
  if (['tokenFile', 'token', 'username'].some((field) => text(user, field) !== undefined)) return false;
  return !hasCertificate || !isJsonObject(user['exec']);
}

/** PEM that a field names as a file, or has itself in base64. */
function materialOf({ path, fail }: File, from: JsonObject, field: string, owner: string): Material | undefined {
  const data = text(from, `${field}-data`);
  if (data !== undefined) {
    const pem = Buffer.from(data, 'base64').toString('utf8');
    if (!pem.includes('-----BEGIN ')) throw fail(`${owner} has a ${field}-data that is not PEM in base64`);
    return { data: pem };
  }
  const file = text(from, field);
  return file === undefined ? undefined : { file: resolve(dirname(path), file) };
}

function givenTo(exec: unknown, provider: unknown): unknown[] | undefined {
  const all = [...(isJsonObject(exec) ? [exec['args'], exec['env']] : []), ...(isJsonObject(provider) ? [provider['config']] : [])];
  const written = all.filter((one) => one !== undefined);
  return written.length === 0 ? undefined : written;
}

type PluginName = Pick<Plugin, 'kubeconfig' | 'context' | 'user'>;

/** @throws {ActionError} for an unsupported user: an auth-provider that Kubernetes removed, an exec without a command or one that needs a terminal */
function pluginOf(user: JsonObject, cluster: JsonObject, name: PluginName, fail: (hint: string) => ActionError): Plugin | undefined {
  const { exec, 'auth-provider': provider } = user;
  if (isJsonObject(exec)) {
    const command = text(exec, 'command');
    if (command === undefined) throw fail('has an exec without command');
    if (exec['interactiveMode'] === 'Always') throw fail('has an exec with interactiveMode Always, and dkc runs it without a terminal');
    return { ...name, exec: { ...exec, command: commandPath(command, dirname(name.kubeconfig)) }, execInfo: execInfo(exec, cluster) };
  }
  if (!isJsonObject(provider)) return undefined;
  if (provider['name'] !== 'oidc') {
    throw fail(
      `has auth-provider "${String(provider['name'])}", which dkc does not support; use an exec plugin, as kubectl 1.26 and newer do`,
    );
  }
  return { ...name, oidc: isJsonObject(provider['config']) ? provider['config'] : {} };
}

/** What client-go passes to the program in `KUBERNETES_EXEC_INFO`: https://kubernetes.io/docs/reference/config-api/client-authentication.v1/ */
function execInfo(exec: JsonObject, cluster: JsonObject): ExecInfo {
  const extensions = Array.isArray(cluster['extensions']) ? cluster['extensions'] : [];
  const extension: unknown = extensions.find((one) => isJsonObject(one) && one['name'] === 'client.authentication.k8s.io/exec');
  const { server, 'tls-server-name': serverName, 'insecure-skip-tls-verify': insecure, 'proxy-url': proxy } = cluster;
  const spec = {
    interactive: false,
    ...(exec['provideClusterInfo'] === true && {
      cluster: {
        server,
        'tls-server-name': serverName,
        'insecure-skip-tls-verify': insecure,
        'proxy-url': proxy,
        config: isJsonObject(extension) ? extension['extension'] : undefined,
      },
    }),
  };
  return { kind: 'ExecCredential', apiVersion: exec['apiVersion'], spec };
}

function checkedServer(server: string | undefined, fail: (hint: string) => ActionError): string {
  if (server === undefined) throw fail('has no server; give its URL, like https://host:6443');
  const url = URL.parse(server);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) throw fail('has a server that is not an https:// URL');
  if (url.username !== '' || url.password !== '') throw fail('has a password in its server URL; move it to a user');
  return server.replace(/\/+$/, '');
}

/** A text field; undefined when absent, empty or of another type. */
function text(from: JsonObject, field: string): string | undefined {
  const value = ownField(from, field);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function basicOf(user: JsonObject): ClusterAccess['basic'] {
  const username = text(user, 'username');
  return username === undefined ? undefined : { username, password: text(user, 'password') ?? '' };
}

/** @throws the error of `fail` for groups, a uid or extras without a user, as in client-go: otherwise requests would run as the kubeconfig's user */
function impersonateOf(from: JsonObject, fail: (hint: string) => ActionError): ClusterAccess['impersonate'] {
  const [user, uid] = [text(from, 'as'), text(from, 'as-uid')];
  const groups = textsIn(ownField(from, 'as-groups'));
  const given = ownField(from, 'as-user-extra');
  const extra = Object.entries(isJsonObject(given) ? given : {}).map(([key, values]): [string, string[]] => [key, textsIn(values)]);
  if (user !== undefined)
    return { user, groups, ...(uid === undefined ? {} : { uid }), ...(extra.length === 0 ? {} : { extra: Object.fromEntries(extra) }) };
  if (groups.length === 0 && uid === undefined && extra.length === 0) return undefined;
  throw fail('has as-groups, as-uid or as-user-extra without as; name the user to act as, there or by --as, or remove them');
}

function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function known(entries: unknown): string {
  const names = Array.isArray(entries)
    ? entries.flatMap((item) => (isJsonObject(item) && typeof item['name'] === 'string' ? [item['name']] : []))
    : [];
  return names.length === 0 ? 'there are none' : `there are ${names.slice(0, 10).join(', ')}${names.length > 10 ? ', ...' : ''}`;
}

function given<K extends string, V>(key: K, value: V | undefined): Partial<Record<K, V>> {
  return (value === undefined ? {} : { [key]: value }) as Partial<Record<K, V>>;
}

/** Fields that hold a path, by list and entry. A relative path starts at the directory of its kubeconfig. */
const PATHS: readonly { list: string; entry: string; fields: readonly string[] }[] = [
  { list: 'clusters', entry: 'cluster', fields: ['certificate-authority'] },
  { list: 'users', entry: 'user', fields: ['client-certificate', 'client-key', 'tokenFile'] },
  { list: 'contexts', entry: 'context', fields: [] },
];

/**
 * Merges kubeconfigs as kubectl does for `$KUBECONFIG`: the first file that has a cluster, user or context of a name provides the whole entry, and the first
 * that sets `current-context` provides it. Paths become absolute.
 * @param files - in order; documents that are not mappings count as empty
 */
export function mergeKubeconfigs(files: readonly { path: string; document: unknown }[]): JsonObject {
  const documents = files.flatMap(({ path, document }) => (isJsonObject(document) ? [{ path, document }] : []));
  const current = documents
    .map(({ document }) => ownField(document, 'current-context'))
    .find((name) => typeof name === 'string' && name !== '');
  const merged: JsonObject = { apiVersion: 'v1', kind: 'Config', ...(current === undefined ? {} : { 'current-context': current }) };
  for (const { list, entry, fields } of PATHS) {
    const known = new Map<unknown, JsonObject>();
    for (const { path, document } of documents) {
      const items = ownField(document, list);
      for (const item of Array.isArray(items) ? items : []) {
        if (!isJsonObject(item) || known.has(item['name'])) continue;
        const body = item[entry];
        known.set(item['name'], isJsonObject(body) ? { ...item, [entry]: withAbsolute(body, fields, dirname(path)) } : item);
      }
    }
    merged[list] = [...known.values()];
  }
  return merged;
}

function withAbsolute(body: JsonObject, fields: readonly string[], directory: string): JsonObject {
  const absolute = fields.flatMap((field): [string, string][] => {
    const value = ownField(body, field);
    return typeof value === 'string' && value !== '' ? [[field, resolve(directory, value)]] : [];
  });
  const { exec } = body;
  const command = isJsonObject(exec) ? exec['command'] : undefined;
  const run = isJsonObject(exec) && typeof command === 'string' ? { exec: { ...exec, command: commandPath(command, directory) } } : {};
  return { ...body, ...Object.fromEntries(absolute), ...run };
}

/** As in client-go: a command with a slash starts at the kubeconfig's directory, one without is searched in `$PATH`. */
function commandPath(command: string, directory: string): string {
  return command.includes('/') && !isAbsolute(command) ? resolve(directory, command) : command;
}
