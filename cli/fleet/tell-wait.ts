import { sourceText } from '../../agent/checkpoint/source.ts';
import { fine, wrong, type Context, type Exit } from '../command.ts';
import { span } from '../node/spoken.ts';
import { printable, progress } from '../output/printable.ts';
import { agentEvents, failureText, forPeople, verdictReason } from './agent-events.ts';
import { waitForNodes, type Settling, type Wanted } from './wait.ts';
import type { FleetCarrier } from './carrier.ts';
import type { FleetNode } from '../../controllers/fleet/fleet-node.ts';
import type { Millis } from '../../base/clock.ts';
import type { Client } from '../../kube/client/client.ts';

/** Nodes that the last line names; the others are counted. */
const MAX_NAMED = 3;
const troubles = ['KubeletConfigRefused', 'KubeletConfigCondemned', 'KubeletUnhealthy'] as const;

interface Api {
  client: Client;
  fleet: FleetCarrier;
}

/** Waits for nodes, with a line on stderr for each that has settled. @returns 1 with the reason when one failed or the time is over */
export async function waitAndTell(
  context: Context,
  { client, fleet }: Api,
  wanted: Wanted,
  before: readonly FleetNode[],
  timeoutMs: Millis,
): Promise<Exit> {
  const { clock, stderr, signal } = context;
  const bar = progress(context);
  const failures: { node: string; end: Extract<Settling, { at: 'failed' }>; afterMs: Millis }[] = [];
  const onEnd = (node: string, end: Settling, afterMs: Millis): void => {
    if (end.at === 'failed') failures.push({ node, end, afterMs });
    if (end.at !== 'settled') return;
    bar.clear();
    stderr.write(`${printable(node)}: ${end.state} after ${span(afterMs)}\n`);
  };
  const onProgress = (states: ReadonlyMap<string, Settling>): void => bar.draw(progressText(states, wanted, clock.now()));
  try {
    const ends = await waitForNodes(fleet, clock, { ...wanted, before, timeoutMs, onProgress, onEnd }, signal);
    bar.clear();
    const waiting = [...ends].flatMap(([node, end]) => (end.at === 'waiting' ? [{ node, end }] : []));
    const [failed] = failures;
    const source = sourceText(wanted.wanted === null ? null : { ...wanted.wanted, ...wanted.version });
    if (failed) {
      const reason = wanted.wanted && (await verdictReason({ client, clock }, failed.node, wanted.wanted, failed.end.how, signal));
      const others = waiting.length === 0 ? '' : `. Not finished: ${named(waiting.map(({ node }) => node))}`;
      return wrong(`${failureText(failed.node, source, failed.end, reason || undefined, failed.afterMs)}${others}`);
    }
    if (waiting.length === 0) return fine;
    const each = await Promise.all(waiting.slice(0, MAX_NAMED).map((one) => overtime(context, client, one, source)));
    const more = waiting.length > MAX_NAMED ? `; and ${waiting.length - MAX_NAMED} more nodes` : '';
    return wrong(`timed out after ${span(timeoutMs)}: ${each.join('; ')}${more}`);
  } finally {
    bar.clear();
  }
}

const named = (names: readonly string[]): string =>
  names.length <= MAX_NAMED ? names.join(', ') : `${names.slice(0, MAX_NAMED).join(', ')} and ${names.length - MAX_NAMED} more`;

/** Where a node stands that was waited for too long, and what to do about it. */
async function overtime(
  { clock, signal }: Context,
  client: Client,
  { node, end }: { node: string; end: Extract<Settling, { at: 'waiting' }> },
  source: string,
): Promise<string> {
  if (end.why === 'no agent has reported yet')
    return `${node}: ${end.why}; is dkc-agent running there? (systemctl status dkc-agent on the node)`;
  if (end.why === 'on trial')
    return `${node}: ${source} is still on trial${leftOf(end, clock.now())}; increase --timeout, or see dkc nodes`;
  const [event] = await agentEvents({ client, clock }, node, troubles, signal);
  const latest = event ? `; its last event is ${event.reason}: ${event.message}` : '';
  return `${node}: ${forPeople(end.why)}${latest}; see \`dkc status\` on the node`;
}

function progressText(states: ReadonlyMap<string, Settling>, { wanted, goal }: Wanted, now: Millis): string {
  let settled = 0;
  let first: string | undefined;
  for (const [node, state] of states)
    if (state.at === 'settled') settled += 1;
    else if (state.at === 'waiting' && first === undefined) first = `${printable(node)}: ${printable(state.why)}${leftOf(state, now)}`;
  const done = wanted === null ? 'local' : goal === 'trusted' ? 'trusted' : 'updated';
  return `${settled}/${states.size} nodes ${done}${first === undefined ? '' : `; ${first}`}`;
}

function leftOf({ trialEndsAtMs }: Extract<Settling, { at: 'waiting' }>, now: Millis): string {
  return trialEndsAtMs === undefined || trialEndsAtMs - now < 1_000 ? '' : `, ${span(trialEndsAtMs - now)} left`;
}
