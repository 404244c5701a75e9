import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ActionError } from '../../base/errors.ts';
import { FreshFile } from './fresh-file.ts';
import { accessFromKubeconfig } from './kubeconfig.ts';
import type { AccessSource, ClusterAccess } from './access.ts';
import type { KubeconfigChoice } from './kubeconfig.ts';

const SERVICE_ACCOUNT_DIR = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * Reads a kubeconfig file once.
 * @throws {ActionError} naming file, context, cluster or user that is missing, and what to do
 */
export async function loadKubeconfig(path: string, choice: KubeconfigChoice = {}): Promise<ClusterAccess> {
  const absolute = resolve(path);
  return read(absolute, await new FreshFile(absolute, 'kubeconfig').text(), choice);
}

/** A kubeconfig file that is read again when it changes. While it cannot be used, the last good content stays in force. */
export function kubeconfigSource(path: string, choice: KubeconfigChoice = {}): AccessSource {
  const absolute = resolve(path);
  const file = new FreshFile(absolute, 'kubeconfig');
  let known: { text: string; access: ClusterAccess } | undefined;
  return {
    async current() {
      const text = await file.text();
      if (known?.text === text) return known.access;
      try {
        known = { text, access: await read(absolute, text, choice) };
      } catch (error) {
        if (known === undefined) throw error;
        known = { text, access: known.access }; // half written, most likely; judged again when it changes
      }
      return known.access;
    },
  };
}

/** Every JSON text is YAML, and Node reads it without a library. */
function asJson(text: string): unknown {
  if (!text.trimStart().startsWith('{')) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function read(path: string, text: string, choice: KubeconfigChoice): Promise<ClusterAccess> {
  const plain = asJson(text);
  if (plain !== undefined) return accessFromKubeconfig(plain, path, choice);
  // Loaded here and not above: an agent that is told its server by other means never needs YAML for this.
  const { parseDocument } = await import('yaml');
  // prettyErrors would quote the line, and the line may be a token.
  const document = parseDocument(text, { prettyErrors: false, logLevel: 'silent' });
  const [broken] = document.errors;
  if (broken !== undefined) {
    const line = text.slice(0, broken.pos[0]).split('\n').length;
    throw new ActionError('use kubeconfig', path, { hint: `line ${line} is no YAML (${broken.code}); mend the file or fetch it anew` });
  }
  let content: unknown;
  try {
    content = document.toJS({ maxAliasCount: 100 });
  } catch {
    throw new ActionError('use kubeconfig', path, { hint: 'its YAML aliases multiply beyond measure; write it out' });
  }
  return accessFromKubeconfig(content, path, choice);
}

/**
 * The access of a pod: its service account's token and CA, and the addresses that every pod finds in its environment.
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
      hint: 'KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set, so this is no pod; give a kubeconfig',
    });
  }
  const tokenFile = join(directory, 'token');
  await new FreshFile(tokenFile, 'service account token').text();
  const namespace = await readFile(join(directory, 'namespace'), 'utf8').then(
    (found) => found.trim(),
    () => '',
  );
  return {
    origin: "the pod's service account",
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    ca: { file: join(directory, 'ca.crt') },
    tokenFile,
    ...(namespace === '' ? {} : { namespace }),
  };
}
