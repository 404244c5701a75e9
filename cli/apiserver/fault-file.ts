import { parseFaults, type Fault } from '../../apiserver/faults/fault.ts';
import { ActionError, describeError, errorCode } from '../../base/errors.ts';
import { fileWatcher } from '../../base/watch-files.ts';
import type { Context } from '../command.ts';

/** The faults in a file; none in an empty one. @throws ActionError naming the file, and the entry that is wrong */
export async function readFaults({ disk }: Pick<Context, 'disk'>, path: string): Promise<Fault[]> {
  const unusable = (hint: string, cause: unknown) => new ActionError('use the faults in', path, { hint, cause });
  const bytes = await disk.read(path).catch((cause: unknown) => {
    throw unusable(errorCode(cause) === 'ENOENT' ? 'no such file; an empty file means no faults' : 'it cannot be read', cause);
  });
  try {
    const text = Buffer.from(bytes).toString('utf8');
    return parseFaults(text.trim() === '' ? [] : JSON.parse(text));
  } catch (cause) {
    throw unusable('it must be a JSON list of faults', cause);
  }
}

/** Reads the file again whenever it changes, until the signal aborts. A file that cannot be used leaves the faults as they are. */
export async function followFaults(context: Context, path: string, use: (faults: Fault[]) => void, signal: AbortSignal): Promise<void> {
  const reread = async (): Promise<void> => {
    try {
      use(await readFaults(context, path));
    } catch (error) {
      context.stderr.write(`dkc: ${describeError(error)}; the faults are unchanged\n`);
    }
  };
  const watch = fileWatcher(context.disk, context.clock, context.log);
  await watch([path], () => void reread(), signal);
}
