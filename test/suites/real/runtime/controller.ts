import assert from 'node:assert/strict';
import { test } from 'node:test';
import { realClock } from '../../../../base/clock.ts';
import { realRandom } from '../../../../base/random.ts';
import { configMaps, coreEvents, type KubeObject } from '../../../../kube/api/object.ts';
import { Informers } from '../../../../kube/cache/informers.ts';
import { EventSender } from '../../../../kube/controller/event-recorder.ts';
import { controllerOf } from '../../../../kube/controller/owner-refs.ts';
import { runController } from '../../../../kube/controller/run-controller.ts';
import { WorkQueue } from '../../../../kube/queue/work-queue.ts';
import { eventually } from '../../../support/eventually.ts';
import { recordedLog } from '../../../support/recorded-log.ts';
import { Copies, textOf } from '../../../support/soak/copies.ts';
import type { RuntimeWorld } from './world.ts';

const [clock, random] = [realClock, realRandom];

/** A controller at its work. */
export function controllerStory(world: RuntimeWorld): void {
  test('a controller makes, adopts, heals and removes its copies, and waits for nothing at the end', async () => {
    const { admin } = world;
    const namespace = await world.inNamespace('copies');
    const client = world.clientOf();
    const { log, lines, fields } = recordedLog();
    const informers = new Informers({ client, clock, random, log, frozen: true });
    const sets = informers.of<KubeObject>(configMaps, {}, { namespace, labelSelector: 'role=set' });
    const cached = informers.of<KubeObject>(configMaps, {}, { namespace, labelSelector: 'role=copy' });
    const events = new EventSender({ client, clock, random, log });
    const copies = new Copies({ client, clock, sets, copies: cached, events: events.recorder('copies') });
    const queue = new WorkQueue('copies', { clock });
    const left = () => {
      // Without what is delayed: who waited for an event and heard it is looked at once more after five minutes, which nobody waits for here.
      const { length, processing, failing } = queue;
      return { length, processing, failing, expectations: copies.expectations.size, ownWrites: copies.unseenWrites };
    };
    const ending = new AbortController();
    const running = Promise.all([
      informers.run(ending.signal),
      runController(copies.controller, { queue, workers: 3, log, clock }, ending.signal),
    ]);
    const makeSet = (name: string, data: object): Promise<KubeObject> =>
      admin.create<KubeObject>(configMaps, { metadata: { name, namespace, labels: { role: 'set' } }, data });
    const change = (name: string, patch: object): Promise<KubeObject> =>
      admin.patch(configMaps, { name, namespace }, patch, { type: 'merge' });
    /** `NAME=TEXT` of the copies that the set owns, once it says that so many are ready. */
    const owned = async (set: string, wanted: string[]): Promise<KubeObject[]> =>
      eventually(`${set} has ${wanted.join()}`, async () => {
        const { metadata } = await admin.get<KubeObject>(configMaps, { name: set, namespace });
        const { items } = await admin.list<KubeObject>(configMaps, { namespace, labelSelector: `set=${set}` });
        const mine = items.filter((copy) => controllerOf(copy)?.uid === metadata.uid);
        const seen = mine.map((copy) => `${copy.metadata.name}=${textOf(copy)}`);
        return seen.toSorted().join() === wanted.toSorted().join() && metadata.annotations?.['ready'] === String(wanted.length)
          ? mine
          : undefined;
      });
    try {
      await makeSet('one', { copies: '3', text: 'a' });
      const first = await owned('one', ['one-0=a', 'one-1=a', 'one-2=a']);

      const orphan = await admin.create<KubeObject>(configMaps, {
        metadata: { name: 'two-0', namespace, labels: { role: 'copy', set: 'two' } },
        data: { text: 'b' },
      });
      await makeSet('two', { copies: '2', text: 'b' });
      const [adopted] = await owned('two', ['two-0=b', 'two-1=b']);
      assert.equal(adopted?.metadata.uid, orphan.metadata.uid, 'it was adopted, not made anew');

      await admin.delete(configMaps, { name: 'one-1', namespace });
      await eventually('one-1 is another one', async () => {
        const healed = await owned('one', ['one-0=a', 'one-1=a', 'one-2=a']);
        return healed[1]?.metadata.uid === first[1]?.metadata.uid ? undefined : true;
      });
      await change('one-2', { metadata: { ownerReferences: null } });
      const back = await owned('one', ['one-0=a', 'one-1=a', 'one-2=a']);
      assert.equal(back[2]?.metadata.uid, first[2]?.metadata.uid, 'it was adopted again');

      await change('one', { data: { copies: '1', text: 'c' } });
      await owned('one', ['one-0=c']);
      const names = Array.from({ length: 30 }, (_, n) => `two-${n}=b`);
      await change('two', { data: { copies: '30' } });
      await owned('two', names);

      const isIdle = () => Object.values(left()).every((count) => count === 0);
      await eventually('nobody waits for anything', () => Promise.resolve(isIdle() ? true : undefined));
      assert.equal(await events.flush(AbortSignal.timeout(60_000)), true);
      const { items } = await admin.list<KubeObject>(coreEvents, { namespace, fieldSelector: 'involvedObject.name=one' });
      assert.equal(items.length, 3, 'an event for each copy that was removed');
      assert.deepEqual(
        lines.filter((line) => line.startsWith('error')),
        [],
      );
    } catch (error) {
      // What a stall looks like from inside.
      const state = {
        left: left(),
        troubled: informers.troubled,
        versions: [sets.version, cached.version],
        lines,
        fields: fields.slice(-5),
      };
      throw new Error(`the controller is not where it should be: ${JSON.stringify(state)}`, { cause: error });
    } finally {
      ending.abort();
      await running;
      await events.close(AbortSignal.abort());
    }
  });
}
