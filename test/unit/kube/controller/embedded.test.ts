import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import type { LocalApi } from '../../../../apiserver/local-api.ts';
import { silentLog } from '../../../../base/log.ts';
import { seededRandom } from '../../../../base/random.ts';
import { configMaps, coreEvents } from '../../../../kube/api/object.ts';
import type { KubeObject, Resource } from '../../../../kube/api/object.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { isConflict } from '../../../../kube/client/errors.ts';
import { claim, planClaim } from '../../../../kube/controller/claim.ts';
import { EventSender } from '../../../../kube/controller/event-recorder.ts';
import { controllerOf, isControlledBy } from '../../../../kube/controller/owner-refs.ts';
import { localApi, localClient } from '../../../support/embedded-api.ts';
import { RealTime } from '../../../support/real-time.ts';

const modernEvents: Resource = { group: 'events.k8s.io', version: 'v1', resource: 'events', kind: 'Event', namespaced: true };

interface Event extends KubeObject {
  count: number;
  message: string;
}

interface Scene {
  api: LocalApi;
  client: Client;
  sender: EventSender;
  events: () => Promise<Event[]>;
}

/** Waits between tries are over at once; who asked for how long is another test's. */
const hasty = new RealTime({ maxSleepMs: 1 });

function scene(t: TestContext): Scene {
  const api = localApi(hasty);
  const client = localClient(api);
  const sender = new EventSender({ client, clock: hasty, random: seededRandom(1), log: silentLog });
  t.after(async () => {
    await client.close();
    api.stop();
  });
  return {
    api,
    client,
    sender,
    events: async () => (await client.list<Event>(coreEvents, { namespace: 'default' })).items,
  };
}

const map = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' } });
/** Only a failure takes as long. */
const patience = (): AbortSignal => AbortSignal.timeout(60_000);

test('events on a server: counted, combined, and the same in both APIs', { timeout: 120_000 }, async (t) => {
  const { client, sender, events } = scene(t);
  const object = await client.create(configMaps, map('web'));
  const recorder = sender.recorder('daemonset-controller');
  recorder.event(object, 'Warning', 'FailedCreate', 'Error creating: quota');
  assert.equal(await sender.flush(patience()), true);
  recorder.event(object, 'Warning', 'FailedCreate', 'Error creating: quota');
  assert.equal(await sender.flush(patience()), true);
  for (let at = 0; at < 12; at++)
    recorder.event(object, 'Normal', 'SuccessfulCreate', `Created pod: ${at}`, { fieldPath: 'spec.containers{web}' });
  assert.equal(await sender.flush(patience()), true);

  const found = await events();
  assert.equal(found.length, 1 + 9 + 1);
  const failed = found.find(({ reason }) => reason === 'FailedCreate');
  const { name = '' } = failed?.metadata ?? {};
  assert.match(name, /^web\.[0-9a-f]{16}$/);
  assert.equal(failed?.count, 2);
  const combined = found.filter(({ message }) => message.startsWith('(combined'));
  assert.deepEqual(
    combined.map(({ message, count }) => ({ message, count })),
    [{ message: '(combined from similar events): Created pod: 11', count: 3 }],
  );

  const modern = await client.list(modernEvents, { namespace: 'default', fieldSelector: `metadata.name=${name}` });
  const [same] = modern.items;
  assert.equal(same?.['note'], 'Error creating: quota');
  assert.equal(same['deprecatedCount'], 2);
  const about = await client.list(coreEvents, { namespace: 'default', fieldSelector: `involvedObject.uid=${object.metadata.uid ?? ''}` });
  assert.equal(about.items.length, found.length, 'as kubectl describe asks');
});

test('adopting and releasing on a server', { timeout: 120_000 }, async (t) => {
  const { client } = scene(t);
  const signal = patience();
  const owner = await client.create(configMaps, map('owner'));
  const { uid = '' } = (await client.create(configMaps, map('other'))).metadata;
  const other = { apiVersion: 'v1', kind: 'ConfigMap', name: 'other', uid };
  const stranger = { ...map('stranger'), metadata: { ...map('stranger').metadata, ownerReferences: [other] } };
  const objects = [await client.create(configMaps, map('orphan')), await client.create(configMaps, stranger)];
  const by = { client, owner, ownerKind: configMaps, kind: configMaps };
  const read = (name: string) => client.get(configMaps, { namespace: 'default', name });

  const all = (objects: readonly KubeObject[], selected: boolean): Promise<unknown[]> =>
    claim(
      by,
      planClaim(owner, objects, () => selected),
      signal,
    );
  assert.equal((await all(objects, true)).length, 2);
  for (const name of ['orphan', 'stranger']) assert.ok(isControlledBy(await read(name), owner), name);
  assert.equal((await read('stranger')).metadata.ownerReferences?.length, 2, 'other owners stay');

  const adopted = [await read('orphan'), await read('stranger')];
  assert.deepEqual(await all(adopted, false), []);
  assert.equal(controllerOf(await read('orphan')), undefined);
  assert.deepEqual((await read('stranger')).metadata.ownerReferences, [other]);

  await client.delete(configMaps, { namespace: 'default', name: 'orphan' });
  await client.create(configMaps, map('orphan'));
  const stale = objects.filter(({ metadata: { name } }) => name === 'orphan');
  await assert.rejects(all(stale, true), isConflict, 'another object has its name by now');
  assert.equal(controllerOf(await read('orphan')), undefined);
  await assert.rejects(all(adopted.slice(0, 1), false), isConflict, "nor is it released in the other's stead");

  await client.delete(configMaps, { namespace: 'default', name: 'orphan' });
  assert.deepEqual(await all(stale, true), [], 'it is gone');
  assert.deepEqual(await all(adopted.slice(0, 1), false), [], 'it is gone');
  const owned = await read('stranger');
  await client.delete(configMaps, { namespace: 'default', name: 'owner' });
  await assert.rejects(all([owned], true), /^Error: can't adopt ConfigMap default\/stranger \(.*\): can't recheck DeletionTimestamp: /);
});
