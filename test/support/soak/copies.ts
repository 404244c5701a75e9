import type { Clock } from '../../../base/clock.ts';
import { configMaps } from '../../../kube/api/object.ts';
import type { KubeObject } from '../../../kube/api/object.ts';
import { objectKey } from '../../../kube/cache/contract.ts';
import type { Informer, Key } from '../../../kube/cache/contract.ts';
import type { Client } from '../../../kube/client/client.ts';
import { isNotFound } from '../../../kube/client/errors.ts';
import { claim, planClaim } from '../../../kube/controller/claim.ts';
import { type Controller, done, type Outcome } from '../../../kube/controller/controller.ts';
import type { EventRecorder } from '../../../kube/controller/event-recorder.ts';
import { Expectations } from '../../../kube/controller/expectations.ts';
import { holdBack, OwnWrites } from '../../../kube/controller/own-writes.ts';
import { controllerRef } from '../../../kube/controller/owners.ts';
import { slowStart } from '../../../kube/client/limits.ts';

/**
 * The smallest controller that uses the whole runtime: a ConfigMap labelled `role: set` wants `data.copies` copies of `data.text`, named SET-0 to
 * SET-(n-1), owned by it; how many are right it says in its annotation `ready`. What a DaemonSet does with pods and nodes, without pods and nodes.
 */
export class Copies {
  readonly expectations: Expectations;
  /** One for each cache: writes are looked for by kind, and both caches are of one, with other objects. */
  readonly #ownWrites: { readonly sets: OwnWrites; readonly copies: OwnWrites };
  readonly controller: Controller<KubeObject>;
  readonly #client: Client;
  readonly #copies: Informer<KubeObject>;
  readonly #sets: Informer<KubeObject>;
  readonly #events: EventRecorder;

  constructor(options: { client: Client; clock: Clock; sets: Informer<KubeObject>; copies: Informer<KubeObject>; events: EventRecorder }) {
    const { client, clock, sets, copies, events } = options;
    this.expectations = new Expectations(clock, { reached: () => copies.version });
    this.#ownWrites = { sets: new OwnWrites(clock), copies: new OwnWrites(clock) };
    this.#client = client;
    this.#sets = sets;
    this.#copies = copies;
    this.#events = events;
    this.controller = {
      name: 'copies',
      primary: sets,
      owns: [
        {
          of: copies,
          matching: ({ metadata }, owners) =>
            owners
              .list(metadata.namespace)
              .filter((set) => isCopyOf(set, { metadata }))
              .map(objectKey),
          expectations: this.expectations,
        },
      ],
      gone: (key) => this.#forget(key),
      reconcile: async (key, signal) => {
        try {
          return await this.#reconcile(key, signal);
        } finally {
          // It went while this pass wrote: what was noted after that nobody asks about again.
          if (sets.get(key) === undefined) this.#forget(key);
        }
      },
    };
  }

  #forget(key: Key): void {
    this.expectations.forget(key);
    this.#ownWrites.sets.forget(key);
    this.#ownWrites.copies.forget(key);
  }

  /** Sets with writes that the caches do not show yet. */
  get unseenWrites(): number {
    return this.#ownWrites.sets.size + this.#ownWrites.copies.size;
  }

  async #reconcile(key: Key, signal: AbortSignal): Promise<Outcome> {
    const set = this.#sets.get(key);
    if (set === undefined || set.metadata.deletionTimestamp !== undefined) return done;
    const { sets, copies } = this.#ownWrites;
    const wait =
      holdBack(key, { expectations: this.expectations, ownWrites: sets, caches: [this.#sets] }) ??
      holdBack(key, { expectations: this.expectations, ownWrites: copies, caches: [this.#copies] });
    if (wait !== undefined) return wait;
    const candidates = planClaim(set, this.#copies.list(set.metadata.namespace), (copy) => isCopyOf(set, copy));
    const by = { client: this.#client, owner: set, ownerKind: configMaps, kind: configMaps };
    const wrote = (object: KubeObject) => this.#ownWrites.copies.wrote(key, this.#copies, object);
    const mine = await claim({ ...by, wrote }, candidates, signal);
    const { create, remove, ready } = plan(set, mine);
    await this.#execute(key, set, { create, remove }, signal);
    if (set.metadata.annotations?.['ready'] === String(ready)) return done;
    const patch = { metadata: { annotations: { ready: String(ready) }, uid: set.metadata.uid } };
    try {
      const written = await this.#client.patch(configMaps, refOf(set), patch, { type: 'merge', signal });
      this.#ownWrites.sets.wrote(key, this.#sets, written);
    } catch (error) {
      // Gone is gone. A conflict is tried again: it may be the server's own, and then no event follows.
      if (!isNotFound(error)) throw error;
    }
    return done;
  }

  async #execute(key: Key, set: Readonly<KubeObject>, todo: Pick<Plan, 'create' | 'remove'>, signal: AbortSignal): Promise<void> {
    const { create, remove } = todo;
    if (create.length === 0 && remove.length === 0) return;
    // Gone since the pass began: another one that took its name would wait for what is expected here, and nobody would tell it.
    if (this.#sets.get(key)?.metadata.uid !== set.metadata.uid) return;
    const pass = this.expectations.expect(key, { creations: create.length, deletions: remove.map(({ metadata }) => metadata.uid ?? '') });
    const made = await slowStart(
      create,
      async (name) => {
        // What is there already, after a lost answer or as somebody else's, is a failure like others: of what is not its own no event wakes the set.
        const copy = await pass.create(() => this.#client.create<KubeObject>(configMaps, copyOf(set, name), { signal }));
        this.#ownWrites.copies.wrote(key, this.#copies, copy);
      },
      { signal },
    );
    if (made.skipped.length > 0) pass.notCreated(made.skipped.length);
    const failures = made.failed.map(({ error }) => error);
    for (const copy of remove) {
      const { uid = '' } = copy.metadata;
      try {
        await this.#client.delete(configMaps, refOf(copy), { body: { preconditions: { uid } }, signal });
        this.#ownWrites.copies.deleted(key, this.#copies, copy);
        this.#events.event(set, 'Normal', 'SuccessfulDelete', `Deleted copy: ${copy.metadata.name}`, { resource: configMaps });
      } catch (error) {
        pass.notDeleted(uid);
        if (!isNotFound(error)) failures.push(error);
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, `${failures.length} calls failed`);
  }
}

interface Plan {
  create: string[];
  remove: Readonly<KubeObject>[];
  ready: number;
}

function plan(set: Readonly<KubeObject>, copies: readonly Readonly<KubeObject>[]): Plan {
  const alive = copies.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const wanted = namesOf(set);
  const right = alive.filter((copy) => wanted.includes(copy.metadata.name ?? '') && textOf(copy) === textOf(set));
  const there = new Set(copies.map(({ metadata }) => metadata.name));
  return { create: wanted.filter((name) => !there.has(name)), remove: alive.filter((copy) => !right.includes(copy)), ready: right.length };
}

export function namesOf(set: Readonly<KubeObject>): string[] {
  const data = set['data'] as { copies?: string } | undefined;
  return Array.from({ length: Number(data?.copies ?? 0) }, (_, n) => `${set.metadata.name}-${n}`);
}

export const textOf = (object: Readonly<KubeObject>): string => (object['data'] as { text?: string } | undefined)?.text ?? '';

function isCopyOf({ metadata: set }: Readonly<KubeObject>, { metadata }: Pick<KubeObject, 'metadata'>): boolean {
  return metadata.labels?.['set'] === set.name && metadata.namespace === set.namespace;
}

function copyOf(set: Readonly<KubeObject>, name: string): KubeObject {
  const { namespace = '', name: of = '' } = set.metadata;
  const metadata = { name, namespace, labels: { role: 'copy', set: of }, ownerReferences: [controllerRef(set, configMaps)] };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { text: textOf(set) } };
}

function refOf({ metadata: { name = '', namespace = '' } }: Readonly<KubeObject>): { name: string; namespace: string } {
  return { name, namespace };
}
