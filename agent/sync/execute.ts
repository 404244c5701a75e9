import { changedEvent, refusedEvent, TRUSTED_ALREADY } from '../events/event.ts';
import { refusalDetail, type SyncStep } from './plan.ts';
import { SAVED_AGAIN } from './observe.ts';
import { sameSource, sourceText, type MaybeSource } from '../checkpoint/source.ts';
import type { NodeConfigState } from '../status/node-config-state.ts';
import { sameContent } from '../checkpoint/payload.ts';
import { refusedRecord, sameRefusal } from '../store/records.ts';
import type { RefusedRecord } from '../store/store.ts';
import { StoreError, type JournalEvent, type JournalLine, type MetaName, type Store } from '../store/store.ts';
import type { Clock } from '../../base/clock.ts';
import { unreachable } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import { coreEvents, EVENT_NAMESPACE, type KubeObject } from '../../kube/api/object.ts';
import type { Client } from '../../kube/client/client.ts';

/** How long the agent waits for the API server to accept an event before it exits, in ms. */
const EVENT_TIMEOUT_MS = 3000;

export interface ExecuteDeps {
  store: Store;
  configState: NodeConfigState;
  client: Pick<Client, 'create'>;
  nodeName: string;
  clock: Clock;
  random: Random;
  log: Log;
  onCheckpoint: () => void;
  exit: (why: string) => Promise<void>;
  /** The exit may be minutes away (--restart-spread), so the new assignment is reported before it. Otherwise the next start reports it, as upstream does. */
  exitWaits: boolean;
}

type Refuse = Extract<SyncStep, { do: 'refuse' }>;

/** Identifies a refusal by key and journal text. Another key of the same ConfigMap is another config, although the hash of all files is the same. */
const nameOf = (step: Refuse): string => `${step.source.kubeletConfigKey} ${refusalDetail(step)}`;

/**
 * Executes the steps in order. It decides only which events to send: one for each destination of an exit and for each refusal, which it repeats until
 * the API server has accepted it.
 * @throws StoreError: the caller reports an internal failure and retries
 */
export class Executor {
  readonly #deps: ExecuteDeps;
  /** The refusal whose event was sent: one event until another config is accepted or refused, across restarts too (refused.json and the journal). */
  #reported: string | undefined;
  /** The source that the last change event named; undefined before the first. */
  #announced: MaybeSource | undefined;
  /** Refusals whose event the API server has not accepted yet. */
  readonly #unreported = new Set<string>();

  constructor(deps: ExecuteDeps) {
    this.#deps = deps;
  }

  /**
   * All changes of one sync are reported together at its end: a Node never shows half of them, such as a new `assigned` beside the previous error.
   * @returns false where an event must be sent again at the next sync
   */
  async run(steps: readonly SyncStep[]): Promise<boolean> {
    const refused = new Set(steps.flatMap((step) => (step.do === 'refuse' ? [nameOf(step)] : [])));
    for (const name of this.#unreported) if (!refused.has(name)) this.#unreported.delete(name); // no longer refused: drop its event
    const show = this.#deps.configState.hold();
    let leaves = false;
    try {
      for (const step of steps) {
        await this.#do(step);
        leaves ||= step.do === 'exit';
      }
    } finally {
      if (!leaves || this.#deps.exitWaits) show();
    }
    return this.#unreported.size === 0;
  }

  async #do(step: SyncStep): Promise<void> {
    const { store, configState, log } = this.#deps;
    switch (step.do) {
      case 'set-aside':
        await this.#setAside(step.record);
        return;
      case 'save':
        await this.#save(step);
        log.info('checkpoint saved', {
          uid: step.payload.uid,
          resourceVersion: step.payload.resourceVersion,
          files: step.payload.files.size,
        });
        this.#deps.onCheckpoint();
        return;
      case 'clear-condemned':
        await store.locked(async () =>
          store.setCondemned((await store.condemned()).filter((record) => !sameContent(record, step.content))),
        );
        await this.#journal('retried', step.source, 'a new value of the annotation dkc.dev/retry');
        return;
      case 'set-last-known-good':
        await store.setRecord('last-known-good', step.to);
        configState.update({ lastKnownGood: step.to });
        if (step.to !== null) await this.#journal('promoted', step.to, TRUSTED_ALREADY);
        return;
      case 'assign':
        await store.setRecord('assigned', step.to);
        configState.update({ assigned: step.to });
        await this.#journal(step.to === null ? 'reset' : 'assigned', step.to, step.why);
        return;
      case 'adopt':
        configState.adopt(step.source, step.content);
        return;
      case 'refuse':
        await this.#refuse(step, await this.#record(step));
        return;
      case 'clear-refusal':
        this.#reported = undefined;
        await this.#setRefused(undefined);
        return;
      case 'report':
        if (step.error !== null && step.error !== configState.picture.error) log.error(step.error, { detail: step.detail });
        configState.update({ error: step.error });
        return;
      case 'exit':
        if (step.quiet !== true && (this.#announced === undefined || !sameSource(this.#announced, step.to))) await this.#announce(step.to);
        this.#announced = step.to;
        // Not awaited: with --restart-spread the exit may be minutes away, and boot must not use an assignment that is withdrawn until then.
        void this.#deps.exit(`using ${sourceText(step.to)} from the next start on`);
        return;
      default:
        unreachable(step);
    }
  }

  /** Reads the record again, under the lock: an admin's command may have written it since. */
  #setAside(name: MetaName): Promise<void> {
    const { store, log } = this.#deps;
    return store.locked(async () => {
      const record = await store.record(name);
      if (record.at !== 'damaged' || record.isUnread) return;
      const { path, problem } = record;
      log.error('damaged record is set aside', { path, problem });
      await store.setAside(path);
      await this.#journal('damaged', null, `${path}: ${problem}`);
    });
  }

  /** Reads the checkpoint back after saving: if that fails, the config is not assigned and the save is retried with longer waits. */
  async #save({ payload, source, isRepair }: Extract<SyncStep, { do: 'save' }>): Promise<void> {
    const { store } = this.#deps;
    if (isRepair) await this.#journal('damaged', source, SAVED_AGAIN);
    await store.save(payload);
    const back = await store.load(payload);
    if (back.at === 'intact') return;
    if (!isRepair) await this.#journal('damaged', source, SAVED_AGAIN);
    const [path, problem] = back.at === 'damaged' ? [back.path, back.problem] : ['the checkpoint', 'it is not there'];
    throw new StoreError('save', path, { hint: `reading it back failed: ${problem}; check the disk` });
  }

  /**
   * Writes refused.json for `dkc status`, which must work without the API server. `at` is the time of the first refusal for these reasons.
   * @returns whether refused.json had this refusal already, perhaps under another name
   */
  async #record({ source, content, error, findings }: Refuse): Promise<boolean> {
    const { store, clock } = this.#deps;
    const { contentSha256 = '' } = content ?? {};
    const record = refusedRecord(
      { source, contentSha256, kubeletConfigKey: source.kubeletConfigKey, at: new Date(clock.now()).toISOString(), error },
      findings,
    );
    const before = await store.refused().catch(() => undefined);
    if (before && sameRefusal(before, record)) return true;
    // Only the name is new: keep the time of the first refusal.
    const isKnown = before !== undefined && sameRefusal({ ...before, source }, record);
    await this.#setRefused({ ...record, at: isKnown ? before.at : record.at });
    return isKnown;
  }

  /** refused.json only reports: a failed write is logged and the sync continues. */
  async #setRefused(record: RefusedRecord | undefined): Promise<void> {
    const { store, log } = this.#deps;
    await store.setRefused(record).catch((error: unknown) => log.warn('failed to write refused.json', { error }));
  }

  async #refuse(step: Refuse, isKnown: boolean): Promise<void> {
    const { source, findings } = step;
    const [name, detail] = [nameOf(step), refusalDetail(step)];
    if (this.#reported === name) return;
    const { store, log } = this.#deps;
    if (!this.#unreported.has(name)) {
      const journal = await store.journal();
      const lastRetry = journal.findLastIndex((line) => line.event === 'retried');
      const isSame = (line: JournalLine): boolean =>
        line.event === 'refused' && line.detail === detail && line.source?.kubeletConfigKey === source.kubeletConfigKey;
      if (isKnown && journal.some((line, at) => at > lastRetry && isSame(line))) {
        this.#reported = name;
        return;
      }
      for (const { field, rule, message } of findings) log.error('config is refused', { source: sourceText(source), field, rule, message });
      await this.#journal('refused', source, detail);
    }
    // Repeated at each sync, so only the first failure is a warning.
    const posted = await this.#post(refusedEvent(source, findings, this.#eventFacts()), this.#unreported.has(name) ? 'debug' : 'warn');
    if (!posted) return void this.#unreported.add(name);
    this.#reported = name;
    this.#unreported.delete(name);
  }

  async #announce(to: MaybeSource): Promise<void> {
    await this.#post(changedEvent(to, this.#eventFacts()), 'warn');
  }

  #eventFacts() {
    const { nodeName, clock, random } = this.#deps;
    return { nodeName, nowMs: clock.now(), nanos: Math.floor(random() * 1_000_000) };
  }

  /** @param level - of the log line of a failure */
  async #post(event: KubeObject, level: 'warn' | 'debug'): Promise<boolean> {
    try {
      await this.#deps.client.create(coreEvents, event, { namespace: EVENT_NAMESPACE, timeoutMs: EVENT_TIMEOUT_MS });
      return true;
    } catch (error) {
      this.#deps.log[level]('failed to send event', { reason: event['reason'], error });
      return false;
    }
  }

  async #journal(event: JournalEvent, source: MaybeSource, detail: string): Promise<void> {
    const { store, clock } = this.#deps;
    await store.addToJournal({ at: new Date(clock.now()).toISOString(), event, source, detail });
  }
}
