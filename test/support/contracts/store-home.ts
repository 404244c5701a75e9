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
export const source = (over: Partial<Source> = {}): Source => ({
  namespace: 'dkc-system',
  name: 'web',
  uid: '8b1a9953-c461-4296-a827-abf8c47804d7',
  resourceVersion: '41',
  kubeletConfigKey: 'kubelet',
  ...over,
});
export const payload = (of = source(), files: Record<string, string> = { kubelet: 'maxPods: 5', 'ca.crt': 'CA' }): Payload => ({
  namespace: of.namespace,
  name: of.name,
  uid: of.uid,
  resourceVersion: of.resourceVersion,
  files: new Map(Object.entries(files).map(([key, text]) => [key, bytes(text)])),
  annotations: { 'dkc.dev/allow': 'maxPods', 'kubectl.kubernetes.io/last-applied-configuration': '{}' },
});

export type Check = (home: Home, store: Store) => Promise<void>;

export interface Suite {
  /** A test on a place where nothing is yet. */
  it: (name: string, check: Check) => void;
  /** A test on an empty store. */
  initialized: (name: string, check: Check) => void;
}

export function suiteOn(homeName: string, home: (t: TestContext) => Promise<Home>): Suite {
  const it = (name: string, check: (home: Home, store: Store) => Promise<void>): void => {
    void test(`store on ${homeName}: ${name}`, async (t) => {
      const at = await home(t);
      await check(at, at.open());
    });
  };
  const initialized = (name: string, check: (home: Home, store: Store) => Promise<void>): void =>
    it(name, async (at, store) => {
      await store.initialize();
      await check(at, store);
    });
  return { it, initialized };
}
