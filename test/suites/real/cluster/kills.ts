import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from '../../../../base/random.ts';
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

/** Two processes are killed again and again while an administrator makes sets and changes their image, until the killing is over. */
export interface Rolling {
  killing: Omit<Killing, 'random' | 'until'>;
  names: readonly string[];
  /** Between two changes, in ms at most. */
  pauseMs: number;
  start: () => Promise<Subject>;
  create: (name: string) => Promise<unknown>;
  image: (image: string, name: string) => Promise<unknown>;
  until: Killing['until'];
  /** Looks at the sets once the last change, to image `app:LAST`, has been made and nobody is killed any more. */
  check: (last: number) => Promise<void>;
}

export async function killWhileRolling(
  t: TestContext,
  { killing, names, pauseMs, start, create, image, until, check }: Rolling,
): Promise<void> {
  const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1e6));
  t.diagnostic(`SEED=${seed}`);
  const random = seededRandom(seed);
  await using one = await start();
  await using other = await start();
  const ending = new AbortController();
  const kept = [one, other].map((subject) => keepAlive(subject, ending.signal));
  let isOver = false;
  const kill = async (): Promise<void> => {
    await killAgainAndAgain(one, other, { ...killing, random, until });
    isOver = true;
  };
  const administrate = async (): Promise<number> => {
    for (const name of names) await create(name);
    for (let tag = 2; ; tag++) {
      for (const name of names) {
        await image(`app:${tag}`, name);
        await sleep(random() * pauseMs);
      }
      if (isOver) return tag;
    }
  };
  const [last] = await Promise.all([administrate(), kill()]);
  try {
    await check(last);
  } catch (error) {
    t.diagnostic(await one.log());
    t.diagnostic(await other.log());
    throw error;
  } finally {
    ending.abort();
    await Promise.all(kept);
  }
}

interface Killing {
  times: number;
  /** Pods that are made between two kills at most. */
  apart: number;
  random: () => number;
  /** Pods made so far. */
  made: () => number;
  until: (what: string, holds: () => boolean) => Promise<unknown>;
}

/** Kills one of the two, or both, in the middle of work. */
async function killAgainAndAgain(one: Subject, other: Subject, { times, apart, random, made, until }: Killing): Promise<void> {
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
