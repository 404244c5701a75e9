import { newestKubeletVersion, decode } from '../../agent/config/config.ts';
import { learnKubelet } from '../../agent/host/kubelet.ts';
import { silentLog } from '../../base/log.ts';
import { problemText } from '../../agent/evaluate/local.ts';
import { ActionError, errorCode } from '../../base/errors.ts';
import type { KubeletFacts, JsonObject, KubeletVersion } from '../../agent/config/contract.ts';
import type { AgentOptions } from '../../agent/options.ts';
import type { Context, Note } from '../command.ts';

/** A larger file is not a kubelet configuration: a ConfigMap holds 1 MiB. In bytes. */
const LARGEST = 4 * 1024 * 1024;

/** The bytes of a file that was named on the command line; `-` is standard input. @throws ActionError naming the file */
export async function readConfigFile(context: Context, name: string): Promise<Uint8Array> {
  if (name === '-') return await context.stdin();
  const path = context.path(name);
  try {
    return await context.disk.readLinked(path, LARGEST);
  } catch (cause) {
    const hint = errorCode(cause) === 'ENOENT' ? 'no such file' : 'it must be a readable file of at most 4 MiB';
    throw new ActionError('read', path, { hint, cause });
  }
}

/** Whether an optional file exists. @throws ActionError if this cannot be determined */
export async function isThere(context: Context, path: string): Promise<boolean> {
  try {
    return (await context.disk.stat(path)) !== undefined;
  } catch (cause) {
    throw new ActionError('find', path, { hint: 'its directory must be readable; run this as root', cause });
  }
}

/** The configuration as written in a file. @throws ActionError naming the file's error */
export async function decodeFile(context: Context, name: string, version: KubeletVersion): Promise<JsonObject> {
  const decoded = decode(await readConfigFile(context, name), version);
  if (decoded.ok) return decoded.written;
  throw new ActionError('read the kubelet configuration in', name === '-' ? 'standard input' : context.path(name), {
    hint: `${problemText(decoded.errors)}; run \`dkc validate\` for details`,
  });
}

/** The kubelet that configurations are validated for, and a remark on this choice for `withNote`. */
export interface ValidatedFor extends KubeletFacts {
  note?: Note;
}

/** From flags and agent.yaml, else from this machine, else the newest known version, which `note` then names. */
export async function kubeletOf(context: Context, options: AgentOptions): Promise<ValidatedFor> {
  // On a machine that is not a node a missing kubelet is no error, so the log is silent: only the note names the version that is assumed.
  const kubelet = await learnKubelet({ options, disk: context.disk, exec: context.exec, log: silentLog });
  const { newer, version } = kubelet;
  if (newer !== undefined)
    return {
      ...kubelet,
      note: { level: 'warning', text: `kubelet ${newer} is newer than the latest known; validated as ${version.text}` },
    };
  if (version !== newestKubeletVersion) return kubelet;
  const text = `validated for kubelet ${version.text} (latest known); use --kubelet-version for another`;
  return { ...kubelet, note: { level: 'note', text } };
}
