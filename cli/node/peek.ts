import { dirname, join } from 'node:path';
import type { NodeSide } from './node-side.ts';
import type { Peek } from '../../agent/admin/live-drill/plan.ts';
import { STARTED_FILE } from '../../agent/host/unit.ts';
import { parseActiveRecord } from '../../agent/store/active-record.ts';
import { sha256 } from '../../agent/store/content.ts';
import { probeHealth } from '../../agent/trial/health.ts';
import { ActionError, errorCode } from '../../base/errors.ts';
import type { Context } from '../command.ts';

/** What the node uses at this moment: a few small files and one request, so that it may be asked often. */
export async function peek(context: Context, { options, paths }: NodeSide): Promise<Peek> {
  const [active, effective, started, health] = await Promise.all([
    readOptional(context, paths.active),
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
