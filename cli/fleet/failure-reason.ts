import { apiPath, type SpecSource } from '../../agent/checkpoint/source.ts';
import { agentEvents, type AgentEvent } from './agent-events.ts';
import { span } from '../node/spoken.ts';
import type { Settling } from './settle.ts';
import type { Clock, Millis } from '../../base/clock.ts';
import type { Client } from '../../kube/client/client.ts';

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
