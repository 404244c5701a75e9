import { ActionError, describeError } from '../../base/errors.ts';
import { sourceText, type PayloadRef, type SpecSource } from '../../agent/checkpoint/source.ts';
import { show, table } from '../output/output.ts';
import { printable } from '../output/printable.ts';
import { NoCarrierError } from '../../controllers/fleet/server-facts.ts';
import { TransportError } from '../../kube/client/errors.ts';
import type { FleetCarrier } from './carrier.ts';
import type { FleetNode } from '../../controllers/fleet/fleet-node.ts';
import type { Choice } from './node-names.ts';
import type { Args } from '../args/args.ts';
import type { Context } from '../command.ts';

/** Concurrent writes: enough for thousands of nodes in minutes, few enough not to load the server. */
const AT_ONCE = 8;
/** Consecutive nodes without a response before the command gives up: two minutes at the default timeout, instead of hours for a whole fleet. */
const MAX_UNANSWERED = 32;
/** Maximum number of lines about failed nodes, without the final error. */
const MAX_LINES = 20;

export interface Written {
  /** State of the nodes before the write. */
  before: FleetNode[];
  /** State of the nodes that the server stored, in the order requested. */
  done: FleetNode[];
  /** Errors in the same order; the caller throws the first. */
  failed: unknown[];
}

/**
 * Writes an assignment to every chosen node. After a failure, printed on stderr, it continues with the other nodes, unless the server no longer responds.
 * @param source - null: local
 * @throws {ActionError} if a selector matches no node; NoCarrierError; the signal's reason
 */
export async function writeAll(
  context: Context,
  fleet: FleetCarrier,
  choice: Choice,
  source: SpecSource | null,
  how: { dryRun: boolean; carrier?: 'node' | 'nodeconfig' | undefined },
): Promise<Written> {
  const { signal } = context;
  const chosen: readonly (string | FleetNode)[] = choice.by === 'name' ? choice.names : await fleet.list(signal, choice.labelSelector);
  if (chosen.length === 0)
    throw new ActionError('find', 'nodes', {
      hint: choice.by === 'selector' && choice.labelSelector !== undefined ? `no node matches ${choice.labelSelector}` : 'the cluster has none',
    }); // prettier-ignore
  const results: ({ before: FleetNode; after: FleetNode } | { error: unknown })[] = [];
  let at = 0;
  let unanswered = 0;
  const worker = async (): Promise<void> => {
    while (at < chosen.length && !signal.aborted && unanswered < MAX_UNANSWERED) {
      const mine = at++;
      const one = chosen[mine];
      if (one === undefined) return;
      try {
        const before = typeof one === 'string' ? await fleet.read(one, signal) : one;
        results[mine] = { before, after: await fleet.assign(before, source, signal, how) };
        unanswered = 0;
      } catch (error) {
        // All other nodes would fail for the same reason.
        if (error instanceof NoCarrierError) throw error;
        results[mine] = { error };
        unanswered = isServerSilent(error) ? unanswered + 1 : 0;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, chosen.length) }, worker));
  if (signal.aborted && !how.dryRun) {
    // "At least": the results of requests in flight are unknown.
    const done = results.filter((result) => 'after' in result).length;
    context.stderr.write(`dkc: note: at least ${done} of ${chosen.length} nodes were changed; run the same command again for the others\n`);
  }
  signal.throwIfAborted();
  const written: Written = { before: [], done: [], failed: [] };
  for (const result of results)
    if ('error' in result) written.failed.push(result.error);
    else {
      written.before.push(result.before);
      written.done.push(result.after);
    }
  // The caller throws the first one, which prints it.
  const others = written.failed.slice(1);
  for (const error of others.slice(0, MAX_LINES)) context.stderr.write(`dkc: ${printable(describeError(error))}\n`);
  if (others.length > MAX_LINES) context.stderr.write(`dkc: ${others.length - MAX_LINES} more nodes failed\n`);
  const untried = chosen.length - at;
  if (untried > 0)
    context.stderr.write(
      `dkc: ${untried} more nodes were not tried, since the API server no longer answers; run the same command again for the others\n`,
    );
  return written;
}

function isServerSilent(error: unknown): boolean {
  return error instanceof TransportError && ['unreachable', 'tls', 'timeout', 'cut'].includes(error.problem);
}

/** Prints the written assignments, as a table or for scripts. */
export async function showAssignments(
  context: Context,
  args: Args,
  done: readonly FleetNode[],
  found: PayloadRef | undefined,
): Promise<void> {
  const full = ({ wanted }: FleetNode) =>
    wanted && {
      namespace: wanted.namespace,
      name: wanted.name,
      uid: found?.uid ?? null,
      resourceVersion: found?.resourceVersion ?? null,
      kubeletConfigKey: wanted.kubeletConfigKey,
    };
  await show(context, args, {
    data: done.map((node) => ({ node: node.node, carrier: node.carrier, source: full(node) })),
    people: (how) =>
      done.length === 0
        ? ''
        : table(
            [
              { title: 'NODE', value: ({ node }) => node },
              { title: 'ASSIGNED', value: ({ wanted }) => sourceText(wanted) },
              { title: 'CARRIER', value: ({ carrier }) => carrier ?? '', wide: true },
            ],
            done,
            how,
          ),
  });
}
