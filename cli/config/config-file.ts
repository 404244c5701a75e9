import { decode } from '../../agent/config/config.ts';
import { problemText } from '../../agent/judge/local.ts';
import { ActionError, errorCode } from '../../base/errors.ts';
import type { JsonObject, KubeletVersion } from '../../agent/config/contract.ts';
import type { Context } from '../command.ts';

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
