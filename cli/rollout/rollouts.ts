import { ActionError, nearest } from '../../base/errors.ts';
import { installCommand } from '../../agent/status/choose-carrier.ts';
import { servesResource } from '../../controllers/fleet/server-facts.ts';
import { type Rules, rulesOf } from '../../controllers/rollout/rules.ts';
import { type NodeConfigRollout, ROLLOUT_LABEL, rollouts } from '../../controllers/rollout/types.ts';
import { dnsSubdomainProblems } from '../../kube/api/names.ts';
import type { Client } from '../../kube/client/client.ts';
import { isConflict, isNotFound } from '../../kube/client/errors.ts';
import type { Args } from '../args/args.ts';
import { type Command, type Context, type Exit, fine, type Flag, type Positional } from '../command.ts';
import { UsageError } from '../failure.ts';
import { type ConfigMap, numberOf } from '../../controllers/rollout/revision.ts';
import { configMaps } from '../../kube/api/object.ts';
import { isControlledBy } from '../../kube/controller/owners.ts';
import { connectFlags } from '../connect/flags.ts';
import { formatFlag, scriptText } from '../output/output.ts';

export const rolloutPositional: Positional = {
  name: 'name',
  text: 'name of the rollout; also ncr/NAME',
  required: true,
  completes: 'rollout',
};

/** The name on a command line: `web` or `ncr/web`. @throws {UsageError} for what no rollout can be called */
export function rolloutName(command: string, args: Args): string {
  const text = args.one('name') ?? '';
  const name = text.replace(/^(?:ncr|nodeconfigrollouts?|nodeconfigrollouts?\.dkc\.dev|rollouts?)\//, '');
  const [problem] = dnsSubdomainProblems(name);
  if (problem === undefined) return name;
  throw new UsageError(`${command}: invalid name ${JSON.stringify(text.slice(0, 80))}: ${problem}; see dkc ${command} --help`);
}

type Reader = Pick<Client, 'get' | 'listEach' | 'raw'>;

/** @param action - what it is for, as in `Cannot approve NodeConfigRollout web`. @throws {ActionError} where there is none, or no such kind */
export async function getRollout(client: Reader, name: string, action: string, signal: AbortSignal): Promise<NodeConfigRollout> {
  try {
    return await client.get<NodeConfigRollout>(rollouts, { name }, { signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    throw await missing(client, name, action, signal);
  }
}

/** By name. @throws {ActionError} where the server does not serve the kind */
export async function listRollouts(client: Reader, signal: AbortSignal): Promise<NodeConfigRollout[]> {
  const found: NodeConfigRollout[] = [];
  try {
    // Items of a list may come without their kind, which -o name needs.
    const { group, version, kind } = rollouts;
    const add = (one: NodeConfigRollout): void => void found.push({ ...one, apiVersion: `${group}/${version}`, kind });
    await client.listEach<NodeConfigRollout>(rollouts, {}, add, { signal });
  } catch (error) {
    if (isNotFound(error)) throw notServed('list', 'NodeConfigRollouts');
    throw error;
  }
  return found.toSorted((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
}

export const notServed = (action: string, object: string): ActionError =>
  new ActionError(action, object, { hint: `the API server does not serve NodeConfigRollouts; to install them: ${installCommand('')}` });

async function missing(client: Reader, name: string, action: string, signal: AbortSignal): Promise<ActionError> {
  const object = `NodeConfigRollout ${name}`;
  if (!(await servesResource(client, rollouts, signal))) return notServed(action, object);
  const names = (await listRollouts(client, signal)).map(({ metadata }) => metadata.name ?? '');
  const meant = nearest(name, names);
  const hint = meant === undefined ? '`dkc rollout status` lists them' : `did you mean ${meant}?`;
  return new ActionError(action, object, { hint: `not found; ${hint}` });
}

/** What a rollout asks for, checked and with its defaults, as the controller reads it. */
export const readRules = (rollout: Readonly<NodeConfigRollout>): Rules => rulesOf(rollout);

/** Where a rollout stands for somebody who waits for its end. */
type Outcome = 'complete' | 'failed' | 'running';

/** Failed: nodes went back, or it has stopped for somebody to look at. A status about an earlier spec says nothing. Pure. */
export function outcomeOf(rollout: Readonly<NodeConfigRollout>): Outcome {
  if (!isObserved(rollout)) return 'running';
  const { phase, stopped, complete } = rollout.status ?? {};
  if (phase === 'Complete' || (phase === 'Paused' && complete === true)) return 'complete';
  if (phase === 'RolledBack' || phase === 'Failed') return 'failed';
  return phase === 'Paused' && stopped !== undefined ? 'failed' : 'running';
}

/** Whether the controller has seen the newest spec. */
export function isObserved({ metadata, status }: Readonly<NodeConfigRollout>): boolean {
  return (status?.observedGeneration ?? 0) >= (metadata.generation ?? 1);
}

/** Copies that a rollout has made, the newest first. */
export async function revisionsOf(client: Pick<Client, 'listEach'>, rollout: NodeConfigRollout, signal: AbortSignal): Promise<ConfigMap[]> {
  const { uid = '' } = rollout.metadata;
  const namespace = rollout.spec?.configMap?.namespace ?? '';
  const found: ConfigMap[] = [];
  const add = (one: ConfigMap): void => void (isControlledBy(one, rollout) && found.push(one));
  await client.listEach<ConfigMap>(configMaps, { namespace, labelSelector: `${ROLLOUT_LABEL}=${uid}` }, add, { signal });
  return found.toSorted((a, b) => numberOf(b) - numberOf(a));
}

/** The revision with this number. @throws {ActionError} where there is none */
export function revisionNumbered(revisions: readonly ConfigMap[], number: number, action: string, rollout: NodeConfigRollout): ConfigMap {
  const found = revisions.find((one) => numberOf(one) === number);
  if (found !== undefined) return found;
  const numbers = revisions.map(numberOf).join(', ');
  const hint = revisions.length === 0 ? 'it has no revisions yet' : `there is no such revision; the numbers are ${numbers}`;
  throw new ActionError(action, `revision ${number} of NodeConfigRollout ${rollout.metadata.name}`, { hint });
}

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
