import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../../../base/random.ts';
import type { KubeObject, Resource } from '../../../../kube/api/object.ts';
import { objectKey } from '../../../../kube/cache/contract.ts';
import type { SeenCache } from '../../../../kube/controller/own-writes.ts';
import { Expectations } from '../../../../kube/controller/expectations.ts';
import { OwnWrites } from '../../../../kube/controller/own-writes.ts';
import { slowStart } from '../../../../kube/controller/slow-start.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const pods: Resource = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true };
const WANTED = 3;
const OWNER = 'ns/set';
/** Longest time from a change to its event: less than a lost answer is looked out for. */
const LAG = 8_000;

interface Guards {
  expectations: boolean;
  ownWrites: boolean;
}

class LostAnswer extends Error {}

/** A controller that keeps three pods, on a cache that lags and on calls that fail or lose their answers, beside a user who deletes pods. */
class Story {
  readonly #clock = new FakeClock();
  readonly #random;
  readonly #guards;
  readonly #expectations = new Expectations(this.#clock);
  readonly #ownWrites = new OwnWrites(this.#clock);
  readonly #server = new Map<string, KubeObject>();
  readonly #cached = new Map<string, KubeObject>();
  #events: { at: number; version: number; object: KubeObject; gone: boolean }[] = [];
  #version = 1;
  #shown = 1;
  most = 0;

  constructor(seed: number, guards: Guards) {
    this.#random = seededRandom(seed);
    this.#guards = guards;
  }

  async run(steps: number): Promise<void> {
    for (let step = 0; step < steps; step++) {
      const dice = this.#random();
      if (dice < 0.4) await this.#reconcile(0.3);
      else if (dice < 0.6) this.#userDeletes();
      else await this.#later(this.#random() * LAG * 0.4);
      this.most = Math.max(this.most, this.#server.size);
    }
    // No more trouble: it must come to rest with what is wanted, and with nothing remembered.
    for (let round = 0; round < 40; round++) {
      await this.#later(LAG);
      await this.#reconcile(0);
    }
    assert.equal(this.#server.size, WANTED);
    assert.equal(this.#expectations.size, 0);
    if (this.#guards.ownWrites) assert.equal(this.#ownWrites.size, 0);
  }

  async #reconcile(trouble: number): Promise<void> {
    const cache: SeenCache = { resource: pods, version: String(this.#shown), get: (key) => this.#cached.get(key) };
    if (this.#guards.ownWrites && !this.#ownWrites.caughtUp(OWNER, [cache])) return;
    if (this.#guards.expectations && !this.#expectations.satisfied(OWNER)) return;
    const surplus = [...this.#cached.values()].slice(WANTED);
    const creations = Math.max(0, WANTED - this.#cached.size);
    const pass = this.#expectations.expect(OWNER, { creations, deletions: surplus.map(({ metadata: { uid = '' } }) => uid) });
    for (const { metadata } of surplus) if (!this.#remove(metadata.uid ?? '')) pass.notDeleted(metadata.uid ?? '');
    const { failed, skipped } = await slowStart(Array.from({ length: creations }), async () => {
      const dice = this.#random();
      if (dice < trouble / 3) throw new Error('refused');
      const made = dice < (trouble * 2) / 3 ? undefined : this.#create();
      // Time passes before the answer comes, and the watch may be faster.
      if (this.#random() < 0.5) this.#show(this.#clock.monotonic() + LAG);
      await Promise.resolve();
      if (made === undefined || dice < trouble) throw new LostAnswer();
      this.#ownWrites.wrote(OWNER, cache, made);
      pass.created(made.metadata.uid ?? '');
    });
    for (const { error } of failed) {
      if (error instanceof LostAnswer) pass.lost();
      else pass.notCreated();
    }
    pass.notCreated(skipped.length);
  }

  #create(): KubeObject {
    const version = (this.#version += 1);
    const object = { metadata: { namespace: 'ns', name: `p${version}`, uid: `u${version}`, resourceVersion: String(version) } };
    this.#server.set(object.metadata.uid, object);
    this.#emit(version, object, false);
    return object;
  }

  #remove(uid: string): boolean {
    const object = this.#server.get(uid);
    if (object === undefined) return false;
    this.#server.delete(uid);
    this.#emit((this.#version += 1), object, true);
    return true;
  }

  #userDeletes(): void {
    for (const uid of this.#server.keys()) {
      if (this.#random() < 0.3) this.#remove(uid);
    }
  }

  /** In order, as a watch has it. */
  #emit(version: number, object: KubeObject, gone: boolean): void {
    const soonest = this.#events.at(-1)?.at ?? 0;
    this.#events.push({ at: Math.max(soonest, this.#clock.monotonic() + this.#random() * LAG), version, object, gone });
  }

  async #later(ms: number): Promise<void> {
    await this.#clock.advance(ms);
    this.#show(this.#clock.monotonic());
  }

  #show(until: number): void {
    for (let [next] = this.#events; next !== undefined && next.at <= until; [next] = this.#events) {
      const { object, gone, version } = next;
      this.#events.shift();
      this.#shown = version;
      const { uid = '' } = object.metadata;
      if (gone) {
        if (this.#cached.delete(objectKey(object))) this.#expectations.deletionSeen(OWNER, uid);
      } else {
        this.#cached.set(objectKey(object), object);
        this.#expectations.creationSeen(OWNER, uid);
      }
    }
  }
}

// The last two are what the test must notice, else it proves nothing.
const cases: { with: string; guards: Guards; keeps: boolean }[] = [
  { with: 'expectations and own writes', guards: { expectations: true, ownWrites: true }, keeps: true },
  { with: 'expectations alone', guards: { expectations: true, ownWrites: false }, keeps: true },
  { with: 'own writes alone (nobody looks out for lost answers)', guards: { expectations: false, ownWrites: true }, keeps: false },
  { with: 'neither', guards: { expectations: false, ownWrites: false }, keeps: false },
];
for (const { with: guarded, guards, keeps } of cases) {
  test(`a controller with ${guarded} ${keeps ? 'never makes' : 'makes'} a pod too many`, async () => {
    let most = 0;
    for (let seed = 1; seed <= 40; seed++) {
      const story = new Story(seed, guards);
      await story.run(60);
      most = Math.max(most, story.most);
    }
    if (keeps) assert.equal(most, WANTED);
    else assert.ok(most > WANTED, `at most ${most}`);
  });
}
