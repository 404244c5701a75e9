import type { CondemnedRecord, JournalLine, Store } from '../../store/store.ts';

/** Takes exactly `cleared` out of the condemnations; call it under the store lock. */
export async function executeRetry(store: Store, cleared: readonly CondemnedRecord[], journal: readonly JournalLine[]): Promise<void> {
  if (cleared.length === 0) return;
  const gone = new Set(cleared.map(identity));
  await store.setCondemned((await store.condemned()).filter((record) => !gone.has(identity(record))));
  for (const line of journal) await store.addToJournal(line);
}

function identity({ uid, resourceVersion, kubeletConfigKey, contentSha256, by, at }: CondemnedRecord): string {
  return JSON.stringify([uid, resourceVersion, kubeletConfigKey, contentSha256, by, at]);
}
