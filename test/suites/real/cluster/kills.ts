import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Subject } from './subject.ts';
import type { Revision } from '../../../support/stories/world.ts';

/** As quick as a lease can change hands on a busy machine. */
export const quickElection = ['lease-duration=3s', 'renew-deadline=2s', 'retry-period=200ms'].map((flag) => `--leader-elect-${flag}`);

/** As systemd does with Restart=always: also one that lost its lease, on a busy machine, comes back. */
export async function keepAlive(subject: Subject, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    // It may be killed while it starts.
    if (subject.pid === undefined) await subject.start().catch(() => {});
    await sleep(100, undefined, { signal }).catch(() => {});
  }
}

export interface Killing {
  times: number;
  /** Pods that are made between two kills at most. */
  apart: number;
  random: () => number;
  /** Pods made so far. */
  made: () => number;
  until: (what: string, holds: () => boolean) => Promise<unknown>;
}

/** Kills one of the two, or both, in the middle of work. */
export async function killAgainAndAgain(one: Subject, other: Subject, { times, apart, random, made, until }: Killing): Promise<void> {
  for (let kills = 0; kills < times; kills++) {
    // In the middle of work, however slow the machine is.
    const enough = made() + Math.ceil(random() * apart);
    await until(`pod ${enough} is made`, () => made() >= enough);
    await sleep(random() * 200);
    // Now and then both: nobody is left to take over at once.
    const victims = random() < 0.3 ? [one, other] : [random() < 0.5 ? one : other];
    await Promise.all(victims.map((victim) => victim.kill()));
  }
}

/** Of one set, after many rollouts by processes that were killed. */
export function assertOrderly(revisions: readonly Readonly<Revision>[], collisionCount = 0): void {
  assertAllDiffer(revisions.map(({ revision }) => String(revision)));
  assertAllDiffer(revisions.map(({ data }) => JSON.stringify(data)));
  assert.ok(revisions.length <= 11, 'ten old ones and the current');
  assert.equal(collisionCount, 0, 'no hash was taken by a revision of its own');
}

function assertAllDiffer(texts: readonly string[]): void {
  assert.equal(new Set(texts).size, texts.length, texts.join('\n'));
}
