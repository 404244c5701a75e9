import { AGENT_CONFIG_FILE, type AgentOptions, DEFAULT_POLICY_FILE } from '../../../agent/options.ts';
import { fetchFromKubelet } from '../../connect/connect.ts';
import { jsonText, yamlText } from '../../output/printable.ts';
import { type Found, MIB } from '../collector.ts';
import { redactKubeletConfig, redactSettings, type Withheld } from '../redact/configuration.ts';
import { redactObject } from '../redact/objects.ts';
import { redactText } from '../redact/text.ts';
import { parsed, readProblem } from './store.ts';
import type { Disk } from '../../../base/disk.ts';
import { X509Certificate } from 'node:crypto';
import { basename } from 'node:path';
import { describeError } from '../../../base/errors.ts';
import { type ClusterAccess, kubeconfigUser, loadKubeconfig, type Material } from '../../../kube/client/access.ts';

/** agent.yaml and policy.yaml without comments. */
export async function settingsFiles(
  disk: Pick<Disk, 'readLinked'>,
  settings: string | undefined,
  policy: string | undefined,
  withheld: Withheld,
): Promise<Found[]> {
  const of = async (path: string, to: string, redact: (document: unknown) => unknown): Promise<Found> => {
    try {
      const text = new TextDecoder().decode(await disk.readLinked(path, MIB));
      const document = parsed(text);
      if (document === undefined) return { path: to, leftOut: `${Buffer.byteLength(text)} bytes that are not YAML` };
      return { path: to, text: yamlText(redact(document)), note: 'without comments' };
    } catch (error) {
      return { path: to, leftOut: readProblem(error) };
    }
  };
  return [
    await of(settings ?? AGENT_CONFIG_FILE, 'config/agent.yaml', (document) => redactSettings(document, withheld)),
    ...(policy === 'none' ? [] : [await of(policy ?? DEFAULT_POLICY_FILE, 'config/policy.yaml', (document) => redactObject(document))]),
  ];
}

/** Five fields, as systemd/kubelet-stopped writes them. */
const exitLine = /^[\dTZ:.-]{10,40} [a-z-]{1,40} [a-z-]{1,40} [A-Z0-9]{1,20} (?:-|[0-9a-f]{64})$/;

/** The last exits of the kubelet. @param lines - maximum number */
export async function kubeletExits(disk: Pick<Disk, 'readEnd'>, path: string, lines: number): Promise<Found> {
  const bytes = await disk.readEnd(path, MIB).catch(readProblem);
  if (typeof bytes === 'string') return { path: 'kubelet-exits', leftOut: bytes };
  const all = new TextDecoder().decode(bytes).split('\n').filter((line) => line !== ''); // prettier-ignore
  const last = all.slice(-lines);
  const good = last.filter((line) => exitLine.test(line));
  const odd = last.length - good.length;
  return { path: 'kubelet-exits', text: good.map((line) => `${line}\n`).join(''), note: `last ${good.length} of ${all.length} lines${odd === 0 ? '' : `; malformed and left out: ${odd}`}` }; // prettier-ignore
}

/** The agent's metrics. */
export async function agentMetrics(address: string, signal: AbortSignal): Promise<Found> {
  const path = 'metrics.txt';
  if (address === '') return { path, leftOut: 'metricsBindAddress is empty' };
  return {
    path,
    text: redactText(await textFrom(`http://${address.replace(/^(?:0\.0\.0\.0|\[::\])?(?=:\d+$)/, '127.0.0.1')}/metrics`, signal)),
  };
}

const MAX_METRICS_BYTES = 4 * MIB;

async function textFrom(url: string, signal: AbortSignal): Promise<string> {
  const answer = await fetch(url, { signal, redirect: 'error' });
  if (!answer.ok || answer.body === null) throw new Error(`${url} answered ${answer.status}`);
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of answer.body) {
    parts.push(part);
    bytes += part.length;
    if (bytes > MAX_METRICS_BYTES) break;
  }
  return Buffer.concat(parts).toString('utf8');
}

const DEFAULT_CONFIGZ = 'https://127.0.0.1:10250/configz';

/** The configuration of the running kubelet, from /configz. */
export async function configz(
  { kubeletConfigz, kubeconfig, nodeName }: AgentOptions,
  withheld: Withheld,
  signal: AbortSignal,
): Promise<Found> {
  const path = 'config/configz.yaml';
  if (kubeconfig === undefined) return { path, leftOut: 'the agent has no kubeconfig to ask the kubelet with' };
  const answer = await fetchFromKubelet(kubeletConfigz || DEFAULT_CONFIGZ, { kubeconfig, nodeName, userAgent: 'dkc-cli', signal });
  const config = (answer as { kubeletconfig?: unknown } | null)?.kubeletconfig;
  return { path, text: yamlText(redactKubeletConfig(config, withheld)), note: 'values of secret and unknown fields are redacted' };
}

/** dkc's settings for this node, and why they could not be read. */
export function optionsFile(options: AgentOptions, problem: string | undefined): Found {
  return {
    path: 'options.json',
    text: jsonText({ ...(problem === undefined ? {} : { problem: redactText(problem) }), options: redactObject(options) }),
  };
}

type CredentialDisk = Pick<Disk, 'readLinked' | 'stat'>;

/** Kinds and expiry of the credentials in the kubeconfigs, without their content. `withheld` gets the content, so that it is removed from other files. */
export async function credentialFacts(
  disk: CredentialDisk,
  kubeconfigs: Readonly<Record<string, string | undefined>>,
  withheld: Withheld,
): Promise<Found> {
  const facts: Record<string, unknown> = {};
  for (const [owner, path] of Object.entries(kubeconfigs)) {
    if (path === undefined) facts[owner] = null;
    else
      facts[owner] = await factsOf(disk, path, withheld).catch((error: unknown) => ({ path, problem: redactText(describeError(error)) }));
  }
  return { path: 'credentials.json', text: jsonText(facts), note: 'kinds, names and expiry; no content' };
}

async function factsOf(disk: CredentialDisk, path: string, withheld: Withheld): Promise<Record<string, unknown>> {
  const stat = await disk.stat(path);
  if (!stat) return { path, problem: 'no such file' };
  const access = await loadKubeconfig(path);
  const { token, tokenFile, basic, clientKey, proxy, plugin, unused } = access;
  for (const value of [
    token,
    basic?.password,
    await contentOf(disk, clientKey),
    await contentOf(disk, tokenFile === undefined ? undefined : { file: tokenFile }),
  ])
    if (value !== undefined) withheld(value, 'secret');
  if (proxy !== undefined) withheld(new URL(proxy).password, 'secret');
  if (plugin !== undefined) hold('exec' in plugin ? [plugin.exec['args'], plugin.exec['env']] : plugin.oidc, withheld);
  hold(unused, withheld);
  const certificate = await contentOf(disk, access.clientCertificate);
  return {
    path,
    mode: stat.mode.toString(8).padStart(4, '0'),
    user: redactText((await kubeconfigUser([path])) ?? ''),
    server: serverOf(access.server),
    verifiesServer: access.insecureSkipTlsVerify !== true,
    proxy: proxy !== undefined,
    credentials: kindsOf(access),
    ...(certificate === undefined ? {} : { certificate: certificateFacts(certificate) }),
  };
}

/** The host would reveal the location of the cluster: only its kind and port are shown. */
function serverOf(server: string): string {
  const { protocol, hostname, port } = new URL(server);
  const kind = /^(?:localhost|127\.|\[::1\])/.test(hostname) ? 'this machine' : /^[\d.]+$|^\[/.test(hostname) ? 'an address' : 'a name';
  return `${protocol}//<${kind}>${port === '' ? '' : `:${port}`}`;
}

function kindsOf({ token, tokenFile, basic, clientCertificate, plugin }: ClusterAccess): string[] {
  return [
    ...(clientCertificate === undefined ? [] : ['client certificate']),
    ...(tokenFile === undefined ? [] : ['token file']),
    ...(token === undefined ? [] : ['token']),
    ...(basic === undefined ? [] : ['password']),
    ...(plugin === undefined ? [] : ['exec' in plugin ? `program ${redactText(basename(String(plugin.exec['command'])))}` : 'oidc']),
  ];
}

function certificateFacts(pem: string): Record<string, unknown> {
  try {
    const { subject, issuer, validFrom, validTo } = new X509Certificate(pem);
    return { subject: redactText(subject), issuer: redactText(issuer), validFrom, validTo };
  } catch {
    return { problem: 'it is not a certificate in PEM' };
  }
}

const MAX_PEM = 256 * 1024;

async function contentOf(disk: CredentialDisk, material: Material | undefined): Promise<string | undefined> {
  if (material === undefined) return undefined;
  if ('data' in material) return material.data;
  return disk.readLinked(material.file, MAX_PEM).then(
    (bytes) => new TextDecoder().decode(bytes),
    () => undefined,
  );
}

function hold(value: unknown, withheld: Withheld): void {
  if (typeof value === 'string') withheld(value, 'unlisted');
  else if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) hold(inner, withheld);
}
