import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../../../base/random.ts';
import { noPageMetrics } from '../../../../controllers/page/page.ts';
import { FleetStream, MAX_CLIENTS, MAX_SEND_MS, MIN_INTERVAL_MS, type Client } from '../../../../controllers/page/stream.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { PlayedFleet } from '../../../support/page/played-fleet.ts';

/** A client that takes an event when the test says so. */
class TestClient implements Client {
  readonly events: { event: string; seq: number; nodes: number }[] = [];
  closed = false;
  waiting: (() => void) | undefined;
  slow = false;

  async send(bytes: Uint8Array): Promise<void> {
    assert.equal(this.waiting, undefined, 'one event is under way at most');
    const [, event = '', data = ''] = /^event: (\w+)\ndata: (.*)\n\n$/.exec(Buffer.from(bytes).toString()) ?? [];
    const { seq = -1, nodes = [] } = JSON.parse(data) as { seq?: number; nodes?: unknown[] };
    this.events.push({ event, seq, nodes: nodes.length });
    if (this.slow) await new Promise<void>((resolve) => (this.waiting = resolve));
    this.waiting = undefined;
  }

  close(): void {
    this.closed = true;
  }
}

function world(): { clock: FakeClock; fleet: PlayedFleet; stream: FleetStream } {
  const clock = new FakeClock();
  const fleet = new PlayedFleet(40, { clock, random: seededRandom(5) });
  return { clock, fleet, stream: fleet.stream };
}

test('a slow client gets what is newest once it takes more, and others do not wait for it', async () => {
  const { clock, fleet, stream } = world();
  const [slow, quick] = [new TestClient(), new TestClient()];
  slow.slow = true;
  stream.add(slow);
  stream.add(quick);
  for (let at = 0; at < 50; at++) {
    fleet.advance(3);
    await clock.advance(MIN_INTERVAL_MS);
  }
  assert.equal(slow.events.length, 1);
  assert.ok(quick.events.length > 40);
  slow.slow = false;
  slow.waiting?.();
  await clock.advance(MIN_INTERVAL_MS);
  const { seq } = fleet.picture.model;
  assert.deepEqual([slow.events.length, slow.events[1]?.seq], [2, seq]);
  assert.equal(quick.events.at(-1)?.seq, seq);
  stream.close();
});

test('a picture that is made in several turns is sent once it is whole', async () => {
  const { clock, fleet } = world();
  const { model } = fleet.picture;
  let turns = 0;
  const picture = { model, refresh: () => fleet.picture.refresh() && ++turns > 2 };
  const stream = new FleetStream({ picture, clock, metrics: noPageMetrics });
  const client = new TestClient();
  // A client that connects during the refresh starts no second one.
  for (const one of [client, new TestClient()]) stream.add(one);
  assert.deepEqual([turns, client.events.length], [2, 0]);
  await clock.advance(MIN_INTERVAL_MS);
  assert.equal(turns, 3);
  assert.deepEqual(client.events.map(({ event, nodes }) => `${event} ${nodes}`), ['picture 40']); // prettier-ignore
  turns = 0;
  fleet.picture.nodeChanged({ metadata: { name: 'node-0001' } });
  stream.changed();
  await clock.advance(MIN_INTERVAL_MS);
  assert.equal(turns, 1);
  stream.close();
  assert.equal(clock.sleepers, 0);
});

test('a picture that takes several steps reaches clients that come meanwhile, and a change meanwhile follows it', async () => {
  const { clock, fleet } = world();
  const { model } = fleet.picture;
  function* since(...of: Parameters<typeof model.since>): ReturnType<typeof model.since> {
    for (let step = 0; step < 3; step++) yield;
    return yield* model.since(...of);
  }
  const picture = { model: { since, get seq() { return model.seq; } }, refresh: () => fleet.picture.refresh() }; // prettier-ignore
  const stream = new FleetStream({ picture, clock, metrics: noPageMetrics });
  const clients = [new TestClient(), new TestClient()];
  for (const client of clients) stream.add(client);
  fleet.setReady('node-0007', false);
  stream.changed();
  assert.deepEqual(clients.map(({ events }) => events.length), [0, 0]); // prettier-ignore
  await clock.advance(3 * MIN_INTERVAL_MS);
  for (const { events } of clients) assert.deepEqual(events.map(({ event, nodes }) => `${event} ${nodes}`), ['picture 40', 'changes 1']); // prettier-ignore
  stream.close();
  assert.equal(clock.sleepers, 0);
});

test('a client that takes nothing is disconnected, and one too many is refused', async () => {
  const { clock, stream } = world();
  const stuck = new TestClient();
  stuck.slow = true;
  stream.add(stuck);
  const ends = Array.from({ length: MAX_CLIENTS - 1 }, () => stream.add(new TestClient()));
  assert.equal(stream.add(new TestClient()), undefined);
  await clock.advance(MAX_SEND_MS);
  assert.equal(stuck.closed, true);
  assert.notEqual(stream.add(new TestClient()), undefined, 'there is room again');
  ends[0]?.();
  ends[0]?.();
  assert.equal(stream.size, MAX_CLIENTS - 1);
  stream.close();
});
