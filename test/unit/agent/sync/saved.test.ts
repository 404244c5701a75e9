import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Executor } from '../../../../agent/sync/execute.ts';
import type { CheckpointState, JournalLine, Store } from '../../../../agent/store/store.ts';
import { realClock } from '../../../../base/clock.ts';
import { silentLog } from '../../../../base/log.ts';
import { payload, source } from '../../../support/builders.ts';
import { localSituation } from '../../../support/situations.ts';

const web = source('web@1');
const saved = payload(web, { kubelet: 'kind: KubeletConfiguration\n' });

/** Saves and then assigns, on a disk that gives `back` for what was written. */
async function saveAndAssign(back: CheckpointState, again: boolean) {
  const journal: string[] = [];
  const assigned: unknown[] = [];
  // All that these steps use.
  const store: Pick<Store, 'save' | 'load' | 'addToJournal' | 'setRecord'> = {
    save: async () => {},
    load: async () => back,
    addToJournal: async ({ event, detail }: JournalLine) => void journal.push(`${event}: ${detail}`),
    setRecord: async (...what: unknown[]) => void assigned.push(what),
  };
  const executor = new Executor({
    store: store as Store,
    configState: localSituation(),
    client: { create: (_, object) => Promise.resolve(object) },
    nodeName: 'node-a',
    clock: realClock,
    random: () => 0,
    log: silentLog,
    onCheckpoint: () => {},
    exitWaits: false,
    exit: () => new Promise(() => {}),
  });
  const done = executor.run([{ do: 'save', payload: saved, source: web, again }, { do: 'assign', to: web, why: 'it changed' }]); // prettier-ignore
  return { error: await done.then(() => undefined, String), journal, assigned };
}

const damaged: CheckpointState = { at: 'damaged', path: '/store/checkpoints/web', problem: 'its sha256 is another one' };

test('a checkpoint that reads back damaged, or not at all, is not assigned', async () => {
  for (const again of [false, true]) {
    const { error, journal, assigned } = await saveAndAssign(damaged, again);
    assert.match(error ?? '', /\/store\/checkpoints\/web.*reading it back failed: its sha256 is another one; check the disk/);
    assert.deepEqual(journal, ['damaged: its checkpoint is damaged: saved again']);
    assert.deepEqual(assigned, []);
  }
  const { error, assigned } = await saveAndAssign({ at: 'missing' }, false);
  assert.match(error ?? '', /reading it back failed: it is not there/);
  assert.deepEqual(assigned, []);
});

test('a checkpoint that reads back as it was saved is assigned', async () => {
  const { error, assigned } = await saveAndAssign({ at: 'intact' } as CheckpointState, false);
  assert.equal(error, undefined);
  assert.equal(assigned.length, 1);
});
