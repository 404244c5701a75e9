import { Counter, Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import type { EventMetrics } from '../controller/event-recorder.ts';

/** Upstream counts nothing of its event recorder, so these names are ours. */
export function eventMetrics(registry: Registry): EventMetrics {
  const registers = [registry];
  const sent = new Counter({
    name: 'dkc_events_sent_total',
    help: 'Events that the API server accepted, by whether they were created or patched.',
    labelNames: ['operation'],
    registers,
  });
  const dropped = new Counter({
    name: 'dkc_events_dropped_total',
    help: 'Events that were not sent, by reason: full, limited, refused, failed, closed, invalid.',
    labelNames: ['reason'],
    registers,
  });
  const retries = new Counter({ name: 'dkc_events_retries_total', help: 'Events that had to be sent again.', registers });
  const waiting = new Gauge({ name: 'dkc_events_waiting', help: 'Events that wait to be sent.', registers });
  return {
    sent: (operation) => sent.inc({ operation }),
    dropped: (reason) => dropped.inc({ reason }),
    retried: () => retries.inc(),
    waiting: (count) => waiting.set(count),
  };
}
