import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type KubeObject, type Resource, coreEvents, pods } from '../../../../kube/api/object.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { makeAuthority } from '../../../support/certificates.ts';
import { seededRandom } from '../../../../base/random.ts';
import { eventually } from '../../../support/eventually.ts';
import type { Pod } from '../../../../scheduler/types.ts';
import type { Subject } from '../cluster/subject.ts';
import type { RealWorld } from '../cluster/real-world.ts';
import type { Event } from '../../../support/stories/remains.ts';
import { withRealParts } from '../suite.ts';
import { nodeOf, Stage, worldWith } from './stage.ts';
import { startScheduler } from './subjects.ts';

const webhooks: Resource = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  resource: 'validatingwebhookconfigurations',
  kind: 'ValidatingWebhookConfiguration',
  namespaced: false,
};
const name = 'slow-bindings.test.dkc.dev';

/** Has a real API server take its time over every binding, as one under load does: it asks here first. */
class SlowBindings implements Disposable {
  /** From the question to the answer, in ms. */
  delayMs: () => number = () => 0;
  /** Bindings that wait for their answer. */
  waiting = 0;
  readonly #server: Server;
  #open = Promise.resolve();
  #release = (): void => {};

  /** The server may need a moment more before it asks. */
  static async start(client: Client): Promise<SlowBindings> {
    const authority = await makeAuthority();
    try {
      const slow = new SlowBindings(createServer(await authority.server()));
      slow.#server.listen(0, '127.0.0.1');
      await once(slow.#server, 'listening');
      const { port } = slow.#server.address() as AddressInfo;
      await client.create<KubeObject & { webhooks: unknown }>(webhooks, {
        metadata: { name },
        webhooks: [
          {
            name,
            clientConfig: { url: `https://127.0.0.1:${port}/`, caBundle: Buffer.from(authority.ca).toString('base64') },
            rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods/binding'] }],
            sideEffects: 'None',
            admissionReviewVersions: ['v1'],
            timeoutSeconds: 30,
          },
        ],
      });
      return slow;
    } finally {
      await authority.remove();
    }
  }

  private constructor(server: Server) {
    this.#server = server;
    server.on('request', (request, response) => {
      this.waiting += 1;
      const answer = async (): Promise<void> => {
        const review = (await json(request)) as { request: { uid: string } };
        await this.#open;
        await sleep(this.delayMs());
        response.setHeader('content-type', 'application/json');
        const { uid } = review.request;
        response.end(JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: { uid, allowed: true } }));
      };
      void answer()
        // Who asked may be gone.
        .catch(() => response.destroy())
        .finally(() => (this.waiting -= 1));
    });
  }

  /** What is asked from now on is not answered until it is let go. The server itself waits for no longer than 30 s. */
  hold(): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    [this.#open, this.#release] = [promise, resolve];
  }

  letGo(): void {
    this.#release();
  }

  [Symbol.dispose](): void {
    this.letGo();
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

/** Of a node, in pods. There is room for every pod of a story, and for no other. */
const ROOM = 10;
/** Being bound when the scheduler is killed for the first time: as many as may be at once. */
const BINDING = 500;
/** Of them with the server, which takes no more than so many of one client; also when the scheduler is killed again, with fewer pods left to bind. */
const UNDER_WAY = 40;

/*
 * Whatever happens to the scheduler or the server: a pod that has a node keeps it, no node holds more than it can, every pod has a place in the end, and is told
 * of at most once. SEED=N for the same moments.
 */
await withRealParts('schedulers that are killed', ['etcd', 'kube-apiserver', 'kube-controller-manager'], () => {
  const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1e6));
  const random = seededRandom(seed);
  const here = worldWith(async (world, ending) => ({ world, bindings: ending.use(await SlowBindings.start(world.client)) }));

  test('killed again and again with bindings under way, it goes on where it was', async (t) => {
    t.diagnostic(`SEED=${seed}`);
    const { world, bindings } = here();
    const s = await Stage.open(world, 'kill', 60, ROOM);
    const watched = watch(world, s);
    const names = Array.from({ length: 600 }, (_, n) => `pod-${n}`);
    await Promise.all(names.map((name) => s.client.create<Pod>(pods, s.manifest(name))));
    bindings.delayMs = () => random() * 600;
    // However slowly it decides: none of them is done before all are under way.
    bindings.hold();
    await using scheduler = await startScheduler('dkc', world.plane, { config: { api: { maxInflightBinds: BINDING } } });
    await untilBinding(scheduler, BINDING);
    for (let kills = 0; kills < 3; kills++) {
      await s.until('bindings are under way', () => bindings.waiting >= UNDER_WAY);
      bindings.letGo();
      await sleep(random() * 300);
      await scheduler.kill();
      bindings.hold();
      await scheduler.start();
    }
    bindings.letGo();
    bindings.delayMs = () => 0;
    await allPlaced(s, names.length, watched, scheduler);
  });
});

/** Resolves as soon as it says that so many pods are decided on and not known to be bound. */
async function untilBinding(scheduler: Subject, count: number): Promise<void> {
  let binding = 0;
  const look = async () => {
    binding = Number(/^scheduler_binding_pods (\d+)$/m.exec(await scheduler.metrics())?.[1]);
    return binding >= count;
  };
  await eventually(`${count} pods are being bound`, look, 120_000, () => `${binding} are`);
}

/** Fills with what must never be. */
function watch(world: RealWorld, s: Stage): string[] {
  const faults: string[] = [];
  const look = (before: Readonly<Pod> | undefined, pod: Readonly<Pod>) => {
    if (pod.metadata.namespace !== s.name || nodeOf(pod) === '') return;
    const [was, is] = [nodeOf(before), nodeOf(pod)];
    if (was !== '' && was !== is && before?.metadata.uid === pod.metadata.uid)
      faults.push(`${pod.metadata.name} went from ${was} to ${is}`);
    if (was === is) return;
    const there = s.pods().filter((one) => nodeOf(one) === is).length;
    if (there > ROOM) faults.push(`${is} holds ${there} pods`);
  };
  world.pods.addHandlers(`faults ${s.name}`, { added: (pod) => look(undefined, pod), updated: look });
  return faults;
}

async function allPlaced(s: Stage, count: number, faults: readonly string[], scheduler: Subject): Promise<void> {
  try {
    await s.until('every pod is bound', () => s.pods().length === count && s.pods().every((pod) => nodeOf(pod) !== ''));
  } catch (error) {
    const waiting = s.pods().filter((pod) => nodeOf(pod) === '');
    const why = waiting.map(({ metadata, status }) => `${metadata.name}: ${JSON.stringify(status?.conditions ?? [])}`);
    const text = `${s.pods().length} pods instead of ${count}, waiting:\n${why.join('\n')}\nthe log ends with\n${await scheduler.log()}`;
    throw new Error(text, { cause: error });
  }
  assert.deepEqual(faults, []);
  const { items } = await s.client.list<Event>(coreEvents, { namespace: s.name, fieldSelector: 'reason=Scheduled' });
  const told = items.flatMap(({ involvedObject, count: times }) => Array.from({ length: times ?? 1 }, () => involvedObject?.name));
  assert.equal(new Set(told).size, told.length, 'told of twice');
}
