import { X509Certificate } from 'node:crypto';
import { basename } from 'node:path';
import { describeError } from '../../../base/errors.ts';
import { type ClusterAccess, kubeconfigUser, loadKubeconfig, type Material } from '../../../kube/client/access.ts';
import { jsonText } from '../../output/structured.ts';
import { redactText } from '../redact/text.ts';
import type { Disk } from '../../../base/disk.ts';
import type { Withheld } from '../redact/configuration.ts';
import type { Found } from '../collector.ts';

type CredentialDisk = Pick<Disk, 'readLinked' | 'stat'>;

/** What kind of credentials the kubeconfigs hold, and until when they are good. Their content stays where it is; `withheld` gets it, to be looked for elsewhere. */
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
  const { token, tokenFile, basic, clientKey, proxy, plugin } = access;
  for (const value of [
    token,
    basic?.password,
    await contentOf(disk, clientKey),
    await contentOf(disk, tokenFile === undefined ? undefined : { file: tokenFile }),
  ])
    if (value !== undefined) withheld(value, 'secret');
  if (proxy !== undefined) withheld(new URL(proxy).password, 'secret');
  if (plugin !== undefined) hold('exec' in plugin ? [plugin.exec['args'], plugin.exec['env']] : plugin.oidc, withheld);
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

/** The host says where a cluster is: only its kind and port are shown. */
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
