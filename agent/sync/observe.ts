import type { Fetched, SyncFacts, Verdict, Wanted } from './plan.ts';
import { isDue, spoiled } from './spoiled.ts';
import { payloadOf } from '../checkpoint/download.ts';
import type { ContentRef, Payload } from '../checkpoint/payload.ts';
import { sameSource, type MaybeSource, type Source } from '../checkpoint/source.ts';
import type { Situation } from '../status/node-config-state.ts';
import { contentRef, digestFiles, sameContent, storedContent } from '../store/content.ts';
import type { CheckpointState, Store } from '../store/store.ts';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { KubeObject } from '../../kube/api/object.ts';

/** What the watch of the wanted ConfigMap has shown. */
export type ConfigMapSeen = { at: 'found'; object: KubeObject } | { at: 'absent' } | { at: 'failed'; problem: string };

export interface ObserveDeps {
  store: Store;
  situation: Situation;
  clock: Clock;
  log: Log;
  /** Preflight of a payload for this node; null where it is off. */
  preflight: ((source: Source, fetched: Extract<Fetched, { at: 'found' }>) => Promise<Verdict>) | null;
}

/** Reads the records and checkpoints that the plan compares. @throws StoreError */
export async function observe(wanted: Wanted, seen: ConfigMapSeen | undefined, deps: ObserveDeps): Promise<SyncFacts> {
  const { store, situation, preflight } = deps;
  const assigned = await recordOf(deps, 'assigned');
  const lastKnownGood = (await recordOf(deps, 'last-known-good')) ?? null;
  const fetched = wanted.at === 'source' && seen ? await fetchedOf(seen, wanted.spec.kubeletConfigKey, store) : undefined;
  const [assignedContent, lastKnownGoodContent] = await Promise.all([
    storedContent(store, assigned ?? null, { adopt: true }),
    storedContent(store, lastKnownGood, { adopt: true }),
  ]);
  const refused = await store.refused().catch(() => undefined); // only a report
  const facts: SyncFacts = {
    wanted,
    ...(fetched ? { fetched } : {}),
    assigned,
    ...(assignedContent ? { assignedContent } : {}),
    lastKnownGood,
    ...(lastKnownGoodContent ? { lastKnownGoodContent } : {}),
    active: situation.active.source,
    ...(situation.active.content ? { activeContent: situation.active.content } : {}),
    bootAssigned: situation.bootAssigned,
    bootError: situation.bootError,
    condemned: await store.condemned(),
    verdict: null,
    ...(await spoiledFacts(wanted, fetched, deps)),
    ...(refused ? { refused } : {}),
  };
  if (!preflight || wanted.at !== 'source' || fetched?.at !== 'found') return facts;
  const source: Source = { ...wanted.spec, uid: fetched.payload.uid, resourceVersion: fetched.payload.resourceVersion };
  if (assigned && sameSource(assigned, source)) return facts;
  return { ...facts, verdict: await preflight(source, fetched) };
}

async function spoiledFacts(
  wanted: Wanted,
  fetched: Fetched | undefined,
  { store, clock, situation }: ObserveDeps,
): Promise<Pick<SyncFacts, 'spoiled'>> {
  if (wanted.at !== 'source' || fetched?.at !== 'found' || (fetched.saved && situation.bootError === null)) return {};
  const { uid, resourceVersion } = fetched.payload;
  const found = spoiled(await store.journal(), { ...wanted.spec, uid, resourceVersion });
  return found ? { spoiled: { due: isDue(found, clock.now()) } } : {};
}

/** undefined: missing or damaged, so nobody knows; the next assignment writes it anew. */
async function recordOf(
  { store, clock, log }: Pick<ObserveDeps, 'store' | 'clock' | 'log'>,
  name: 'assigned' | 'last-known-good',
): Promise<MaybeSource | undefined> {
  const first = await store.record(name);
  const record = first.at === 'damaged' ? await store.record(name) : first; // a disk may fail for a moment
  if (record.at === 'damaged') {
    const { path, problem } = record;
    log.error('damaged record is set aside', { path, problem });
    await store.setAside(path);
    await store.addToJournal({ at: new Date(clock.now()).toISOString(), event: 'damaged', source: null, detail: `${path}: ${problem}` });
  }
  return record.at === 'known' ? record.source : undefined;
}

async function fetchedOf(seen: ConfigMapSeen, key: string, store: Store): Promise<Fetched> {
  if (seen.at === 'absent') return { at: 'failed', problem: 'the ConfigMap does not exist' };
  if (seen.at === 'failed') return seen;
  const downloaded = payloadOf(seen.object);
  if (!downloaded.ok && 'beyond' in downloaded) {
    const { uid = '', resourceVersion = '' } = seen.object.metadata;
    return { at: 'beyond', uid, resourceVersion, finding: { field: '', ...downloaded.beyond } };
  }
  if (!downloaded.ok) return { at: 'incomplete', problem: downloaded.problem };
  const { payload } = downloaded;
  const content = contentRef(digestFiles(payload.files), key);
  return { at: 'found', payload, content, saved: isSaved(await store.load(payload, payload), payload, content) };
}

/** A checkpoint exists when it is whole and is what the API server says; anything else is downloaded again (design Q2). */
function isSaved(state: CheckpointState, { annotations }: Payload, content: ContentRef): boolean {
  if (state.at !== 'intact') return false;
  const { manifest } = state.checkpoint;
  // Upstream's checkpoints know no annotations, and boot judges by them.
  const same = Object.keys({ ...annotations, ...manifest.annotations }).every((name) => annotations[name] === manifest.annotations[name]);
  return same && sameContent(contentRef(manifest.files, content.kubeletConfigKey), content);
}
