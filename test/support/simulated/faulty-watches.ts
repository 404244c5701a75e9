import type { WatchEvent } from '../../../kube/client/client.ts';
import type { KubeObject } from '../../../kube/api/object.ts';
import { BrokenConnection } from '../../../kube/client/connection.ts';
import { ApiError, TransportError } from '../../../kube/client/errors.ts';
import type { SimWorld } from './sim-world.ts';

/** Later than this nothing comes that is late. */
export const LATEST = 3_000;

export type Event = WatchEvent & { object: KubeObject };

/** One way in which a watch goes wrong, at one of its events. Yields what the watcher sees instead of it; the watch goes on when that returns true. */
export interface WatchFault {
  name: string;
  do(event: Event, world: SimWorld): AsyncGenerator<Event, boolean>;
  /** What becomes of the next list or watch of the kind. @default nothing */
  next?: 500 | 410;
}

const call = { method: 'GET', path: '/watched', host: 'local' };

export function refusal(code: 500 | 410): ApiError {
  return new ApiError(call, { code, reason: code === 410 ? 'Expired' : 'InternalError', message: 'the test says so' });
}

// oxlint-disable-next-line require-yield -- fails before the first event
async function* cut(): AsyncGenerator<Event, boolean> {
  throw new TransportError(call, 'cut', { hint: 'the connection broke', cause: new BrokenConnection('perhaps', 'the test cut it') });
}

// oxlint-disable-next-line require-yield -- fails before the first event
async function* gone(): AsyncGenerator<Event, boolean> {
  throw refusal(410);
}

export const watchFaults: readonly WatchFault[] = [
  { name: 'a cut', do: cut },
  { name: 'a cut, and nobody there at first', do: cut, next: 500 },
  { name: 'a cut, and a version that is forgotten', do: cut, next: 410 },
  { name: '410', do: gone },
  { name: '410, and nobody there at first', do: gone, next: 500 },
  {
    name: 'a delay',
    async *do(event, { clock }) {
      await clock.sleep(LATEST);
      yield event;
      return true;
    },
  },
  {
    name: 'an echo',
    async *do(event) {
      yield event;
      yield event;
      return true;
    },
  },
  {
    name: 'an end as if that were all',
    async *do(event) {
      yield event;
      return false;
    },
  },
];
