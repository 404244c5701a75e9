import type { Meters } from '../../kube/process/meters.ts';

export type Answer = 'ok' | 'error';

export interface MirrorMeters {
  made(result: Answer): void;
  removed(result: Answer): void;
}

export function mirrorMeters(meters: Meters): MirrorMeters {
  const writes = meters.counter('reservation_mirror_writes_total', 'Pods that stand for kept room: calls to make and to remove them', [
    'verb',
    'result',
  ]);
  return {
    made: (result) => writes({ verb: 'create', result }),
    removed: (result) => writes({ verb: 'delete', result }),
  };
}
