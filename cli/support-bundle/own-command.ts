import { dispatch } from '../dispatch.ts';
import { commands } from '../commands.ts';
import { jsonText } from '../output/structured.ts';
import { redactObject } from './redact/objects.ts';
import { redactText } from './redact/text.ts';
import type { Context } from '../command.ts';
import type { Found } from './collector.ts';

/** Whether this dkc has a command of this name. */
export const hasCommand = (name: string): boolean => commands.some((entry) => entry.name === name);

/**
 * What a command of dkc says with `-o json`, redacted. It may find something wrong (exit 1): that is why somebody makes a bundle.
 * @throws {Error} with the line on stderr where it could not do its work
 */
export async function ownCommand(context: Context, argv: readonly string[], path: string): Promise<Found> {
  let [out, errors] = ['', ''];
  const quiet = { isTTY: false, columns: undefined };
  const stdout = { ...quiet, write: (text: string) => void (out += text) };
  const stderr = { ...quiet, write: (text: string) => void (errors += text) };
  const code = await dispatch(commands, [...argv, '--output=json'], { ...context, stdout, stderr });
  if (code > 1) throw new Error(errors.trim().replace(/^dkc: /, ''));
  return { path, text: jsonText(redactObject(JSON.parse(out))), ...(code === 0 ? {} : { note: redactText(`exit code 1: ${errors.trim().replace(/^dkc: /, '')}`) }) }; // prettier-ignore
}
