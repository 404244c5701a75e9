import { test, type TestContext } from 'node:test';
import type { Payload, Source } from '../../../agent/checkpoint/source.ts';
import type { Store } from '../../../agent/store/store.ts';
import type { Disk } from '../../../base/disk.ts';

export interface Home {
  /** A store on a place where nothing is yet; the same place every time. */
  open: () => Store;
  disk: Disk;
  root: string;
  /** Sets the wall clock of every store opened here. */
  setNow: (ms: number) => void;
  /** Paths that were reported through onDamage. */
  damage: readonly string[];
}

export const bytes = (text: string) => new TextEncoder().encode(text);
const uid = '8b1a9953-c461-4296-a827-abf8c47804d7';
export const source = (over: Partial<Source> = {}): Source => ({ namespace: 'dkc-system', name: 'web', uid, resourceVersion: '41', kubeletConfigKey: 'kubelet', ...over }); // prettier-ignore
export const payload = (of = source(), files: Record<string, string> = { kubelet: 'maxPods: 5', 'ca.crt': 'CA' }): Payload => {
  const { kubeletConfigKey: _key, ...ref } = of;
  const annotations = { 'dkc.dev/allow': 'maxPods', 'kubectl.kubernetes.io/last-applied-configuration': '{}' };
  return { ...ref, files: new Map(Object.entries(files).map(([key, text]) => [key, bytes(text)])), annotations };
};

type Define = (name: string, check: (home: Home, store: Store) => Promise<void>) => void;
/** Defines a test on an empty store; `fresh`: on a place where nothing is yet. */
export type Suite = Define & { fresh: Define };

export function suiteOn(homeName: string, home: (t: TestContext) => Promise<Home>): Suite {
  const define =
    (isFresh: boolean): Define =>
    (name, check) =>
      void test(`store on ${homeName}: ${name}`, async (t) => {
        const at = await home(t);
        const store = at.open();
        if (!isFresh) await store.initialize();
        await check(at, store);
      });
  return Object.assign(define(false), { fresh: define(true) });
}
