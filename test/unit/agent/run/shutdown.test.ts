import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Shutdown } from '../../../../agent/run/shutdown.ts';
import { atRest, FakeClock } from '../../../support/fake-clock.ts';
import { recordedLog } from '../../../support/recorded-log.ts';

const SPREAD = 60_000;

function standing({ stop = new AbortController(), stopping = () => Promise.resolve() } = {}) {
  const clock = new FakeClock();
  const { log, fields } = recordedLog();
  let told = 0;
  const nothing = () => Promise.resolve();
  const tell = (): Promise<void> => {
    told += 1;
    return stopping();
  };
  const notify = { ready: nothing, status: nothing, keepAlive: nothing, stopping: tell };
  const world = { clock, random: () => 0.5, log, notify, stop: stop.signal };
  const shutdown = new Shutdown({ options: { restartSpread: SPREAD }, world });
  return { shutdown, clock, reasons: () => fields.map(({ why }) => why), told: () => told, stop };
}

test('an agent that goes back leaves at once, and tells systemd first', async () => {
  const gate = Promise.withResolvers<void>();
  const { shutdown, told, reasons } = standing({ stopping: () => gate.promise });
  const leaving = shutdown.leave('rolled back');
  await atRest();
  assert.deepEqual([told(), shutdown.signal.aborted], [1, false]);
  void shutdown.leave('too late');
  gate.resolve();
  await leaving;
  assert.equal(shutdown.signal.aborted, true);
  assert.equal(shutdown.why, 'rolled back');
  assert.deepEqual(reasons(), ['rolled back']);
  await shutdown.left();
});

test('an agent that is stopped before it has begun ends at once', () => {
  const stop = new AbortController();
  stop.abort();
  assert.equal(standing({ stop }).shutdown.signal.aborted, true);
});

test('a new assignment waits for its part of the spread', async () => {
  const { shutdown, clock } = standing();
  void shutdown.leave('assigned', { spread: true });
  await clock.advance(SPREAD / 2 - 1);
  assert.equal(shutdown.signal.aborted, false);
  await clock.advance(1);
  assert.equal(shutdown.signal.aborted, true);
  await shutdown.left();
  assert.equal(clock.sleepers, 0);
});

test('whatever goes back ends a spread that is under way', async () => {
  const { shutdown, clock, told, reasons } = standing();
  const spreading = shutdown.leave('assigned', { spread: true });
  await clock.advance(1000);
  await shutdown.leave('rolled back');
  assert.equal(shutdown.signal.aborted, true);
  await spreading;
  assert.equal(shutdown.why, 'rolled back');
  assert.deepEqual(reasons(), ['assigned', 'rolled back']);
  await shutdown.leave('later', { spread: true });
  assert.equal(shutdown.why, 'rolled back', 'an agent leaves once');
  assert.deepEqual([told(), clock.sleepers], [1, 0]);
});

test('a stop ends everything, a spread too, and is no reason to start again', async () => {
  const { shutdown, clock, stop, told } = standing();
  const spreading = shutdown.leave('assigned', { spread: true });
  await clock.advance(1000);
  stop.abort();
  assert.equal(shutdown.signal.aborted, true);
  await spreading;
  await shutdown.left();
  assert.deepEqual([told(), clock.sleepers], [0, 0]);
});
