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

/** The config that the node should use after the agent has applied a change. */
export type Arrival = Place;

export const waitFlags: readonly Flag[] = [
  {
    name: 'wait',
    type: 'boolean',
    text: 'wait until the agent has applied the change and the kubelet is healthy; exit 1 if that does not happen in time',
  },
  { name: 'timeout', type: 'duration', value: 'TIME', default: '2m', text: 'with --wait: maximum wait' },
];

/** Time at which the agent, since the change, chose another config and reported an error; undefined: it has not. */
function elsewhereSince(now: Peek, before: Peek, arrival: Arrival): string | undefined {
  if (hasSwitched(now, arrival) || !now.active?.ok || now.active.record.error === null) return undefined;
  const { at } = now.active.record;
  return before.active?.ok && before.active.record.at === at ? undefined : at;
}

/**
 * A choice that is unchanged for this long is the agent's response to the change. If the agent had read the store before the change, another choice
 * follows at once, since the agent reads the store again after its restart. In ms.
 */
const STABLE_MS: Millis = 5_000;

/** Polling interval: other processes write the files, which are small. */
const POLL_MS: Millis = 250;

/**
 * With --wait: waits until the node uses the expected config.
 * @param arrival - undefined: nothing has changed, so there is no wait
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
      if (elsewhere !== undefined && now - elsewhere.since >= STABLE_MS)
        return wrong(`this node did not stay on ${place}: it uses ${describePeek(seen)}; see Error and Next of dkc status`);
      // A missing agent is an error only on timeout: the agent is down for a moment while systemd restarts it.
      const waited = now - began;
      if (waited >= timeoutMs) {
        const agent = (await agentRuns(context, node).catch(() => true)) ? '' : '; the agent is not running: systemctl start dkc-agent';
        const time = formatGoDuration(BigInt(Math.round(timeoutMs)) * 1_000_000n);
        return wrong(`timed out after ${time} waiting for this node to use ${place}: it uses ${describePeek(seen)}${agent}`);
      }
      line.draw(`waiting for the agent to use ${place}; now ${describePeek(seen)}`);
      await clock.sleep(POLL_MS, signal).catch(() => undefined); // the loop checks the signal
    }
  } finally {
    line.clear();
  }
}

/** What the node uses now. Reads a few small files and sends one request, so it is cheap to poll. */
export async function peek(context: Context, { options }: NodeSide): Promise<Peek> {
  const [active, effective, started, health] = await Promise.all([
    readOptional(context, await activePath({ disk: context.disk, ...options })),
    readOptional(context, options.effectiveConfig),
    // The kubelet's drop-in writes this file to the directory of the exits file.
    readOptional(context, join(dirname(options.kubeletExits), STARTED_FILE)),
    // The same probe as in a trial, so that a drill passes if a trial would.
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
