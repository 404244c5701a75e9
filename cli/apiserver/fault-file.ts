import { parseFaults, type Fault } from '../../apiserver/faults/fault.ts';
import { ActionError, describeError } from '../../base/errors.ts';
import { fileWatcher } from '../../base/watch-files.ts';
import type { Context } from '../command.ts';

/** The faults in a file. @throws ActionError naming the file */
export async function readFaults({ disk }: Pick<Context, 'disk'>, path: string): Promise<Fault[]> {
  try {
    const text = Buffer.from(await disk.read(path)).toString('utf8');
    return parseFaults(text.trim() === '' ? [] : JSON.parse(text));
  } catch (cause) {
    throw new ActionError('use the faults in', path, { hint: 'it must be a JSON list of faults', cause });
  }
}

/** Reads the file again whenever it changes, until the signal aborts. A file that cannot be used leaves the faults as they are. */
export async function followFaults(context: Context, path: string, use: (faults: Fault[]) => void, signal: AbortSignal): Promise<void> {
  const reread = async (): Promise<void> => {
    try {
      use(await readFaults(context, path));
    } catch (error) {
      context.stderr.write(`dkc: ${describeError(error)}; the faults stay as they are\n`);
    }
  };
  const watch = fileWatcher(context.disk, context.clock, context.log);
  await watch([path], () => void reread(), signal);
}
