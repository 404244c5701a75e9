import { EVENT_NAMESPACE } from '../../agent/events/event.ts';
import { coreEvents } from '../../kube/api/object.ts';
import type { Clock } from '../../base/clock.ts';
import type { KubeObject } from '../../kube/api/object.ts';
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
