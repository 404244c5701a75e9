import { newestKubeletVersion, decode } from '../../agent/config/config.ts';
import { learnKubelet } from '../../agent/host/kubelet.ts';
import { silentLog } from '../../base/log.ts';
import { problemText } from '../../agent/evaluate/local.ts';
import { ActionError, errorCode } from '../../base/errors.ts';
import type { KubeletFacts, JsonObject, KubeletVersion } from '../../agent/config/contract.ts';
import type { AgentOptions } from '../../agent/options.ts';
import type { Context, Note } from '../command.ts';

/** A kubelet configuration that is larger is a mistake: a ConfigMap holds 1 MiB. */
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

/** Whether a file that need not be there is. @throws ActionError where that cannot be seen */
export async function isThere(context: Context, path: string): Promise<boolean> {
  try {
    return (await context.disk.stat(path)) !== undefined;
  } catch (cause) {
    throw new ActionError('find', path, { hint: 'its directory must be readable; run this as root', cause });
  }
}

/** The configuration as written in a file. @throws ActionError naming what is wrong with it */
export async function decodeFile(context: Context, name: string, version: KubeletVersion): Promise<JsonObject> {
  const decoded = decode(await readConfigFile(context, name), version);
  if (decoded.ok) return decoded.written;
  throw new ActionError('read the kubelet configuration in', name === '-' ? 'standard input' : context.path(name), {
    hint: `${problemText(decoded.errors)}; run \`dkc validate\` for details`,
  });
}

/** The kubelet that configurations are validated for, and what is to be remarked on that: see `withNote`. */
export interface ValidatedFor extends KubeletFacts {
  note?: Note;
}

/** As flags and agent.yaml say, else as found on this machine, else the newest known, which the note then says. */
export async function kubeletOf(context: Context, options: AgentOptions): Promise<ValidatedFor> {
  // Away from a node there is no kubelet to ask, and nothing wrong with that: only what follows from it is said.
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
