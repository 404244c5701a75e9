import { apiPath, sourceText, type SpecSource } from '../../agent/checkpoint/source.ts';
import { type Context, type Exit, fine, wrong } from '../command.ts';
import { span } from '../node/spoken.ts';
import { printable, progress } from '../output/printable.ts';
import { type Settling, waitForNodes, type Wanted } from './wait.ts';
import type { FleetCarrier } from './carrier.ts';
import type { WatchProblem } from './watch-nodes.ts';
import type { Problem } from '../../kube/cache/failure-log.ts';
import type { FleetNode } from '../../controllers/fleet/fleet-node.ts';
import type { Clock, Millis } from '../../base/clock.ts';
import type { Client } from '../../kube/client/client.ts';
import { coreEvents, EVENT_NAMESPACE, type KubeObject } from '../../kube/api/object.ts';

/** Maximum number of nodes named in the last line; the others are counted. */
const MAX_NAMED = 3;
const problemReasons = ['KubeletConfigRefused', 'KubeletConfigCondemned', 'KubeletUnhealthy'] as const;

interface Api {
  client: Client;
  fleet: FleetCarrier;
}

/** Waits for nodes, with a line on stderr for each that has settled. @returns 1 with the reason if a node failed, or on timeout */
export async function waitAndReport(
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
    let watchProblem: WatchProblem = () => undefined;
    const onStart = (problem: WatchProblem): void => void (watchProblem = problem);
    const ends = await waitForNodes(fleet, clock, { ...wanted, before, timeoutMs, onProgress, onEnd, onStart }, signal);
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
    const each = await Promise.all(waiting.slice(0, MAX_NAMED).map((one) => overtime(context, client, one, source, wanted.wanted)));
    const more = waiting.length > MAX_NAMED ? `; and ${waiting.length - MAX_NAMED} more nodes` : '';
    return wrong(`timed out after ${span(timeoutMs)}: ${each.join('; ')}${more}${blindText(watchProblem())}`);
  } finally {
    bar.clear();
  }
}

const named = (names: readonly string[]): string =>
  names.length <= MAX_NAMED ? names.join(', ') : `${names.slice(0, MAX_NAMED).join(', ')} and ${names.length - MAX_NAMED} more`;

/** Appended to a message whose facts may be outdated, since the watch has a problem. */
export const blindText = (problem: Problem | undefined): string =>
  problem === undefined ? '' : `. Nothing newer was read for ${span(problem.forMs)}: ${printable(problem.text)}`;

/** State of a node on which the wait timed out, and the remedy. */
async function overtime(
  { clock, signal }: Context,
  client: Client,
  { node, end }: { node: string; end: Extract<Settling, { at: 'waiting' }> },
  source: string,
  spec: SpecSource | null,
): Promise<string> {
  if (end.reason === 'no-agent') return `${node}: ${end.why}; is dkc-agent running there? (systemctl status dkc-agent on the node)`;
  if (end.reason === 'on-trial')
    return `${node}: ${source} is still on trial${leftOf(end, clock.now())}; increase --timeout, or see dkc nodes`;
  const isIts = ({ reason, message }: AgentEvent): boolean => reason === 'KubeletUnhealthy' || (spec !== null && isAbout(message, spec));
  const [event] = await agentEvents({ client, clock }, node, problemReasons, isIts, signal);
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

/** An event of an agent about its node. */
interface AgentEvent {
  reason: string;
  message: string;
  /** Time of the last occurrence, ms; 0 if the event has none. */
  atMs: number;
}

const PAGE = 500;
/** Maximum number of events read per reason and node. Events are listed by name, and names contain the time, so newer ones follow: then no event is used. */
const MAX_EVENTS = 50_000;
/** Short, since the user waits, and events only add an explanation. */
const MAX_MS = 5_000;

/**
 * The newest matching event of each of these reasons about a node, newest first. Reads page by page, and keeps only the newest event.
 * A reason whose events cannot be read (missing right, timeout) is absent: events only explain what the status already reports.
 */
async function agentEvents(
  { client, clock }: { client: Pick<Client, 'listEach'>; clock: Clock },
  node: string,
  reasons: readonly string[],
  isWanted: (event: AgentEvent) => boolean,
  signal: AbortSignal,
): Promise<AgentEvent[]> {
  const enough = new AbortController();
  const stop = clock.after(MAX_MS, () => enough.abort());
  const both = AbortSignal.any([enough.signal, signal]);
  try {
    const newest = await Promise.all(reasons.map((reason) => newestOf(client, node, reason, isWanted, both).catch(() => undefined)));
    return newest.filter((event) => event !== undefined).toSorted((a, b) => b.atMs - a.atMs);
  } finally {
    stop();
  }
}

async function newestOf(
  client: Pick<Client, 'listEach'>,
  node: string,
  reason: string,
  isWanted: (event: AgentEvent) => boolean,
  signal: AbortSignal,
): Promise<AgentEvent | undefined> {
  let newest: AgentEvent | undefined;
  let next: string | undefined;
  const fieldSelector = `involvedObject.kind=Node,involvedObject.name=${node},reason=${reason}`;
  for (let pages = 0; pages < MAX_EVENTS / PAGE; pages++) {
    const query = { namespace: EVENT_NAMESPACE, fieldSelector, limit: PAGE, ...(next ? { continue: next } : {}) };
    const page = await client.listEach(coreEvents, query, (event) => {
      const seen = agentEvent(event);
      if (seen.reason === reason && (newest === undefined || seen.atMs >= newest.atMs) && isWanted(seen)) newest = seen;
    }, { signal }); // prettier-ignore
    if (page.continue === undefined || page.continue === '' || page.continue === next) return newest;
    next = page.continue;
  }
  return undefined;
}

function agentEvent(event: KubeObject): AgentEvent {
  const { reason, message, lastTimestamp, eventTime } = event as Readonly<Record<string, unknown>>;
  const text = (value: unknown): string => (typeof value === 'string' ? value : '');
  const atMs = Date.parse(text(lastTimestamp) || text(eventTime));
  return { reason: text(reason), message: text(message), atMs: Number.isNaN(atMs) ? 0 : atMs };
}

type Failed = Extract<Settling, { at: 'failed' }>;

/** The agent sends event and status in any order: look for the event this many times, with this interval. */
const TRIES = 3;
const BETWEEN_MS: Millis = 1_000;

const verdicts = ['KubeletConfigCondemned', 'KubeletConfigRefused'] as const;

/** One sentence: the result of the config on this node, the reason, and what runs there now. */
function failureText(node: string, source: string, { how, error, runs }: Failed, why: string | undefined, afterMs: Millis): string {
  const verb = { refused: 'refused', condemned: 'condemned', 'fell-back': 'fell back from', error: 'cannot use', reassigned: '', gone: '' }[
    how
  ];
  if (verb === '') return `${node}: ${error}`;
  const now =
    runs === undefined
      ? ''
      : how === 'refused'
        ? `. It still runs ${runs}`
        : how === 'error'
          ? `. It runs ${runs}`
          : `. It is back on ${runs}`;
  return `${node} ${verb} ${source} after ${span(afterMs)}: ${(why ?? `${forPeople(error)}; see journalctl -u dkc-agent on the node`).replace(/\.$/, '')}${now}`;
}

/** Upstream's error texts refer to a log that does not contain the details. */
const forPeople = (error: string): string => error.replace(/, see (?:Kubelet|dkc-agent) log for details$/, '');

/** Message of the agent's event about this source; undefined if there is none (missing right, other agent version). */
async function verdictReason(
  deps: { client: Pick<Client, 'listEach'>; clock: Clock },
  node: string,
  source: SpecSource,
  how: Failed['how'],
  signal: AbortSignal,
): Promise<string | undefined> {
  if (how !== 'refused' && how !== 'condemned' && how !== 'fell-back') return undefined;
  for (let look = 0; look < TRIES; look++) {
    if (look > 0) await deps.clock.sleep(BETWEEN_MS, signal);
    const [about] = await agentEvents(deps, node, verdicts, ({ message }) => isAbout(message, source), signal);
    if (about) return shortened(about);
  }
  return undefined;
}

/** Events name the ConfigMap and its key in upstream's format or in ours. */
function isAbout(message: string, source: SpecSource): boolean {
  const key = escaped(source.kubeletConfigKey);
  const upstreams = `${escaped(apiPath(source))}, UID: \\S*, ResourceVersion: \\S*, KubeletConfigKey: ${key}(?![-.\\w])`;
  const ours = `(?:^|[\\s"(])${escaped(`${source.namespace}/${source.name}`)}:${key}(?![-.\\w])`;
  return new RegExp(`${upstreams}|${ours}`).test(message);
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** The message without the name of the config, which the sentence already has. */
const shortened = ({ message }: AgentEvent): string =>
  message.replace(/^Refused \S+, UID: \S*, ResourceVersion: \S*, KubeletConfigKey: \S+: /, '');
