import assert from 'node:assert/strict';
import { test } from 'node:test';
import { realClock } from '../../../../base/clock.ts';
import { realRandom } from '../../../../base/random.ts';
import { configMaps, coreEvents, type KubeObject, type Resource } from '../../../../kube/api/object.ts';
import { EventSender } from '../../../../kube/controller/event-recorder.ts';
import { recordedLog } from '../../../support/recorded-log.ts';
import type { RuntimeWorld } from './world.ts';

const [clock, random] = [realClock, realRandom];
const newEvents: Resource = { ...coreEvents, group: 'events.k8s.io' };

/** What people read of one thing that happens again and again. */
export function eventsStory(world: RuntimeWorld): void {
  test('the same event three times is one Event with the count 3, by either of its names', async () => {
    const { admin } = world;
    const namespace = await world.inNamespace('events');
    const subject = await admin.create<KubeObject>(configMaps, { metadata: { name: 'subject', namespace } });
    const { log, lines } = recordedLog();
    const sender = new EventSender({ client: world.clientOf(), clock, random, log });
    const recorder = sender.recorder('test-controller');
    for (let time = 0; time < 3; time++) {
      recorder.event(subject, 'Warning', 'Trouble', 'it does not work', { resource: configMaps });
      assert.equal(await sender.flush(AbortSignal.timeout(60_000)), true);
    }
    await sender.close(AbortSignal.timeout(5_000));
    assert.deepEqual(lines, []);

    // What kubectl describe asks for.
    const about = `involvedObject.uid=${subject.metadata.uid},involvedObject.name=subject,involvedObject.namespace=${namespace},involvedObject.kind=ConfigMap`;
    const [old, ...others] = (await admin.list<KubeObject>(coreEvents, { namespace, fieldSelector: about })).items;
    assert.deepEqual(others, []);
    assert.deepEqual(
      { count: old?.['count'], type: old?.['type'], reason: old?.['reason'], message: old?.['message'], source: old?.['source'] },
      { count: 3, type: 'Warning', reason: 'Trouble', message: 'it does not work', source: { component: 'test-controller' } },
    );
    const [now, ...more] = (await admin.list<KubeObject>(newEvents, { namespace })).items;
    assert.deepEqual(more, []);
    assert.equal(now?.metadata.uid, old?.metadata.uid);
    assert.equal(now?.['deprecatedCount'], 3);
    assert.equal(now['note'], 'it does not work');
    assert.equal(now['reportingController'], 'test-controller');
    assert.equal((now['regarding'] as KubeObject['metadata']).uid, subject.metadata.uid);
  });
}
