import type { Meters } from '../../kube/process/contract.ts';

/** Why a follower of the event stream was disconnected or not let in. */
export type Dropped = 'slow' | 'full' | 'failed';

/** What the page counts. */
export interface PageMetrics {
  /** A request is answered. @param code - HTTP status */
  answered(code: number): void;
  /** Bytes of bodies, as they go over the wire. */
  sent(bytes: number): void;
  dropped(reason: Dropped): void;
}

/** @param streams - open event streams, asked at each scrape */
export function pageMetrics(meters: Pick<Meters, 'counter' | 'gauge'>, streams: () => number): PageMetrics {
  meters.gauge('dkc_page_streams', 'Number of event streams of the fleet page that are open', streams);
  const answered = meters.counter('dkc_page_requests_total', 'Number of requests to the fleet page, by status code', ['code']);
  const sent = meters.counter('dkc_page_sent_bytes_total', 'Bytes of response bodies that the fleet page has sent, after compression');
  const dropped = meters.counter(
    'dkc_page_dropped_clients_total',
    'Number of event streams of the fleet page that were ended, because the client was too slow or its connection failed, or rejected, because the maximum was open, by reason',
    ['reason'],
  );
  return {
    answered: (code) => answered({ code }),
    sent: (bytes) => sent({}, bytes),
    dropped: (reason) => dropped({ reason }),
  };
}

export const noPageMetrics: PageMetrics = { answered: () => {}, sent: () => {}, dropped: () => {} };
