import type { Informers } from '../cache/informers.ts';
import type { Check } from '../serving/checks.ts';
import type { Discovery } from './discovery.ts';
import type { Leadership } from './leadership.ts';

/**
 * What `/readyz` is made of. A standby is ready, as that of Kubernetes' own components is: it has its caches and takes over in a moment, and a
 * rollout that waits for readiness would otherwise wait for the leader to go. So the leader check says who leads, and fails only where this process
 * never will: it may not read or write the lease.
 */
export function readyChecks(
  informers: Pick<Informers, 'unsynced'>,
  leadership: Pick<Leadership, 'describe' | 'refusal'> | undefined,
  discovery: Pick<Discovery, 'check' | 'isOver'>,
): Check[] {
  const unfilled = (): string | undefined => (discovery.isOver ? waitsFor(informers) : 'not chosen yet: discovery comes before');
  const caches: Check = { name: 'caches', problem: unfilled, detail: () => unfilled() ?? 'all have synced' };
  const checks = discovery.check === undefined ? [caches] : [discovery.check, caches];
  return leadership === undefined
    ? checks
    : [...checks, { name: 'leader', problem: () => leadership.refusal, detail: () => leadership.describe() }];
}

function waitsFor({ unsynced }: Pick<Informers, 'unsynced'>): string | undefined {
  if (unsynced.length === 0) return undefined;
  const each = unsynced.map(({ name, problem }) => `${name} (${problem === undefined ? 'its first list is under way' : problem.text})`);
  return `not synced: ${each.join(', ')}`;
}
