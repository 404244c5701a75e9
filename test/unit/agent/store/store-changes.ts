import type { Payload, Source } from '../../../../agent/checkpoint/source.ts';
import { FsStore } from '../../../../agent/store/fs-store.ts';
import { layout } from '../../../../agent/store/layout.ts';
import type { CondemnedRecord, JournalLine, Store, TrialRecord } from '../../../../agent/store/store.ts';
import type { CrashDisk } from '../../../support/crash-disk.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { memoryLocks } from '../../../support/memory-locks.ts';

export const ROOT = '/d';
export const paths = layout(ROOT);

const web = { namespace: 'dkc-system', name: 'web', kubeletConfigKey: 'kubelet' };
export const source = (uid: string, resourceVersion = '1'): Source => ({ ...web, uid, resourceVersion });
export const payload = (of: Source, text: string): Payload => ({
  ...of,
  files: new Map([
    ['kubelet', new TextEncoder().encode(`kind: KubeletConfiguration # ${text}`)],
    ['ca.crt', new TextEncoder().encode('certificate')],
  ]),
  annotations: { 'dkc.dev/retry': text },
});
const content = { kubeletConfigKey: 'kubelet', contentSha256: '0'.repeat(64) };
const at = '2026-01-01T00:00:00Z';
const looks = { assignedAt: at, exits: 0, exitsOffset: 0, bootId: 'boot' };
export const trial = (healthyMs: number): TrialRecord => ({ ...content, ...looks, source: source('a'), healthyMs });
const verdict = { reason: 'exits', evidence: ['exit 1'], by: 'agent', retry: '' } as const;
export const condemned = (uid: string): CondemnedRecord => ({ ...source(uid), ...content, ...verdict, at });
export const line = (detail: string): JournalLine => ({ at, event: 'booted', source: null, detail });

/** Another process that finds this disk. */
export const openStore = (disk: CrashDisk): FsStore =>
  new FsStore({ disk: disk.disk(), locks: memoryLocks(), root: ROOT, clock: new FakeClock(at) });

/** A change of the store, and the store it is made on. */
export interface StoreChange {
  why: string;
  before?: (store: Store, disk: CrashDisk) => Promise<void>;
  change: (store: Store) => Promise<unknown>;
  /** Its promise says nothing about the disk. */
  unacknowledged?: true;
  /** Facts of {@link look} that may read so in between, beside old and new. */
  between?: Readonly<Record<string, string>>;
}

/** Assigned a/1, last known good b/1, both checkpointed; a trial, a condemnation, a line of journal. */
export async function livedIn(store: Store): Promise<void> {
  await store.initialize();
  await store.save(payload(source('a'), 'a'));
  await store.save(payload(source('b'), 'b'));
  await store.setRecord('last-known-good', source('b'));
  await store.setRecord('assigned', source('a'));
  await store.setTrial(trial(1));
  await store.setCondemned([condemned('x')]);
  await store.addToJournal(line('first'));
}

/** The same with these files on its disk, as somebody else left them. */
const holding =
  (files: Readonly<Record<string, string | Uint8Array>>) =>
  async (store: Store, disk: CrashDisk): Promise<void> => {
    await livedIn(store);
    for (const [path, bytes] of Object.entries(files)) disk.plant(path, bytes);
  };
const manyLines = Array.from({ length: 1100 }, (_, i) => `${JSON.stringify(line(`old ${i}`))}\n`).join('');

const full = holding({ [paths.journal]: manyLines });
const rubbish = holding({ [paths.meta('assigned')]: 'rubbish' });
const upstreams = holding(
  Object.fromEntries(Array.from(payload(source('u'), 'u').files, ([key, bytes]) => [`${paths.checkpoints}/u/1/${key}`, bytes])),
);
const thirdSaved = async (store: Store): Promise<void> => {
  await livedIn(store);
  await store.save(payload(source('c'), 'c'));
};

// prettier-ignore
export const storeChanges: readonly StoreChange[] = [
  { why: 'initialize', before: async () => {}, change: (store) => store.initialize(), between: { assigned: 'missing', good: 'missing' } },
  { why: 'setRecord assigned', change: (store) => store.setRecord('assigned', source('b')) },
  { why: 'setRecord where it is missing', before: loseAssigned, change: (store) => store.setRecord('assigned', source('b')) },
  { why: 'save, then assign', change: (store) => store.save(payload(source('c', '7'), 'c')).then(() => store.setRecord('assigned', source('c', '7'))) },
  { why: 'save a second version', change: (store) => store.save(payload(source('a', '2'), 'a2')) },
  { why: 'adopt a checkpoint of upstream', before: upstreams, change: (store) => store.load(source('u'), source('u')), unacknowledged: true },
  { why: 'save over one of upstream', before: upstreams, change: (store) => store.save(payload(source('u'), 'u')) },
  { why: 'setTrial', change: (store) => store.setTrial(trial(2)) },
  { why: 'setTrial to none', change: (store) => store.setTrial(undefined) },
  { why: 'setCondemned', change: (store) => store.setCondemned([condemned('x'), condemned('y')]) },
  { why: 'addToJournal', change: (store) => store.addToJournal(line('second')) },
  { why: 'addToJournal to a full one', before: full, change: (store) => store.addToJournal(line('second')) },
  { why: 'setAside', before: rubbish, change: (store) => store.setAside(paths.meta('assigned')) },
  { why: 'removeCheckpoint', before: thirdSaved, change: (store) => store.removeCheckpoint(source('c')) },
];

async function loseAssigned(store: Store, disk: CrashDisk): Promise<void> {
  await livedIn(store);
  await disk.disk().remove(paths.meta('assigned'));
}

const watched = [source('a'), source('a', '2'), source('b'), source('c'), source('c', '7'), source('u')];

/** Everything a caller can see of a store, as words that can be compared. Changes nothing. */
export async function look(store: Store): Promise<Record<string, string>> {
  const record = async (name: 'assigned' | 'last-known-good') => {
    const found = await store.record(name);
    return found.at === 'known' ? (found.source ? `${found.source.uid}/${found.source.resourceVersion}` : 'none') : found.at;
  };
  const seen: Record<string, string> = { assigned: await record('assigned'), good: await record('last-known-good') };
  for (const ref of watched) {
    const state = await store.load(ref);
    const name = `${ref.uid}/${ref.resourceVersion}`;
    if (state.at !== 'intact') {
      seen[name] = state.at;
    } else {
      const { payload, manifest } = state.checkpoint;
      seen[name] = Array.from(payload.files, ([key, bytes]) => `${key}=${Buffer.from(bytes).toString()}`).join();
      seen[`${name} of`] = JSON.stringify([manifest.namespace, manifest.annotations]);
    }
  }
  seen['trial'] = String((await store.trial())?.healthyMs);
  seen['condemned'] = (await store.condemned()).map(({ uid }) => uid).join();
  const journal = new Set((await store.journal()).map(({ detail }) => detail));
  seen['journal has the new line'] = String(journal.has('second'));
  seen['journal has old lines'] = String(journal.has('first') || journal.has('old 1099'));
  return seen;
}
