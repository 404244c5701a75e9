import { ActionError, nearest } from '../../base/errors.ts';
import { installCommand } from '../../agent/status/choose-carrier.ts';
import { type Rules, rulesOf } from '../../controllers/rollout/rules.ts';
import { type NodeConfigRollout, ROLLOUT_LABEL, rollouts } from '../../controllers/rollout/types.ts';
import { dnsSubdomainProblems } from '../../kube/api/names.ts';
import { isJsonObject } from '../../kube/api/json.ts';
import { type Client, servesResource } from '../../kube/client/client.ts';
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

/** The name on a command line: `web` or `ncr/web`. @throws {UsageError} for an invalid name */
export function rolloutName(command: string, args: Args): string {
  const text = args.one('name') ?? '';
  const name = text.replace(/^(?:ncr|nodeconfigrollouts?|nodeconfigrollouts?\.dkc\.dev|rollouts?)\//, '');
  const [problem] = name.includes('/') ? ['it must be NAME or ncr/NAME'] : dnsSubdomainProblems(name);
  if (problem === undefined) return name;
  throw new UsageError(`${command}: invalid name ${JSON.stringify(text.slice(0, 80))}: ${problem}; see dkc ${command} --help`);
}

type Reader = Pick<Client, 'get' | 'listEach' | 'raw'>;

/** @param action - for the error, as in `Cannot approve NodeConfigRollout web`. @throws {ActionError} if the rollout or its kind does not exist */
export async function getRollout(client: Reader, name: string, action: string, signal: AbortSignal): Promise<NodeConfigRollout> {
  try {
    return await client.get<NodeConfigRollout>(rollouts, { name }, { signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    throw await missing(client, name, action, signal);
  }
}

/** All rollouts, sorted by name. @throws {ActionError} if the server does not serve the kind */
export async function listRollouts(client: Reader, signal: AbortSignal): Promise<NodeConfigRollout[]> {
  const found: NodeConfigRollout[] = [];
  try {
    // The API server may omit the kind of list items, which -o name needs.
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

/** The items of a status list that are objects: a CustomResourceDefinition other than that of dkc may allow null and other types. */
export const objectsOf = <T extends object>(list: readonly T[] | undefined): readonly T[] =>
  Array.isArray(list) ? (list as readonly T[]).filter(isJsonObject) : [];

/** The validated and defaulted spec, as the controller reads it. */
export const readRules = (rollout: Readonly<NodeConfigRollout>): Rules => rulesOf(rollout);

/** State of a rollout for a command that waits for its end. */
type Outcome = 'complete' | 'failed' | 'running';

/** Failed: nodes were rolled back, or the rollout has stopped and needs a decision. A status for an earlier spec counts as running. Pure. */
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

/** The revisions (ConfigMap copies) of a rollout, newest first. */
export async function revisionsOf(client: Pick<Client, 'listEach'>, rollout: NodeConfigRollout, signal: AbortSignal): Promise<ConfigMap[]> {
  const { uid = '' } = rollout.metadata;
  const namespace = rollout.spec?.configMap?.namespace ?? '';
  const found: ConfigMap[] = [];
  const add = (one: ConfigMap): void => void (isControlledBy(one, rollout) && found.push(one));
  await client.listEach<ConfigMap>(configMaps, { namespace, labelSelector: `${ROLLOUT_LABEL}=${uid}` }, add, { signal });
  return found.toSorted((a, b) => numberOf(b) - numberOf(a));
}

/** The revision with this number. @throws {ActionError} if there is none */
export function revisionNumbered(revisions: readonly ConfigMap[], number: number, action: string, rollout: NodeConfigRollout): ConfigMap {
  const found = revisions.find((one) => numberOf(one) === number);
  if (found !== undefined) return found;
  const numbers = revisions.map(numberOf).join(', ');
  const hint = revisions.length === 0 ? 'it has no revisions yet' : `there is no such revision; the numbers are ${numbers}`;
  throw new ActionError(action, `revision ${number} of NodeConfigRollout ${rollout.metadata.name}`, { hint });
}

/** Maximum number of conflicts with the controller or other users before a command gives up. */
const MAX_TRIES = 10;

/** A change of a command; `notes` are for stderr. Without `write` the rollout is already as requested. */
export interface Change {
  write?: (rollout: NodeConfigRollout) => Promise<NodeConfigRollout>;
  /** The line for people: `approved step 1`. */
  done: string;
  notes?: readonly string[];
}

/**
 * Changes a rollout: reads it, decides, and writes with its resourceVersion; on a conflict starts again.
 * @param decide - throws if the change is not possible
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

/** Merges into spec, with the resourceVersion that was read. null removes a field. */
export const patchSpec =
  (client: Client, spec: Readonly<Record<string, unknown>>, signal: AbortSignal) =>
  (rollout: NodeConfigRollout): Promise<NodeConfigRollout> => {
    const { name = '', resourceVersion } = rollout.metadata;
    return client.patch<NodeConfigRollout>(rollouts, { name }, { metadata: { resourceVersion }, spec }, { type: 'merge', signal });
  };

export const cannot = (action: string, { metadata }: NodeConfigRollout, hint: string): ActionError =>
  new ActionError(action, `NodeConfigRollout ${metadata.name}`, { hint });

/** State of a rollout, for the error of an impossible change: `it is Holding and waits for Window`. */
export function doingText({ status }: Readonly<NodeConfigRollout>): string {
  if (status?.phase === undefined) return 'no rollout controller has processed it yet';
  return `it is ${status.phase}${status.waitsFor === undefined ? '' : ` and waits for ${status.waitsFor}`}`;
}

/** Flags and positionals of every command that changes one rollout. */
export const changeFlags: readonly Flag[] = [...connectFlags, formatFlag];
export const changePositionals: Command['positionals'] = [rolloutPositional];
