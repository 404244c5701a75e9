import { ActionError } from '../../base/errors.ts';
import { rollouts, type NodeConfigRollout } from '../../controllers/rollout/types.ts';
import type { Client } from '../../kube/client/client.ts';
import { isConflict } from '../../kube/client/errors.ts';
import type { Args } from '../args/args.ts';
import { fine, type Command, type Context, type Exit, type Flag } from '../command.ts';
import { connectFlags } from '../connect/flags.ts';
import { formatFlag, scriptText } from '../output/output.ts';
import { getRollout, rolloutPositional } from './rollouts.ts';

/** Writes that lose against the controller or another person before a command gives up. */
const MAX_TRIES = 10;

/** What a command writes; `note` is for stderr. Without `write` everything is as it was asked for already. */
export interface Change {
  write?: (rollout: NodeConfigRollout) => Promise<NodeConfigRollout>;
  /** The line for people: `approved step 1`. */
  done: string;
  notes?: readonly string[];
}

/**
 * Changes a rollout as it is now: read, decided, and written only if nobody wrote in between; else all of it again.
 * @param decide - throws where it cannot be done
 */
export async function change(
  context: Context,
  args: Args,
  client: Client,
  what: { name: string; action: string; decide: (rollout: NodeConfigRollout) => Change | Promise<Change> },
): Promise<Exit> {
  const { name, action, decide } = what;
  for (let tries = 1; ; tries++) {
    const rollout = await getRollout(client, name, action, context.signal);
    const { write, done, notes = [] } = await decide(rollout);
    try {
      const written = write === undefined ? rollout : await write(rollout);
      context.stdout.write((await scriptText(args, written)) ?? `nodeconfigrollout.dkc.dev/${name} ${done}\n`);
      for (const text of notes) context.stderr.write(`dkc: note: ${text}\n`);
      return fine;
    } catch (error) {
      if (!isConflict(error) || tries === MAX_TRIES) throw error;
    }
  }
}

/** Merges into spec, if it is still the version that was read. null removes a field. */
export const patchSpec =
  (client: Client, spec: Readonly<Record<string, unknown>>, signal: AbortSignal) =>
  (rollout: NodeConfigRollout): Promise<NodeConfigRollout> => {
    const { name = '', resourceVersion } = rollout.metadata;
    return client.patch<NodeConfigRollout>(rollouts, { name }, { metadata: { resourceVersion }, spec }, { type: 'merge', signal });
  };

export const cannot = (action: string, { metadata }: NodeConfigRollout, hint: string): ActionError =>
  new ActionError(action, `NodeConfigRollout ${metadata.name}`, { hint });

/** What a rollout does now, for somebody who wanted something else: `it is Holding and waits for Window`. */
export function doingText({ status }: Readonly<NodeConfigRollout>): string {
  if (status?.phase === undefined) return 'no rollout controller has processed it yet';
  return `it is ${status.phase}${status.waitsFor === undefined ? '' : ` and waits for ${status.waitsFor}`}`;
}

/** Flags and positionals of every command that changes one rollout. */
export const changeFlags: readonly Flag[] = [...connectFlags, formatFlag];
export const changePositionals: Command['positionals'] = [rolloutPositional];
