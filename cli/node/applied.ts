import { dirname, join } from 'node:path';
import { describePeek, hasSwitched, isHealthyOn, type Peek, type Place } from '../../agent/admin/drill/plan.ts';
import { STARTED_FILE } from '../../agent/host/unit.ts';
import { activePath } from '../../agent/admin/observe.ts';
import { parseActiveRecord } from '../../agent/store/active-record.ts';
import { sha256 } from '../../agent/checkpoint/payload.ts';
import { probeHealth } from '../../agent/trial/health.ts';
import { ActionError, errorCode } from '../../base/errors.ts';
import { fine, wrong, type Context, type Exit, type Flag } from '../command.ts';
import { agentRuns } from './status.ts';
import { sourceText } from '../../agent/checkpoint/source.ts';
import { formatGoDuration } from '../../base/go-duration.ts';
import { UsageError } from '../failure.ts';
import { progress } from '../output/printable.ts';
import type { NodeSide } from './node-side.ts';
import type { Millis } from '../../base/clock.ts';
import type { Args } from '../args/args.ts';

/** Where the node is to be when the agent has applied a change. */
export type Arrival = Place;

export const waitFlags: readonly Flag[] = [
  {
    name: 'wait',
    type: 'boolean',
    text: 'wait until the agent has applied the change and the kubelet is healthy; exit 1 if that does not happen in time',
  },
  { name: 'timeout', type: 'duration', value: 'TIME', default: '2m', text: 'with --wait: maximum wait' },
];

/** When the agent made another choice since, and said what keeps it from the place; undefined: it has not. */
function elsewhereSince(now: Peek, before: Peek, arrival: Arrival): string | undefined {
  if (hasSwitched(now, arrival) || !now.active?.ok || now.active.record.error === null) return undefined;
  const { at } = now.active.record;
  return before.active?.ok && before.active.record.at === at ? undefined : at;
}

/**
 * A choice that stands for so long, in ms, is the agent's answer to the change. One that it made of what it had read before is followed by another at once: it looks
 * again when it has started.
 */
const STANDS_MS: Millis = 5_000;

/** Other processes write what is waited for; their files are small. */
const LOOK_EVERY: Millis = 250;

/**
 * With --wait: waits until the node is where it is to be.
 * @param arrival - undefined: nothing has changed, so nothing is waited for
 */
export async function applied(context: Context, args: Args, node: NodeSide, arrival: Arrival | undefined): Promise<Exit> {
  if (!args.on('wait') || arrival === undefined) return fine;
  const { clock, signal } = context;
  const timeoutMs = args.ms('timeout') ?? 120_000;
  if (timeoutMs <= 0) throw new UsageError('--timeout must be more than 0');
  const place = `${arrival.used}${arrival.source === null ? '' : ` (${sourceText(arrival.source)})`}`;
  const line = progress(context);
  try {
    const before = await peek(context, node);
    let elsewhere: { at: string; since: Millis } | undefined;
    for (const began = clock.monotonic(); ;) {
      signal.throwIfAborted();
      const seen = await peek(context, node);
      if (hasSwitched(seen, arrival) && isHealthyOn(seen)) return fine;
      const now = clock.monotonic();
      const at = elsewhereSince(seen, before, arrival);
      if (at !== elsewhere?.at) elsewhere = at === undefined ? undefined : { at, since: now };
      if (elsewhere !== undefined && now - elsewhere.since >= STANDS_MS)
        return wrong(`this node did not stay on ${place}: it uses ${describePeek(seen)}; see Error and Next of dkc status`);
      // Between two agents there is none for a moment: systemd starts the next one.
      const waited = now - began;
      if (waited >= timeoutMs) {
        const agent = (await agentRuns(context, node).catch(() => true)) ? '' : '; the agent is not running: systemctl start dkc-agent';
        const time = formatGoDuration(BigInt(Math.round(timeoutMs)) * 1_000_000n);
        return wrong(`timed out after ${time} waiting for this node to use ${place}: it uses ${describePeek(seen)}${agent}`);
      }
      line.draw(`waiting for the agent to use ${place}; now ${describePeek(seen)}`);
      await clock.sleep(LOOK_EVERY, signal).catch(() => undefined); // looked at above
    }
  } finally {
    line.clear();
  }
}

/** What the node uses at this moment: a few small files and one request, so that it may be asked often. */
export async function peek(context: Context, { options }: NodeSide): Promise<Peek> {
  const [active, effective, started, health] = await Promise.all([
    readOptional(context, await activePath({ disk: context.disk, ...options })),
    readOptional(context, options.effectiveConfig),
    // The drop-in of the kubelet keeps it beside the exits.
    readOptional(context, join(dirname(options.kubeletExits), STARTED_FILE)),
    // As the trial asks, so that a drill passes where a trial would.
    options.kubeletHealthz === '' ? undefined : probeHealth(options.kubeletHealthz, context.signal),
  ]);
  return {
    active: active && parseActiveRecord(new TextDecoder().decode(active)),
    effectiveSha256: effective ? sha256(effective) : '',
    ...(started ? { startedSha256: sha256(started) } : {}),
    ...(health ? { healthy: health.healthy } : {}),
  };
}

async function readOptional({ disk }: Context, path: string): Promise<Uint8Array | undefined> {
  try {
    return await disk.read(path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw new ActionError('read', path, { hint: 'it must be a readable file; run this as root', cause: error });
  }
}
