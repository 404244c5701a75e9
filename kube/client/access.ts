import { readFile } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import { ActionError, errorCode } from '../../base/errors.ts';
import { isJsonObject, type JsonObject } from '../api/json.ts';
import { FreshFile } from '../../base/changing-files.ts';
import { accessFromKubeconfig, type KubeconfigChoice, mergeKubeconfigs } from './kubeconfig.ts';
import { proxyFor } from './proxy.ts';

/** PEM text, or where to read it. A file is read again when it changes. */
export type Material = { data: string } | { file: string };

/** How to reach one API server as one identity: the result of a kubeconfig's context, or of a pod's service account. */
export interface ClusterAccess {
  /** Where this was read, for messages: a path, or `the pod's service account`. */
  origin: string;
  /** `https://host:port`, perhaps with a path in front of the API's. */
  server: string;
  /** `http://` or `https://` URL of the proxy to go through, perhaps with user and password. @default a direct connection */
  proxy?: string;
  /** Authorities to trust instead of the system's. */
  ca?: Material;
  /** Accepts any certificate. Only for tests on the local machine. */
  insecureSkipTlsVerify?: boolean;
  /** The name to expect in the server's certificate, when it is not the host. */
  tlsServerName?: string;
  /** Takes precedence over `token`, as in kubectl. */
  tokenFile?: string;
  token?: string;
  basic?: { username: string; password: string };
  clientCertificate?: Material;
  clientKey?: Material;
  impersonate?: { user: string; groups: readonly string[]; uid?: string; extra?: Readonly<Record<string, readonly string[]>> };
  /** The user has `exec` or the `auth-provider` oidc. */
  plugin?: Plugin;
  /** Arguments and config of an `exec` or `auth-provider` that is not used, since other credentials take precedence. They may hold secrets. */
  unused?: readonly unknown[];
  /** The context's namespace. */
  namespace?: string;
}

/** What `KUBERNETES_EXEC_INFO` holds in the environment of an exec program; the cluster's authorities are added when it runs, as they may be in a file. */
export interface ExecInfo {
  kind: 'ExecCredential';
  apiVersion: unknown;
  /** `cluster` only where the user has `provideClusterInfo`. */
  spec: { interactive: boolean; cluster?: JsonObject };
}

/** A user whose credentials come from a program or from an OIDC provider. The same object as long as the kubeconfig does not change. */
export type Plugin = {
  /** For messages. */
  kubeconfig: string;
  context: string;
  user: string;
} & ({ /** The user's `exec`. */ exec: JsonObject; execInfo: ExecInfo } | { /** The `config` of its `auth-provider`. */ oidc: JsonObject });

/**
 * A {@link ClusterAccess} that may change at run time. `current` is called before requests and returns the same object while nothing changed.
 * @throws {ActionError} when the first read fails; later the last valid access stays in use
 */
export interface AccessSource {
  current(): Promise<ClusterAccess>;
}

const SERVICE_ACCOUNT_DIR = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * Reads a kubeconfig once; several are merged as kubectl does with `$KUBECONFIG`, and missing files are ignored.
 * @throws {ActionError} naming file, context, cluster or user that is missing, and what to do
 */
export async function loadKubeconfig(paths: string | readonly string[], choice: KubeconfigChoice = {}): Promise<ClusterAccess> {
  const files = filesAt(paths);
  return read(await textsOf(files), choice);
}

/** Like {@link loadKubeconfig}, but read again when a file changes. While the new content is invalid, the last valid one stays in use. */
export function kubeconfigSource(paths: string | readonly string[], choice: KubeconfigChoice = {}): AccessSource {
  const files = filesAt(paths);
  let known: { texts: readonly KubeconfigText[]; access: ClusterAccess } | undefined;
  return {
    async current() {
      const texts = await textsOf(files);
      if (known !== undefined && isSame(known.texts, texts)) return known.access;
      try {
        const access = await read(texts, choice);
        // A concurrent call may have been faster: all callers get the same object.
        if (known === undefined || !isSame(known.texts, texts)) known = { texts, access };
      } catch (error) {
        if (known === undefined) throw error;
        known = { texts, access: known.access }; // half written, most likely; read again when it changes
      }
      return known.access;
    },
  };
}

interface KubeconfigText {
  path: string;
  text: string;
}

function filesAt(paths: string | readonly string[]): FreshFile[] {
  return [paths].flat().map((path) => new FreshFile(resolve(path), 'kubeconfig'));
}

/**
 * A single file must exist. Of several, missing and empty files are ignored, as in kubectl.
 * @throws {ActionError} for the first existing file that cannot be read, as in kubectl; when none exists, for the first file
 */
async function textsOf(files: readonly FreshFile[]): Promise<KubeconfigText[]> {
  const read = await Promise.allSettled(files.map(async (file) => ({ path: file.path, text: await file.text() })));
  const texts = read.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const failed = read.flatMap((one) => (one.status === 'rejected' ? [one.reason as Error] : []));
  const unreadable = failed.find(({ cause }) => !['ENOENT', undefined].includes(errorCode(cause)));
  const why = unreadable ?? (texts.length === 0 ? failed[0] : undefined);
  if (why !== undefined) throw why;
  return texts;
}

function isSame(left: readonly KubeconfigText[], right: readonly KubeconfigText[]): boolean {
  return left.length === right.length && left.every(({ path, text }, at) => path === right[at]?.path && text === right[at].text);
}

/** A kubeconfig may be JSON, which Node parses without a library. */
function asJson(text: string): unknown {
  if (!text.trimStart().startsWith('{')) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function read(texts: readonly KubeconfigText[], choice: KubeconfigChoice): Promise<ClusterAccess> {
  const files = await Promise.all(texts.map(async ({ path, text }) => ({ path, document: asJson(text) ?? (await fromYaml(path, text)) })));
  const environment = choice.environment ?? process.env;
  const origin = files.map(({ path }) => path).join(delimiter);
  const [only] = files;
  const content = files.length === 1 && !isJsonObject(only?.document) ? only?.document : mergeKubeconfigs(files);
  return accessFromKubeconfig(content, origin, { ...choice, environment });
}

async function fromYaml(path: string, text: string): Promise<unknown> {
  // Loaded on demand: an agent that gets its server by other means does not need YAML for this.
  const { parseDocument } = await import('yaml');
  // prettyErrors would quote the line, and the line may be a token.
  const document = parseDocument(text, { prettyErrors: false, logLevel: 'silent' });
  const [broken] = document.errors;
  if (broken !== undefined) {
    const line = text.slice(0, broken.pos[0]).split('\n').length;
    throw new ActionError('use kubeconfig', path, { hint: `line ${line} is not YAML (${broken.code}); fix the file or download it again` });
  }
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch {
    throw new ActionError('use kubeconfig', path, { hint: 'its YAML aliases expand to too much data; write it without aliases' });
  }
}

/** Names of the contexts in these kubeconfigs, those of the first file first. Files that cannot be read are left out. */
export async function kubeconfigContexts(paths: readonly string[]): Promise<string[]> {
  const contexts = namedIn(await readableOf(paths), 'contexts');
  const names = contexts.map(({ name }) => name).filter((name) => typeof name === 'string');
  return [...new Set(names)];
}

/** Name of the user of a context; undefined where the kubeconfigs do not name one. @param context - absent: the current one */
export async function kubeconfigUser(paths: readonly string[], context?: string): Promise<string | undefined> {
  const documents = await readableOf(paths);
  const name = context ?? documents.map((one) => one['current-context']).find((one) => one !== undefined && one !== '');
  const found = namedIn(documents, 'contexts').find((one) => one['name'] === name)?.['context'];
  const user = isJsonObject(found) ? found['user'] : undefined;
  return typeof user === 'string' && user !== '' ? user : undefined;
}

async function readableOf(paths: readonly string[]): Promise<Readonly<Record<string, unknown>>[]> {
  const texts = await textsOf(filesAt(paths)).catch(() => []);
  const documents = await Promise.allSettled(texts.map(async ({ path, text }) => asJson(text) ?? fromYaml(path, text)));
  return documents.flatMap((one) => (one.status === 'fulfilled' && isJsonObject(one.value) ? [one.value] : []));
}

const namedIn = (documents: readonly Readonly<Record<string, unknown>>[], list: string): Readonly<Record<string, unknown>>[] =>
  documents.flatMap((one) => (Array.isArray(one[list]) ? (one[list] as readonly unknown[]) : [])).filter(isJsonObject);

/**
 * The access of a pod: its service account's token and CA, and the server's address from the environment of every pod.
 * @param environment - `process.env`
 * @throws {ActionError} outside of a pod
 */
export async function inClusterAccess(
  environment: Readonly<Record<string, string | undefined>>,
  directory = SERVICE_ACCOUNT_DIR,
): Promise<ClusterAccess> {
  const host = environment['KUBERNETES_SERVICE_HOST'];
  const port = environment['KUBERNETES_SERVICE_PORT'];
  if (host === undefined || host === '' || port === undefined || port === '') {
    throw new ActionError('use', "the pod's service account", {
      hint: 'KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set, so this is not a pod; set a kubeconfig',
    });
  }
  const tokenFile = join(directory, 'token');
  await new FreshFile(tokenFile, 'service account token').text();
  const namespace = await readFile(join(directory, 'namespace'), 'utf8').then(
    (found) => found.trim(),
    () => '',
  );
  const server = `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const proxy = proxyFor(server, environment);
  return {
    origin: "the pod's service account",
    server,
    ...(proxy === undefined ? {} : { proxy }),
    ca: { file: join(directory, 'ca.crt') },
    tokenFile,
    ...(namespace === '' ? {} : { namespace }),
  };
}

/**
 * The access to a kubelet's own port with the credentials of this access. A client certificate reveals no secret, and kubelets sign their own serving
 * certificates by default: with a client certificate the kubelet is not verified. Any other credential is a secret, and is sent only to a kubelet whose
 * serving certificate the cluster's authority signed for this node.
 * @param url - of the kubelet: `https://127.0.0.1:10250/configz`
 */
export function kubeletAccess(access: ClusterAccess, url: string, nodeName: string): ClusterAccess {
  const { proxy: _proxy, tlsServerName: _name, insecureSkipTlsVerify: _skip, ...rest } = access;
  const to = { ...rest, server: new URL(url).origin };
  const hasSecret = [access.token, access.tokenFile, access.basic, access.plugin].some((one) => one !== undefined);
  if (access.clientCertificate && !hasSecret) return { ...to, insecureSkipTlsVerify: true };
  return { ...to, tlsServerName: nodeName };
}
