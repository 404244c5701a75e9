import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Executor } from '../../../../agent/sync/execute.ts';
import type { CheckpointState, JournalEvent, JournalLine, RefusedRecord, Store } from '../../../../agent/store/store.ts';
import { realClock } from '../../../../base/clock.ts';
import type { KubeObject } from '../../../../kube/api/object.ts';
import { recordedLog } from '../../../support/recorded-log.ts';
import { content, payload, source } from '../../../support/builders.ts';
import { localSituation } from '../../../support/situations.ts';
import { SAVED_AGAIN, spoiled } from '../../../../agent/sync/observe.ts';

/** An executor whose exit never comes, as under a long --restart-spread, on a disk that gives `back` for what was saved. */
function executing({ exitWaits = true, back = { at: 'missing' } }: { exitWaits?: boolean; back?: CheckpointState } = {}) {
  const { log, lines } = recordedLog();
  const api = { away: false };
  const [messages, journal, assigned]: [unknown[], string[], unknown[]] = [[], [], []];
  const kept: { refused?: RefusedRecord } = {};
  const configState = localSituation();
  // All that these steps use.
  const store: Pick<Store, 'save' | 'load' | 'addToJournal' | 'setRecord' | 'journal' | 'refused' | 'setRefused'> = {
    journal: async () => [],
    refused: async () => kept.refused,
    setRefused: async (record) => void Object.assign(kept, { refused: record }),
    save: async () => {},
    load: async () => back,
    addToJournal: async ({ event, detail }: JournalLine) => void journal.push(`${event}: ${detail}`),
    setRecord: async (...what: unknown[]) => void assigned.push(what),
  };
  const create = async <T extends KubeObject>(_resource: unknown, object: T): Promise<T> => {
    if (api.away) throw new Error('no answer');
    messages.push(object['message']);
    return object;
  };
  const exit = (): Promise<never> => new Promise(() => {});
  const world = { client: { create }, nodeName: 'node-a', clock: realClock, random: () => 0, log };
  const executor = new Executor({ ...world, store: store as Store, configState, onCheckpoint: () => {}, exitWaits, exit });
  return { executor, configState, messages, journal, assigned, kept, api, lines };
}

test('while an exit is put off, each destination is announced once', async () => {
  const { executor, messages } = executing();
  for (const to of [source('web@1'), source('web@1'), null, null]) await executor.run([{ do: 'exit', to }]);
  assert.equal(messages.length, 2);
  assert.match(String(messages[0]), /ResourceVersion: 1/);
  assert.equal(messages[1], 'Kubelet restarting to use local config');
});

test('what is refused again under a new name is refused since the first time', async () => {
  const { executor, kept } = executing();
  const refuse = (name: string) => ({ do: 'refuse', source: source(name), content: content('A'), error: 'e', findings: [] }) as const;
  await executor.run([refuse('web@1')]);
  Object.assign(kept.refused ?? {}, { at: 'the first time' });
  await executor.run([refuse('web@2')]);
  assert.deepEqual([kept.refused?.at, kept.refused?.source.resourceVersion], ['the first time', '2']);
});

test('the event of a refusal is sent at each sync until the API server takes it, and said aloud once', async () => {
  const { executor, api, lines, messages } = executing();
  const refuse = { do: 'refuse', source: source('web@1'), content: content('A'), error: 'e', findings: [] } as const;
  for (const away of [true, true, true, false, false]) {
    api.away = away;
    assert.equal(await executor.run([refuse]), !away);
  }
  const [failed, debug] = ['warn: failed to send event', 'debug: failed to send event'];
  assert.deepEqual([messages.length, lines], [1, [failed, debug, debug]]);
});

test('what a look changes is shown at its end, and before an exit only where that is put off', async () => {
  const steps = [{ do: 'report', error: 'e', detail: '' } as const, { do: 'exit', to: null } as const];
  for (const exitWaits of [true, false]) {
    const { executor, configState } = executing({ exitWaits });
    await executor.run(steps);
    assert.equal(configState.shown.error, exitWaits ? 'e' : null);
  }
});

const web = source('web@1');
const assign = { do: 'assign', to: web, why: 'it changed' } as const;
const saveAndAssign = [{ do: 'save', payload: payload(web, { kubelet: 'x' }), source: web, isRepair: false } as const, assign];

const damaged: CheckpointState = { at: 'damaged', path: '/store/checkpoints/web', problem: 'its sha256 is another one' };
const reason = /\/store\/checkpoints\/web.*reading it back failed: its sha256 is another one; check the disk/;
const readings: { why: string; back: CheckpointState; refused?: RegExp }[] = [
  { why: 'damaged', back: damaged, refused: reason },
  { why: 'not at all', back: { at: 'missing' }, refused: /reading it back failed: it is not there/ },
  { why: 'as it was saved', back: { at: 'intact' } as CheckpointState },
];
for (const { why, back, refused } of readings)
  test(`a checkpoint that reads back ${why} is ${refused ? 'not ' : ''}assigned`, async () => {
    const { executor, assigned, journal } = executing({ back });
    const error = await executor.run(saveAndAssign).then(() => 'none', String);
    assert.match(error, refused ?? /^none$/);
    const expected = refused ? [0, ['damaged: its checkpoint is damaged: saved again']] : [1, ['assigned: it changed']];
    assert.deepEqual([assigned.length, journal], expected);
  });

/** `damaged web@7`, one a minute. */
function journalOf(...lines: string[]): JournalLine[] {
  return lines.map((text, minute) => {
    const [event = '', name = '', ...more] = text.split(' ');
    const detail = event === 'damaged' ? SAVED_AGAIN : more.join(' ');
    return { at: new Date(minute * 60_000).toISOString(), event: event as JournalEvent, source: source(name), detail };
  });
}

// prettier-ignore
const cases: { why: string; lines: string[]; times: number }[] = [
  { why: 'one saved again', lines: ['assigned web@7', 'damaged web@7'], times: 1 },
  { why: 'falls back in between', lines: ['assigned web@7', 'damaged web@7', 'booted web@3 using last-known-good: x', 'damaged web@7'], times: 2 },
  { why: 'others that are saved again', lines: ['damaged web@7', 'damaged db@9', 'damaged web@8'], times: 1 },
  { why: 'a boot that could use it', lines: ['damaged web@7', 'booted web@7 using assigned', 'damaged web@7'], times: 1 },
  { why: 'a new assignment of it', lines: ['damaged web@7', 'damaged web@7', 'assigned web@7'], times: 0 },
];
for (const { why, lines, times } of cases)
  test(`${why}: saved again in vain ${times} times`, () => assert.equal(spoiled(journalOf(...lines), source('web@7'))?.times ?? 0, times));
