import { whyNotAvailable } from '../common/availability.ts';
import type { Waits } from './actions.ts';
import type { Slot } from './slots.ts';

const details = {
  creating: 'it is about to be made',
  'stale-claim': 'a claim of the pod that was there before is about to be removed with it',
  'unknown-place': 'dkc.dev/reserve-ordinals cannot be read, and may leave it out',
  updating: 'it is of an old revision and is about to be replaced',
  recreating: 'it is of an old revision, and all of these go before new ones are made',
  'scaling-down': 'there is no place for it any more',
} as const;

/** @param what - @default what keeps the pod from being available */
export function waitsFor({ name, pod }: Slot, what?: keyof typeof details): Waits {
  const state = pod === undefined ? undefined : whyNotAvailable(pod);
  if (what === undefined) return { object: name, reason: state?.reason ?? 'NoPod', detail: state?.text ?? 'there is no pod' };
  const ready = pod?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;
  const going = pod?.metadata.deletionTimestamp !== undefined;
  const also = state === undefined || (ready && !going) ? '' : `; ${state.text}`;
  return { object: name, reason: what, detail: `${details[what]}${also}` };
}
