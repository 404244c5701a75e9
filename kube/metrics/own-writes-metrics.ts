import { Counter } from 'prom-client';
import type { Registry } from 'prom-client';
import type { OwnWritesMetrics } from '../controller/own-writes.ts';

/** @param subsystem - the controller, as the field spells it: `daemonset_controller`, `statefulset_controller` */
export function ownWritesMetrics(registry: Registry, subsystem: string): OwnWritesMetrics {
  const registers = [registry];
  const skips = new Counter({
    name: `${subsystem}_stale_sync_skips_total`,
    help: 'Total number of syncs skipped due to a stale cache.',
    registers,
  });
  const overdue = new Counter({
    name: `${subsystem}_own_writes_never_seen_total`,
    help: 'Times that a write of this controller did not appear in its cache before the timeout.',
    registers,
  });
  return { heldBack: () => skips.inc(), gaveUp: () => overdue.inc() };
}
