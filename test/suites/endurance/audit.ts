import type { Storage } from '../../../apiserver/storage/storage.ts';

const KIND = '/configmaps';

export interface Write {
  /** resourceVersion: the order in which the server did it. */
  version: number;
  /** Of the ConfigMap. */
  name: string;
  identity: string;
  epoch: number;
  /** Ms, when the server did it. */
  at: number;
}

/** All writes of participants, in the order in which the API server did them. */
export class Audit {
  readonly writes: Write[] = [];
  readonly #storage: Storage;
  #version: number;
  #isOver = false;

  constructor(storage: Storage) {
    this.#storage = storage;
    this.#version = storage.version;
    this.#listen();
  }

  close(): void {
    this.#isOver = true;
  }

  /** Writes of an epoch that was over: after the first write of a later one. */
  late(name: string): Write[] {
    let highest = -1;
    return this.of(name).filter(({ epoch }) => {
      highest = Math.max(highest, epoch);
      return epoch < highest;
    });
  }

  /** Epochs in which more than one wrote. */
  shared(name: string): number[] {
    const writers = Map.groupBy(this.of(name), ({ epoch }) => epoch);
    return [...writers].filter(([, writes]) => new Set(writes.map(({ identity }) => identity)).size > 1).map(([epoch]) => epoch);
  }

  of(name: string): Write[] {
    return this.writes.filter((write) => write.name === name);
  }

  get epochs(): number {
    return new Set(this.of('target').map(({ epoch }) => epoch)).size;
  }

  #listen(): void {
    this.#storage.log(KIND).onNext(() => {
      if (this.#isOver) return;
      for (const { version, object } of this.#storage.log(KIND).after(this.#version, Number.MAX_SAFE_INTEGER) ?? []) {
        this.#version = version;
        const data = object['data'] as { identity?: string; epoch?: string } | undefined;
        if (data?.identity === undefined) continue;
        const { name = '' } = object.metadata;
        this.writes.push({ version, name, identity: data.identity, epoch: Number(data.epoch), at: performance.now() });
      }
      this.#listen();
    });
  }
}
