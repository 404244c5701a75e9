import { show, table } from '../output/output.ts';
import { ActionError, nearest } from '../../base/errors.ts';
import { isForbidden, isNotFound } from '../../kube/client/errors.ts';
import { connectQueryOf } from '../connect/flags.ts';
import { UsageError } from '../failure.ts';
import type { Args } from '../args/args.ts';
import type { Context } from '../command.ts';
import { coreEvents, type KubeObject, type Resource } from '../../kube/api/object.ts';
import type { Client, ObjectRef } from '../../kube/client/client.ts';

export type NamedRef = Required<ObjectRef>;

/**
 * Parses an object reference: NAME or NAMESPACE/NAME.
 * @param command - as typed after `dkc`
 * @throws {UsageError} for anything else, and for two namespaces
 */
export async function readRef(context: Pick<Context, 'namespaceOf' | 'path'>, args: Args, command: string): Promise<NamedRef> {
  const text = args.one('name') ?? '';
  const usage = (problem: string): UsageError => new UsageError(`${command}: ${problem}; see dkc ${command} --help`);
  const parts = text.split('/');
  if (parts.length > 2 || parts.includes('')) throw usage(`${JSON.stringify(text)} must be NAME or NAMESPACE/NAME`);
  const [name = '', within] = parts.toReversed();
  const flag = args.text('namespace');
  if (flag !== undefined && within !== undefined && flag !== within)
    throw usage(`${text} is in namespace ${within}, but --namespace is ${flag}`);
  const namespace = within ?? flag ?? (await context.namespaceOf(connectQueryOf(context, args))) ?? 'default';
  return { namespace, name };
}

/** @throws {ActionError} if there is no such object, with a suggestion */
export async function getNamed<T extends KubeObject>(
  client: Pick<Client, 'get' | 'listEach'>,
  resource: Resource,
  ref: NamedRef,
  signal: AbortSignal,
): Promise<T> {
  try {
    return await client.get<T>(resource, { namespace: ref.namespace, name: ref.name }, { signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    throw missing(resource, ref, await listAll<T>(client, resource, { namespace: ref.namespace }, signal));
  }
}

export async function listAll<T extends KubeObject>(
  client: Pick<Client, 'listEach'>,
  resource: Resource,
  within: { namespace?: string; fieldSelector?: string },
  signal: AbortSignal,
): Promise<T[]> {
  const found: T[] = [];
  await client.listEach<T>(resource, within, (item) => void found.push(item), { signal });
  return found;
}

/** @returns events about an object; none if this user may not list events: the explanation is complete without them */
export async function eventsAbout<T extends KubeObject>(
  client: Pick<Client, 'listEach'>,
  { metadata: { namespace = '', uid = '' } }: Readonly<KubeObject>,
  signal: AbortSignal,
): Promise<T[]> {
  try {
    return await listAll<T>(client, coreEvents, { namespace, fieldSelector: `involvedObject.uid=${uid}` }, signal);
  } catch (error) {
    if (isForbidden(error)) return [];
    throw error;
  }
}

/** Maximum number of names listed. */
const MAX_NAMES = 5;

function missing({ kind }: Resource, { namespace, name }: NamedRef, there: readonly KubeObject[]): ActionError {
  const names = there.map(({ metadata }) => metadata.name ?? '').toSorted();
  const meant = nearest(name, names);
  const listed = names.slice(0, MAX_NAMES).join(', ') + (names.length > MAX_NAMES ? ', ...' : '');
  const known = names.length === 0 ? `namespace ${namespace} has none` : `namespace ${namespace} has ${listed}`;
  const what = kind === 'Pod' ? 'pod' : 'set';
  const hint = `no such ${what}; ${meant === undefined ? known : `did you mean ${namespace}/${meant}?`}`;
  return new ActionError('explain', `${kind} ${namespace}/${name}`, { hint });
}

/** One line of an explanation. */
export interface Explained {
  object: string;
  reason: string;
  detail: string;
}

/** @param title - what the objects are. @param nothing - the sentence for people when there is no line. @param about - the object that was asked for */
export function showExplained(
  context: Context,
  args: Args,
  found: readonly Explained[],
  { title, nothing, about }: { title: string; nothing: string; about?: string },
): Promise<void> {
  return show(context, args, {
    data: found.map(({ object, reason, detail }) => ({ object, reason, detail })),
    people: (how) =>
      found.length === 0
        ? `Nothing to explain: ${nothing}.\n`
        : table(
            [
              // No column for the object if every row is about the object that was asked for.
              ...(found.every(({ object }) => object === about) ? [] : [{ title, value: ({ object }: Explained) => object }]),
              { title: 'REASON', value: ({ reason }) => reason },
              { title: 'DETAIL', value: detailBeside },
            ],
            found,
            how,
          ),
  });
}

/** The detail without repetition of the reason in the column before: `not ready` adds nothing to NotReady. */
function detailBeside({ reason, detail }: Explained): string {
  const text = detail.replace(` (${reason})`, '');
  const letters = (words: string): string => words.replaceAll(/[^a-z]/gi, '').toLowerCase();
  return letters(text) === letters(reason) ? '' : text;
}
