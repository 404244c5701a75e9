import type { Fetched, SyncFacts, Verdict, Wanted } from './plan.ts';
import { contentRef, digestFiles, payloadOf, sameContent, storedContent } from '../checkpoint/payload.ts';
import { type ContentRef, type MaybeSource, type Payload, sameSource, type Source, type SpecSource } from '../checkpoint/source.ts';
import type { NodeConfigState } from '../status/node-config-state.ts';
import { usingText } from '../store/records.ts';
import type { CheckpointState, JournalLine, MetaName, Store } from '../store/store.ts';
import type { Clock, Millis } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { KubeObject } from '../../kube/api/object.ts';

/** The last result of the watch on the wanted ConfigMap. */
export type ConfigMapSeen = { at: 'found'; object: KubeObject } | { at: 'absent' } | { at: 'failed'; problem: string };

export interface ObserveDeps {
  store: Store;
  configState: NodeConfigState;
  clock: Clock;
  log: Log;
  /** Preflight of a payload for this node; null where it is off. */
  preflight: ((source: Source, fetched: Extract<Fetched, { at: 'found' }>) => Promise<Verdict>) | null;
}

/** Reads the records and checkpoints that the plan compares. @throws StoreError */
export async function observe(wanted: Wanted, seen: ConfigMapSeen | undefined, deps: ObserveDeps): Promise<SyncFacts> {
  const { store, configState, preflight } = deps;
  const records = [await recordOf(deps, 'assigned'), await recordOf(deps, 'last-known-good')] as const;
  const [{ source: assigned }, { source: lastKnownGood }] = records;
  const fetched = wanted.at === 'source' && seen ? await fetchedOf(seen, wanted.spec, store) : undefined;
  const [assignedContent, lastKnownGoodContent] = await Promise.all([
    storedContent(store, assigned ?? null, { adopt: true }),
    storedContent(store, lastKnownGood ?? null, { adopt: true }),
  ]);
  const refused = await store.refused().catch(() => undefined); // only a report
  const facts: SyncFacts = {
    wanted,
    ...(fetched ? { fetched } : {}),
    assigned,
    ...(assignedContent ? { assignedContent } : {}),
    lastKnownGood,
    ...(lastKnownGoodContent ? { lastKnownGoodContent } : {}),
    active: configState.active.source,
    ...(configState.active.content ? { activeContent: configState.active.content } : {}),
    bootAssigned: configState.bootAssigned,
    bootError: configState.bootError,
    lacksFile: configState.bootLacksFile,
    condemned: await store.condemned(),
    verdict: null,
    damaged: records.filter(({ isDamaged }) => isDamaged).map(({ name }) => name),
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
  { store, clock, configState }: ObserveDeps,
): Promise<Pick<SyncFacts, 'spoiled'>> {
  if (wanted.at !== 'source' || fetched?.at !== 'found' || (fetched.saved && configState.bootError === null)) return {};
  const { uid, resourceVersion } = fetched.payload;
  const found = spoiled(await store.journal(), { ...wanted.spec, uid, resourceVersion });
  return found ? { spoiled: { due: isDue(found, clock.now()) } } : {};
}

/** `source` is undefined where the record is missing or damaged, so that its value is unknown; the next assignment writes it again. */
async function recordOf(
  { store, log }: Pick<ObserveDeps, 'store' | 'log'>,
  name: MetaName,
): Promise<{ name: MetaName; source: MaybeSource | undefined; isDamaged: boolean }> {
  const first = await store.record(name);
  const record = first.at === 'damaged' ? await store.record(name) : first; // a disk may fail for a moment
  if (record.at === 'known') return { name, source: record.source, isDamaged: false };
  const isUnread = record.at === 'damaged' && record.isUnread === true;
  if (isUnread) log.error('record cannot be read', { path: record.path, problem: record.problem });
  return { name, source: undefined, isDamaged: record.at === 'damaged' && !isUnread };
}

async function fetchedOf(seen: ConfigMapSeen, { namespace, name, kubeletConfigKey }: SpecSource, store: Store): Promise<Fetched> {
  const configMap = `ConfigMap ${namespace}/${name}`;
  if (seen.at === 'absent') return { at: 'failed', problem: `${configMap} does not exist` };
  if (seen.at === 'failed') return { at: 'failed', problem: `${configMap} cannot be read: ${seen.problem}` };
  const downloaded = payloadOf(seen.object);
  if (!downloaded.ok && 'beyond' in downloaded) {
    const { uid = '', resourceVersion = '' } = seen.object.metadata;
    return { at: 'beyond', uid, resourceVersion, finding: { field: '', ...downloaded.beyond } };
  }
  if (!downloaded.ok) return { at: 'incomplete', problem: `${configMap}: ${downloaded.problem}` };
  const { payload } = downloaded;
  const content = contentRef(digestFiles(payload.files), kubeletConfigKey);
  const state = await store.load(payload, payload);
  return { at: 'found', payload, content, ...comparedWith(state, payload, content) };
}

/** A checkpoint counts as saved when it is intact and equal to the ConfigMap on the API server; otherwise it is saved again: a crash may have torn it. */
function comparedWith(state: CheckpointState, { annotations }: Payload, content: ContentRef): { saved: boolean; clashes?: true } {
  if (state.at !== 'intact') return { saved: false };
  const { manifest } = state.checkpoint;
  // A checkpoint of upstream may have been torn or edited before this agent first read it: a difference is no sign of a restored etcd.
  if (!sameContent(contentRef(manifest.files, content.kubeletConfigKey), content))
    return { saved: false, ...(manifest.adopted ? {} : { clashes: true }) };
  // Upstream's checkpoints do not store annotations, but boot needs them to evaluate the config.
  const same = Object.keys({ ...annotations, ...manifest.annotations }).every((name) => annotations[name] === manifest.annotations[name]);
  return { saved: same };
}

/** A checkpoint that reads damaged although it was saved again: how often it was saved again, and when last. */
export interface Spoiled {
  times: number;
  /** Wall clock. */
  lastMs: Millis;
}

/** Journal detail of a checkpoint that is saved again. These lines are counted, since only the journal survives a restart of the agent. */
export const SAVED_AGAIN = 'its checkpoint is damaged: saved again';

/** The first save is repeated at once, the next one after this long, then after twice as long, and so on. */
const FIRST_WAIT: Millis = 30_000;
const MAX_WAIT: Millis = 3_600_000;

/** @returns undefined where the checkpoint was not saved again since it was assigned or since a boot used it */
export function spoiled(journal: readonly JournalLine[], source: Source): Spoiled | undefined {
  let times = 0;
  let lastMs = 0;
  for (const line of journal.toReversed()) {
    if (line.source === null || !sameSource(line.source, source)) continue;
    if (line.event === 'damaged' && line.detail === SAVED_AGAIN) {
      if (times === 0) lastMs = Date.parse(line.at);
      times++;
    } else if (line.event === 'assigned' || (line.event === 'booted' && line.detail.startsWith(usingText('assigned')))) break;
  }
  return times === 0 ? undefined : { times, lastMs };
}

/** Each save wears the disk and restarts the agent, so the wait grows. A clock that was set back does not lengthen it. */
export function isDue({ times, lastMs }: Spoiled, nowMs: Millis): boolean {
  const waited = nowMs - lastMs;
  return waited < 0 || waited >= Math.min(MAX_WAIT, FIRST_WAIT * 2 ** (times - 1));
}
