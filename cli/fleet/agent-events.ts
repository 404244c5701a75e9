import { apiPath, type SpecSource } from '../../agent/checkpoint/source.ts';
import { span } from '../node/spoken.ts';
import { EVENT_NAMESPACE } from '../../agent/events/event.ts';
import { coreEvents, type KubeObject } from '../../kube/api/object.ts';
import type { Settling } from './wait.ts';
import type { Clock, Millis } from '../../base/clock.ts';
import type { Client } from '../../kube/client/client.ts';

/** What an agent wrote on the API server about its node. */
export interface AgentEvent {
  reason: string;
  message: string;
  /** When it happened last, ms; 0 where it does not say. */
  atMs: number;
}

const PAGE = 500;
/** Of one reason about one node. Names hold the time, so what is past this is newer: then the caller does without. */
const MAX_EVENTS = 50_000;
/** A person waits for it, and it is only an explanation. */
const MAX_MS = 5_000;

/**
 * The newest event of each of these reasons about a node, newest first. Page by page, of which only the newest is kept.
 * What cannot be read (no rights, no time) is absent: events only explain what the status says already.
 */
export async function agentEvents(
  { client, clock }: { client: Pick<Client, 'listEach'>; clock: Clock },
  node: string,
  reasons: readonly string[],
  signal: AbortSignal,
): Promise<AgentEvent[]> {
  const enough = new AbortController();
  const stop = clock.after(MAX_MS, () => enough.abort());
  const both = AbortSignal.any([enough.signal, signal]);
  try {
    const newest = await Promise.all(reasons.map((reason) => newestOf(client, node, reason, both).catch(() => undefined)));
    return newest.filter((event) => event !== undefined).toSorted((a, b) => b.atMs - a.atMs);
  } finally {
    stop();
  }
}

async function newestOf(
  client: Pick<Client, 'listEach'>,
  node: string,
  reason: string,
  signal: AbortSignal,
): Promise<AgentEvent | undefined> {
  let newest: AgentEvent | undefined;
  let next: string | undefined;
  const fieldSelector = `involvedObject.kind=Node,involvedObject.name=${node},reason=${reason}`;
  for (let pages = 0; pages < MAX_EVENTS / PAGE; pages++) {
    const query = { namespace: EVENT_NAMESPACE, fieldSelector, limit: PAGE, ...(next ? { continue: next } : {}) };
    const page = await client.listEach(coreEvents, query, (event) => {
      const seen = agentEvent(event);
      if (seen.reason === reason && (newest === undefined || seen.atMs >= newest.atMs)) newest = seen;
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

/** The event comes from the agent as the status does, in any order: it is looked for this often, this far apart. */
const LOOKS = 3;
const BETWEEN_MS: Millis = 1_000;

const verdicts = ['KubeletConfigCondemned', 'KubeletConfigRefused'] as const;

/** One sentence: what became of the config on this node, why, and what runs there now. */
export function failureText(node: string, source: string, { how, error, runs }: Failed, why: string | undefined, afterMs: Millis): string {
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

/** Upstream's errors name a log that holds nothing of this. */
export const forPeople = (error: string): string => error.replace(/, see (?:Kubelet|dkc-agent) log for details$/, '');

/** What the agent's event about this source says; undefined where there is none (no rights, another agent version). */
export async function verdictReason(
  deps: { client: Pick<Client, 'listEach'>; clock: Clock },
  node: string,
  source: SpecSource,
  how: Failed['how'],
  signal: AbortSignal,
): Promise<string | undefined> {
  if (how !== 'refused' && how !== 'condemned' && how !== 'fell-back') return undefined;
  for (let look = 0; look < LOOKS; look++) {
    if (look > 0) await deps.clock.sleep(BETWEEN_MS, signal);
    const about = (await agentEvents(deps, node, verdicts, signal)).find(({ message }) => isAbout(message, source));
    if (about) return shortened(about);
  }
  return undefined;
}

/** Events name the ConfigMap as upstream does, or in our own spelling. */
function isAbout(message: string, source: SpecSource): boolean {
  const ours = `${source.namespace}/${source.name}:${source.kubeletConfigKey}`;
  return message.includes(`${apiPath(source)}, `) || new RegExp(`(?:^|[\\s"(])${escaped(ours)}(?![-.\\w])`).test(message);
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Without the name of the config, which stands before it already. */
const shortened = ({ message }: AgentEvent): string =>
  message.replace(/^Refused \S+, UID: \S*, ResourceVersion: \S*, KubeletConfigKey: \S+: /, '');
