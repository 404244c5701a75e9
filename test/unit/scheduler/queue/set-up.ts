import assert from 'node:assert/strict';
import type { Millis } from '../../../../base/clock.ts';
import type { Rejector } from '../../../../scheduler/plugins/names.ts';
import { podInfoOf, type PodInfo } from '../../../../scheduler/pod/pod-info.ts';
import type { Hint, QueuedPod, SchedulingQueue } from '../../../../scheduler/queue/contract.ts';
import { createQueue, type QueueOptions } from '../../../../scheduler/queue/queue.ts';
import type { PodBuilder } from '../builders.ts';

export const FLUSH: Millis = 300_000;

/** A queue and its clock. @param resources - what helps a pod that NodeResourcesFit refused; nothing helps one that NodePorts did */
export function queueWith(resources: Hint, more: Partial<QueueOptions> = {}) {
  const clock = { now: 1_000_000 };
  const hints = new Map<Rejector, Hint>([
    ['NodeResourcesFit', resources],
    ['NodePorts', () => false],
  ]);
  const limits = { initialBackoffMs: 1_000, maxBackoffMs: 10_000, flushMs: FLUSH };
  return { clock, queue: createQueue({ now: () => clock.now, ...limits, hints, prioritized: () => false, ...more }) };
}

export const info = (built: PodBuilder): PodInfo => podInfoOf(built.build());

export function pop(queue: SchedulingQueue): QueuedPod {
  const popped = queue.pop();
  assert.ok(popped, 'nothing to pop');
  return popped;
}
