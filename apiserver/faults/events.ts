import type { Clock } from '../../base/clock.ts';
import type { Line } from '../http/api-request.ts';
import { goneLine } from './inject.ts';
import type { FaultPlan, FaultTarget } from './plan.ts';

/**
 * The lines of a watch as the plan troubles them, event by event. Bookmarks and errors are left alone: they are promises of the server, and none may be
 * broken that the real one keeps. Two events that change places always leave in one batch, so that whoever has heard one has heard both.
 */
export async function* troubled(
  batches: AsyncIterable<readonly Line[]>,
  plan: FaultPlan,
  target: Omit<FaultTarget, 'name'>,
  clock: Clock,
  signal: AbortSignal,
): AsyncGenerator<readonly Line[]> {
  for await (const batch of batches) {
    if (!plan.troublesWatches) {
      yield batch;
      continue;
    }
    let out: Line[] = [];
    for (let at = 0; at < batch.length; at++) {
      const line = batch[at];
      if (line === undefined) continue;
      const next = batch[at + 1];
      const hasNext = next !== undefined && isChange(next);
      const fault = isChange(line) ? plan.matchEvent({ ...target, name: line.name }, hasNext) : undefined;
      const action = fault?.action;
      if (action === 'duplicate') out.push(line, line);
      else if (action === 'reorder' && hasNext) {
        out.push(next, line);
        at += 1;
      } else if (fault && action === 'lag') {
        if (out.length > 0) yield out;
        out = [line];
        await clock.sleep(fault.ms, signal);
      } else if (action === 'early-gone') {
        yield [...out, goneLine()];
        return;
      } else if (action === 'truncate') {
        yield [...out, { ...line, text: line.text.slice(0, Math.floor(line.text.length / 2)) }];
        return;
      } else out.push(line);
    }
    if (out.length > 0) yield out;
  }
}

function isChange({ type }: Line): boolean {
  return type !== 'BOOKMARK' && type !== 'ERROR';
}
