import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Announcer } from '../../../../agent/events/announcer.ts';
import type { JournalLine } from '../../../../agent/store/store.ts';
import { silentLog } from '../../../../base/log.ts';
import { seededRandom } from '../../../../base/random.ts';
import type { KubeObject } from '../../../../kube/api/object.ts';
import { source } from '../../../support/builders.ts';
import { CrashDisk } from '../../../support/crash-disk.ts';
import { FakeApi } from '../../../support/fake-api.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

/** A node's announcer over its starts: one disk, one journal, one API server. */
class Node {
  readonly fs = new CrashDisk();
  readonly api = new FakeApi();
  readonly clock = new FakeClock();
  readonly journal: JournalLine[] = [];
  readonly sent: KubeObject[] = [];
  /** Told after each event that the server took. */
  onSent: () => void = () => {};
  #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();

  /** A line that makes an event. */
  trust(): void {
    const at = new Date(this.clock.now() + this.journal.length).toISOString();
    this.journal.push({ at, event: 'promoted', source: source('web@1'), detail: `line ${this.journal.length}` });
  }

  /** Another start of the agent. */
  async start(disk = this.fs.disk()): Promise<Announcer> {
    await this.stop();
    this.#stop = new AbortController();
    const store = { journal: async () => [...this.journal], condemned: async () => [] };
    const announcer = new Announcer({ store, disk, path: '/d/announced.json', nodeName: 'node-a', clock: this.clock, random: seededRandom(1), log: silentLog }); // prettier-ignore
    await announcer.open();
    const client = this.api.client({
      alive: () => true,
      onStatus: () => {},
      onEvent: (event) => {
        this.sent.push(event);
        this.onSent();
      },
    });
    this.#running = announcer.run(client, this.#stop.signal);
    await this.clock.advance(0);
    return announcer;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  get messages(): string[] {
    return this.sent.map(({ message }) => String(message).replace('Trusted dkc-system/web:kubelet@1: ', ''));
  }
}

async function node(): Promise<Node> {
  const one = new Node();
  await one.fs.disk().makeDir('/d');
  return one;
}

test('an agent that dies after the server took an event, and before its mark, does not make a second one', async () => {
  const one = await node();
  await one.start();
  await one.stop();
  one.trust();
  one.trust();
  const disk = one.fs.disk();
  one.onSent = () => (one.fs.fault = { kind: 'cut', at: one.fs.changes + 1 });
  await one.start(disk);
  await one.stop();
  one.onSent = () => {};
  assert.deepEqual(one.messages, ['line 0', 'line 1']);
  await one.start(one.fs.afterKill().disk());
  assert.deepEqual(one.messages, ['line 0', 'line 1'], 'the names are those of the lines, so the server has them already');
  await one.stop();
});

for (const { lines, sent } of [
  { lines: 1, sent: ['line 1'] },
  { lines: 25, sent: Array.from({ length: 20 }, (_, n) => `line ${n + 6}`) },
])
  test(`what a journal held before the first start is history, and of new lines the newest 20 are sent: ${lines} new`, async () => {
    const one = await node();
    one.trust();
    const announcer = await one.start();
    for (let n = 0; n < lines; n++) one.trust();
    announcer.notify();
    await one.clock.advance(0);
    assert.deepEqual(one.messages, sent);
    await one.stop();
  });
