import type { Millis } from '../../base/clock.ts';
import type { Informers, Waiting } from '../cache/informers.ts';
import type { Check } from '../serving/checks.ts';
import type { Discovery } from './discovery.ts';
import type { Leadership } from './leadership.ts';

/** How long a cache may be kept from its server before a restart is worth a try. */
const MAX_TROUBLE_MS: Millis = 5 * 60_000;

/**
 * What `/healthz` is made of: a cache that could not list or watch for 5 minutes on end. A process that decides on a state that old is better restarted
 * than left alone, since what keeps it from its server may be its own.
 */
export function healthChecks(informers: Pick<Informers, 'troubled'>): Check[] {
  const stuck = (): string | undefined => {
    const caches = informers.troubled.filter(({ problem }) => problem !== undefined && problem.forMs >= MAX_TROUBLE_MS);
    return caches.length === 0 ? undefined : `no successful list or watch for 5 minutes: ${named(caches)}`;
  };
  return [{ name: 'caches', problem: stuck, detail: () => stuck() ?? 'no cache has been failing for 5 minutes' }];
}

/**
 * What `/readyz` is made of. A standby is ready, as that of Kubernetes' own components is: it has its caches and takes over in a moment, and a
 * rollout that waits for readiness would otherwise wait for the leader to go. So the leader check says who leads, and fails only where this process
 * never will: it may not read or write the lease.
 */
export function readyChecks(
  informers: Pick<Informers, 'unsynced' | 'troubled'>,
  leadership: Pick<Leadership, 'describe' | 'refusal'> | undefined,
  discovery: Pick<Discovery, 'check' | 'isOver'>,
): Check[] {
  const unfilled = (): string | undefined => (discovery.isOver ? waitsFor(informers) : 'not chosen yet: waiting for API discovery');
  const caches: Check = { name: 'caches', problem: unfilled, detail: () => unfilled() ?? 'all have synced' };
  const checks = discovery.check === undefined ? [caches] : [discovery.check, caches];
  return leadership === undefined
    ? checks
    : [...checks, { name: 'leader', problem: () => leadership.refusal, detail: () => leadership.describe() }];
}

/** Caches that are in trouble are named as well, synced or not: what is decided on them grows old. */
function waitsFor({ unsynced, troubled }: Pick<Informers, 'unsynced' | 'troubled'>): string | undefined {
  const aging = troubled.filter(({ name }) => !unsynced.some((one) => one.name === name));
  const problems = [
    ...(unsynced.length === 0 ? [] : [`not synced: ${named(unsynced)}`]),
    ...(aging.length === 0 ? [] : [`synced, but failing since: ${named(aging)}`]),
  ];
  return problems.length === 0 ? undefined : problems.join('; ');
}

/** A server that is away fails all caches alike: that is said once. */
function named(caches: readonly Waiting[]): string {
  const groups = Map.groupBy(caches, ({ problem }) => problem?.text.replace(/^Cannot [A-Z]+ \S+ /, ''));
  const texts = [...groups.values()].map(([first, ...alike]) => {
    const { name = '', problem } = first ?? {};
    const others = alike.length === 0 ? '' : `, and so ${alike.map((one) => one.name).join(', ')}`;
    return `${name} (${problem === undefined ? 'its first list is in progress' : problem.text})${others}`;
  });
  return texts.join('; ');
}
