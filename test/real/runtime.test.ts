import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { realClock } from '../../base/clock.ts';
import { realRandom } from '../../base/random.ts';
import { configMaps, coreEvents } from '../../kube/api/object.ts';
import type { KubeObject, Resource } from '../../kube/api/object.ts';
import { objectKey } from '../../kube/cache/contract.ts';
import type { Informer } from '../../kube/cache/contract.ts';
import { Informers } from '../../kube/cache/informers.ts';
import type { ClusterAccess } from '../../kube/client/access.ts';
import type { Client } from '../../kube/client/client.ts';
import { createClient } from '../../kube/client/http-client.ts';
import type { ClientOptions } from '../../kube/client/http-client.ts';
import { EventSender } from '../../kube/controller/event-recorder.ts';
import { controllerOf } from '../../kube/controller/owner-refs.ts';
import { runController } from '../../kube/controller/run-controller.ts';
import { LeaderElection } from '../../kube/election/election.ts';
import { NotLeaderError } from '../../kube/election/fence.ts';
import { fenced } from '../../kube/election/fenced.ts';
import { leases } from '../../kube/election/lease.ts';
import { WorkQueue } from '../../kube/queue/work-queue.ts';
import { eventually } from '../contracts/eventually.ts';
import { recordedLog } from '../helpers/recorded-log.ts';
import { startControlPlane } from '../real-parts/control-plane.ts';
import type { ControlPlane } from '../real-parts/control-plane.ts';
import { Copies, textOf } from '../soak/copies.ts';
import { nothingYet, Witness } from '../kube/cache/convergence.ts';
import { Gate } from './gate.ts';
import { withRealParts } from './suite.ts';

const core = { group: '', version: 'v1' };
const namespaces: Resource = { ...core, resource: 'namespaces', kind: 'Namespace', namespaced: false };
const pods: Resource = { ...core, resource: 'pods', kind: 'Pod', namespaced: true };
const newEvents: Resource = { ...coreEvents, group: 'events.k8s.io' };
const budgets: Resource = {
  group: 'policy',
  version: 'v1beta1',
  resource: 'poddisruptionbudgets',
  kind: 'PodDisruptionBudget',
  namespaced: true,
};

const [clock, random] = [realClock, realRandom];

/** Objects of the big list, and how many a page has: the last page is not full. */
const MANY = { objects: 1_300, page: 500 };
const AT_ONCE = 16;

await withRealParts('runtime', ['etcd', 'kube-apiserver'], () => {
  let started: { plane: ControlPlane; admin: Client } | undefined;
  const open: Client[] = [];
  const clientOf = (access: Partial<ClusterAccess> = {}, options: ClientOptions = {}): Client => {
    const { plane } = here();
    const identity = 'clientCertificate' in access ? {} : { token: plane.adminToken };
    const client = createClient({ origin: 'the test', server: plane.url, ca: { data: plane.ca }, ...identity, ...access }, options);
    open.push(client);
    return client;
  };
  const here = (): { plane: ControlPlane; admin: Client } => {
    if (started === undefined) throw new Error('the control plane did not start');
    return started;
  };
  before(async () => {
    const plane = await startControlPlane();
    const access = { origin: 'the test', server: plane.url, ca: { data: plane.ca }, token: plane.adminToken };
    started = { plane, admin: createClient(access) };
  });
  after(async () => {
    for (const client of open) await client.close();
    await started?.admin.close();
    await started?.plane.stop();
  });
  const inNamespace = async (name: string): Promise<string> => {
    await here().admin.create<KubeObject>(namespaces, { metadata: { name } });
    return name;
  };

  test('a cache read in pages ends equal to the server, over restarts and forgotten versions', async () => {
    const { plane, admin } = here();
    const namespace = await inNamespace('many');
    const name = (n: number): string => `map-${String(n).padStart(4, '0')}`;
    const make = (n: number, round: number): Promise<KubeObject> =>
      admin.create<KubeObject>(configMaps, {
        metadata: { name: name(n), namespace, labels: { suite: 'many' } },
        data: { round: String(round) },
      });
    const change = (n: number, round: number): Promise<KubeObject> =>
      admin.patch(configMaps, { name: name(n), namespace }, { data: { round: String(round) } }, { type: 'merge' });
    const remove = (n: number): Promise<void> => admin.delete(configMaps, { name: name(n), namespace });
    const all = Array.from({ length: MANY.objects }, (_, n) => n);
    await each(all, (n) => make(n, 0));

    const { log, lines } = recordedLog();
    const asked: string[] = [];
    const watching = new Gate(clientOf(), (what) => asked.push(what));
    const ending = new AbortController();
    const informers = new Informers({ client: watching, clock, random, log, frozen: true, pageSize: MANY.page });
    const cache = informers.of<KubeObject>(configMaps, {}, { namespace });
    const coverage = { ...nothingYet };
    const witness = new Witness(coverage);
    cache.addHandlers('witness', witness.handlers);
    const running = informers.run(ending.signal);
    try {
      await informers.whenSynced(AbortSignal.timeout(30_000));
      // Out of its memory the server gives all at once, whatever the page.
      assert.deepEqual(asked.slice(0, 2), ['stream', 'list']);
      assert.equal(cache.size, MANY.objects);

      // Round 1: changes while the server is away for a moment; those that fail count as not made.
      const restarted = plane.restartApiServer();
      await each(all.slice(0, 200), (n) => change(n, 1).catch(() => {}));
      await restarted;
      await each(all.slice(0, 100), (n) => change(n, 2));
      await each(all.slice(100, 120), remove);
      await each(all.slice(110, 120), (n) => make(n, 3));
      await equalToServer(admin, cache, namespace);

      // Round 2: what happens while nobody can watch is forgotten before the cache is back.
      asked.length = 0;
      const seen = cache.version;
      watching.hold();
      await each(all.slice(300, 400), (n) => change(n, 4));
      await each(all.slice(400, 440), remove);
      await each(all.slice(420, 440), (n) => make(n, 5));
      assert.ok((await plane.compact()) > Number(seen));
      await plane.restartApiServer();
      watching.release();
      await change(500, 6);
      await equalToServer(admin, cache, namespace);
      assert.deepEqual(
        asked.filter((what) => what !== 'watch'),
        ['list', 'next page', 'next page'],
      );
      assert.equal(coverage.unseen, 40, 'deletions that nobody saw are told as such');
      assert.equal(coverage.replaced, 20, 'of those, names that another object has');
      assert.deepEqual(witness.problems, []);
      assert.deepEqual(sorted(witness.held.values()), sorted(cache.list()));
      assert.deepEqual(informers.troubled, []);
      assert.deepEqual(
        lines.filter((line) => line.startsWith('error')),
        [],
      );
    } finally {
      watching.release();
      ending.abort();
      await running;
    }
  });

  test('a controller makes, adopts, heals and removes its copies, and waits for nothing at the end', async () => {
    const { admin } = here();
    const namespace = await inNamespace('copies');
    const client = clientOf();
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
      assert.equal(await events.flush(AbortSignal.timeout(10_000)), true);
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

  test('of two candidates one leads; it lets go, the other leads, and the first writes no more', async () => {
    const { admin } = here();
    const namespace = await inNamespace('election');
    const lease = { namespace, name: 'leader' };
    const candidate = (identity: string) => {
      const client = clientOf();
      const times = { leaseDurationMs: 6_000, renewDeadlineMs: 4_000, retryPeriodMs: 500 };
      const election = new LeaderElection({ client, lease, identity, clock, random, log: recordedLog().log, ...times });
      const ending = new AbortController();
      const writer = fenced(client, election);
      const write = (name: string): Promise<KubeObject> => writer.create<KubeObject>(configMaps, { metadata: { name, namespace } });
      return { election, write, running: election.run(ending.signal), stop: () => ending.abort() };
    };
    const stored = async (): Promise<Record<string, unknown>> => {
      const { spec } = await admin.get<KubeObject>(leases, lease);
      return spec as Record<string, unknown>;
    };
    const first = candidate('first');
    const second = candidate('second');
    try {
      // Whoever won the race.
      const [leader, other] = await Promise.race([
        first.election.whenLeading().then(() => [first, second] as const),
        second.election.whenLeading().then(() => [second, first] as const),
      ]);
      const { holderIdentity, renewTime } = await stored();
      await eventually('the lease is renewed, and the other sees whose it is', async () => {
        const now = await stored();
        assert.equal(now['holderIdentity'], holderIdentity);
        return now['renewTime'] !== renewTime && other.election.holder === holderIdentity ? true : undefined;
      });
      await leader.write('by-the-leader');
      await assert.rejects(other.write('too-early'), NotLeaderError);

      leader.stop();
      assert.deepEqual(await leader.running, { why: 'stopped', released: true });
      assert.equal(await other.election.whenLeading(), true);
      assert.ok((other.election.epoch ?? 0) > (leader.election.epoch ?? 0));
      const after = await stored();
      assert.notEqual(after['holderIdentity'], holderIdentity);
      assert.equal(after['holderIdentity'], other.election.holder);
      await assert.rejects(leader.write('too-late'), NotLeaderError);
      await other.write('by-the-next');
      const { items } = await admin.list<KubeObject>(configMaps, { namespace });
      const names = items.map(({ metadata }) => metadata.name).filter((name) => name !== 'kube-root-ca.crt');
      assert.deepEqual(names, ['by-the-leader', 'by-the-next']);
    } finally {
      first.stop();
      second.stop();
      await Promise.all([first.running, second.running]);
    }
  });

  test('the same event three times is one Event with the count 3, by either of its names', async () => {
    const { admin } = here();
    const namespace = await inNamespace('events');
    const subject = await admin.create<KubeObject>(configMaps, { metadata: { name: 'subject', namespace } });
    const { log, lines } = recordedLog();
    const sender = new EventSender({ client: clientOf(), clock, random, log });
    const recorder = sender.recorder('test-controller');
    for (let time = 0; time < 3; time++) {
      recorder.event(subject, 'Warning', 'Trouble', 'it does not work', { resource: configMaps });
      assert.equal(await sender.flush(AbortSignal.timeout(10_000)), true);
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

  test('an eviction is refused while the budget has nothing left, and taken once it has', async () => {
    const { admin } = here();
    const namespace = await inNamespace('evictions');
    const ref = { name: 'web', namespace };
    const labels = { app: 'web' };
    const spec = { containers: [{ name: 'c', image: 'example/image' }], automountServiceAccountToken: false, nodeName: 'nowhere' };
    await admin.create<KubeObject>(pods, { metadata: { ...ref, labels }, spec });
    const running = { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } };
    await admin.patch(pods, ref, running, { type: 'merge', subresource: 'status' });
    await admin.create<KubeObject>(budgets, { metadata: ref, spec: { minAvailable: 1, selector: { matchLabels: labels } } });
    const allow = (disruptionsAllowed: number, currentHealthy: number): Promise<KubeObject> => {
      const status = { observedGeneration: 1, disruptionsAllowed, currentHealthy, desiredHealthy: 1, expectedPods: 2 };
      return admin.patch(budgets, ref, { status }, { type: 'merge', subresource: 'status' });
    };
    const evict = (): Promise<unknown> => {
      const body = { apiVersion: 'policy/v1beta1', kind: 'Eviction', metadata: ref, deleteOptions: { gracePeriodSeconds: 0 } };
      return clientOf().post(pods, ref, 'eviction', body);
    };
    await allow(0, 1);
    const message = 'The disruption budget web needs 1 healthy pods and has 1 currently';
    await assert.rejects(evict(), {
      code: 429,
      reason: 'TooManyRequests',
      details: { causes: [{ reason: 'DisruptionBudget', message }] },
    });
    assert.equal((await admin.get<KubeObject>(pods, ref)).metadata.deletionTimestamp, undefined);
    await allow(1, 2);
    const { status } = (await evict()) as { status: string };
    assert.equal(status, 'Success');
    await assert.rejects(admin.get(pods, ref), { code: 404 });
  });

  test('a client certificate says who asks, and reads everything there is', async () => {
    const { plane } = here();
    const clientFor = async (user: string, groups: string[]): Promise<Client> => {
      const { cert, key } = await plane.clientCertificate(user, groups);
      return clientOf({ clientCertificate: { data: cert }, clientKey: { data: key } });
    };
    const nobody = await clientFor('some-user', []);
    await assert.rejects(nobody.list(configMaps), { code: 403, serverMessage: /^configmaps is forbidden: User "some-user" cannot list/ });

    const master = await clientFor('some-admin', ['system:masters']);
    const kinds = await listedKinds(master);
    const counts: Record<string, number> = {};
    for (const kind of kinds) {
      let count = 0;
      await master.listEach<KubeObject>(kind, {}, ({ metadata }) => {
        assert.notEqual(metadata.name, '');
        count += 1;
      });
      counts[kind.resource] = count;
    }
    assert.ok(kinds.length > 40, `${kinds.length}`);
    for (const kind of ['namespaces', 'clusterroles', 'apiservices', 'flowschemas', 'configmaps']) assert.ok((counts[kind] ?? 0) > 0, kind);
  });
});

/** Every kind that the server lists, in its preferred version. */
async function listedKinds(client: Client): Promise<Resource[]> {
  interface Groups {
    groups: { name: string; preferredVersion: { groupVersion: string; version: string } }[];
  }
  interface Resources {
    resources: { name: string; kind: string; namespaced: boolean; verbs: string[] }[];
  }
  const { groups } = (await client.raw('GET', '/apis')) as Groups;
  const all = [{ name: '', path: '/api/v1', version: 'v1' }].concat(
    groups.map(({ name, preferredVersion: { groupVersion, version } }) => ({ name, path: `/apis/${groupVersion}`, version })),
  );
  const found = all.map(async ({ name: group, path, version }) => {
    const { resources } = (await client.raw('GET', path)) as Resources;
    const listed = resources.filter(({ verbs }) => verbs.includes('list'));
    return listed.map(({ name, kind, namespaced }) => ({ group, version, resource: name, kind, namespaced }));
  });
  return (await Promise.all(found)).flat();
}

/** Calls for each item, a few at a time. */
async function each<T>(items: readonly T[], call: (item: T) => Promise<unknown>): Promise<void> {
  const rest = items.values();
  const worker = async (): Promise<void> => {
    for (const item of rest) await call(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

function sorted(objects: Iterable<Readonly<KubeObject>>): Readonly<KubeObject>[] {
  return [...objects].toSorted((a, b) => (objectKey(a) < objectKey(b) ? -1 : 1));
}

async function equalToServer(client: Client, cache: Informer<KubeObject>, namespace: string): Promise<void> {
  const stateOf = (objects: Iterable<Readonly<KubeObject>>): string =>
    JSON.stringify(
      sorted(objects).map((object) => [object.metadata.name, object.metadata.uid, object.metadata.resourceVersion, object['data']]),
    );
  const there: KubeObject[] = [];
  await client.listEach<KubeObject>(configMaps, { namespace }, (item) => there.push(item));
  const state = stateOf(there);
  await eventually('the cache is equal to the server', () => Promise.resolve(stateOf(cache.list()) === state ? true : undefined), 60_000);
}
