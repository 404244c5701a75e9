import type { Informers } from '../cache/informers.ts';
import type { Check } from '../serving/checks.ts';
import type { Leadership } from './leadership.ts';

/**
 * What `/readyz` is made of. A standby is ready, as that of Kubernetes' own components is: it has its caches and takes over in a moment, and a
 * rollout that waits for readiness would otherwise wait for the leader to go. So the leader check never fails; it says who leads.
 */
export function readyChecks(informers: Pick<Informers, 'unsynced'>, leadership: Pick<Leadership, 'describe'> | undefined): Check[] {
  const caches: Check = { name: 'caches', problem: () => waitsFor(informers), detail: () => waitsFor(informers) ?? 'all have synced' };
  return leadership === undefined ? [caches] : [caches, { name: 'leader', problem: () => undefined, detail: () => leadership.describe() }];
}

function waitsFor({ unsynced }: Pick<Informers, 'unsynced'>): string | undefined {
  if (unsynced.length === 0) return undefined;
  const each = unsynced.map(({ name, problem }) => `${name} (${problem === undefined ? 'its first list is under way' : problem.text})`);
  return `not synced: ${each.join(', ')}`;
}
