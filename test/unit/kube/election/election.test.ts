import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { seededRandom } from '../../../../base/random.ts';
import { configMaps, type KubeObject } from '../../../../kube/api/object.ts';
import type { CallOptions, Client } from '../../../../kube/client/client.ts';
import { ApiError, TransportError } from '../../../../kube/client/errors.ts';
import { LeaderElection, type ElectionOptions, type Ended } from '../../../../kube/election/election.ts';
import { fenced, NotLeaderError } from '../../../../kube/election/fence.ts';
import { holderOf, type Lease } from '../../../../kube/election/lease.ts';
import { electionMetrics } from '../../../../kube/metrics/controller-metrics.ts';
import { atRest, FakeClock } from '../../../support/fake-clock.ts';
import { recordedLog } from '../../../support/recorded-log.ts';

const call = { method: 'PUT', path: '/lease', host: 'test' };
const answer = (code: number, reason: string): ApiError => new ApiError(call, { code, reason, message: 'no' });

/** A server that holds one lease. */
class LeaseServer {
  held: Lease | undefined;
  #version = 0;

  get(): Lease {
    if (this.held === undefined) throw answer(404, 'NotFound');
    return structuredClone(this.held);
  }

  put(lease: Lease, isNew = false): Lease {
    if (isNew && this.held !== undefined) throw answer(409, 'AlreadyExists');
    if (!isNew && lease.metadata.resourceVersion !== this.get().metadata.resourceVersion) throw answer(409, 'Conflict');
    this.held = structuredClone({ ...lease, metadata: { ...lease.metadata, resourceVersion: String((this.#version += 1)) } });
    return this.get();
  }
}

/** An election on a server that answers at once, unless `trouble` has something to say. */
class Bench {
  readonly clock = new FakeClock();
  readonly api = new LeaseServer();
  readonly recorded = recordedLog();
  readonly registry = new Registry();
  readonly announced: string[] = [];
  readonly asked = new AbortController();
  readonly calls: { verb: string; options: CallOptions | undefined }[] = [];
  trouble: (verb: string) => unknown = () => undefined;
  readonly election: LeaderElection;
  ended: Ended | undefined;

  constructor(options: Partial<ElectionOptions> = {}) {
    const answered = async <T>(verb: string, callOptions: CallOptions | undefined, apply: () => KubeObject): Promise<T> => {
      this.calls.push({ verb, options: callOptions });
      const trouble = await this.trouble(verb);
      if (trouble instanceof Error) throw trouble;
      return apply() as T;
    };
    const client: ElectionOptions['client'] = {
      get: (_resource, _ref, callOptions) => answered('get', callOptions, () => this.api.get()),
      create: (_resource, object, callOptions) => answered('create', callOptions, () => this.api.put(object, true)),
      replace: (_resource, object, callOptions) => answered('replace', callOptions, () => this.api.put(object)),
    };
    const parts = { client, clock: this.clock, random: seededRandom(3), log: this.recorded.log, metrics: electionMetrics(this.registry) };
    const announce = (message: string) => void this.announced.push(message);
    this.election = new LeaderElection({ ...parts, lease: { namespace: 'ns', name: 'controllers' }, identity: 'me', announce, ...options });
  }

  async run(): Promise<this> {
    void this.election.run(this.asked.signal).then((ended) => (this.ended = ended));
    await atRest();
    return this;
  }

  get lease(): Lease {
    return this.api.get();
  }

  /** Somebody else has it. */
  takenBy(holderIdentity: string): void {
    const lease = this.lease;
    this.api.put({ ...lease, spec: { ...lease.spec, holderIdentity, renewTime: 'later' } });
  }

  async metric(name: string): Promise<string> {
    return (await this.registry.metrics()).split('\n').find((line) => line.startsWith(name)) ?? '';
  }
}

test('one alone leads at once, renews, and says so', async () => {
  const bench = await new Bench().run();
  assert.equal(await bench.election.whenLeading(), true);
  assert.equal(bench.election.mayWrite(), true);
  assert.equal(bench.election.epoch, 0);
  const first = bench.lease.spec?.renewTime;
  await bench.clock.advance(30_000);
  assert.equal(bench.election.mayWrite(), true);
  assert.notEqual(bench.lease.spec?.renewTime, first);
  assert.equal(bench.calls.filter(({ verb }) => verb === 'replace').length, 15, 'a renewal every 2 s, without a look before it');
  assert.equal(await bench.metric('leader_election_master_status{'), 'leader_election_master_status{name="controllers"} 1');
  bench.asked.abort();
  await atRest();
  assert.deepEqual(bench.ended, { why: 'stopped', released: true });
  assert.equal(holderOf(bench.lease), '');
  assert.equal(await bench.metric('leader_election_master_status{'), 'leader_election_master_status{name="controllers"} 0');
  assert.deepEqual(bench.announced, ['me became leader', 'me stopped leading']);
  assert.equal(bench.clock.sleepers, 0);
});

test('a lost lease ends the run, and every write under way', async () => {
  const bench = await new Bench().run();
  let reason: unknown;
  const write = bench.election.write(
    (signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
  );
  write.catch((error: unknown) => (reason = error));
  bench.takenBy('other');
  await bench.clock.advance(2_000);
  assert.deepEqual(bench.ended, { why: 'lost', detail: 'it is held by other now' });
  assert.ok(reason instanceof NotLeaderError);
  await assert.rejects(
    bench.election.write(() => Promise.resolve()),
    /Cannot write as leader of lease ns\/controllers: it is held by other now/,
  );
  assert.equal(bench.clock.sleepers, 0);
});

test('a holder that gets no answer stops before another could begin, though its request still hangs', async () => {
  const bench = await new Bench().run();
  bench.trouble = () => new Promise(() => {});
  await bench.clock.advance(9_999);
  assert.equal(bench.election.mayWrite(), true);
  assert.equal(bench.calls.at(-1)?.options?.signal?.aborted, false);
  await bench.clock.advance(1);
  // Before anybody asks: a write that waits for its turn must not have to.
  assert.equal(bench.calls.at(-1)?.options?.signal?.aborted, true, 'the client is told to give up');
  assert.equal(bench.election.mayWrite(), false);
});

test('a process that wakes up after its lease finds out with the first write, before any timer', async () => {
  const bench = await new Bench().run();
  bench.clock.jump(11_000);
  let called = false;
  await assert.rejects(
    bench.election.write(async () => void (called = true)),
    /it was not renewed within 10000 ms/,
  );
  assert.equal(called, false);
  bench.clock.jump(-11_000);
  assert.equal(bench.election.mayWrite(), false, 'and never leads again');
  await atRest();
  assert.equal(bench.ended?.why, 'lost');
});

const forbidden = answer(403, 'Forbidden');
// prettier-ignore
const troubles: [why: string, verb: string, error: Error, says: RegExp][] = [
  ['without the right to look', 'get', forbidden, /get lease ns\/controllers: the right to get leases of coordination.k8s.io in namespace ns is missing; grant get, create and update/],
  ['without the right to update, on a lease that somebody left', 'replace', forbidden, /update lease ns\/controllers: the right to update leases/],
  ['without its namespace', 'create', answer(404, 'NotFound'), /there is no namespace ns; create it/],
  ['without a server', 'get', new TransportError(call, 'unreachable', { hint: 'refused' }), /refused/],
];
for (const [why, verb, error, says] of troubles)
  test(`an election ${why} says so once, and tries on until it leads`, async () => {
    const bench = new Bench();
    bench.trouble = (asked) => (asked === verb ? error : undefined);
    if (verb === 'replace') bench.api.put({ metadata: { name: 'controllers', namespace: 'ns' }, spec: { holderIdentity: '' } }, true);
    await bench.run();
    await bench.clock.advance(60_000);
    const { lines, fields } = bench.recorded;
    const warnings = lines.flatMap((line, at) => (line.startsWith('warn') ? [String(fields[at]?.['error'])] : []));
    assert.equal(warnings.length, 1);
    assert.match(warnings[0] ?? '', says);
    assert.equal(bench.election.refusal, error instanceof TransportError ? undefined : warnings[0]);
    const asked = bench.calls.filter((one) => one.verb === verb).length;
    assert.ok(asked >= 13 && asked <= 30, `${asked} tries in a minute`);
    bench.trouble = () => undefined;
    await bench.clock.advance(5_000);
    assert.deepEqual([bench.election.mayWrite(), bench.election.refusal], [true, undefined]);
    assert.equal(lines.filter((line) => line === 'info: leader election works again').length, 1);
    bench.asked.abort();
    await atRest();
  });

test('asked to end, it refuses new writes, waits for those under way, and then releases', async () => {
  const bench = await new Bench().run();
  const written = Promise.withResolvers<string>();
  const write = bench.election.write(() => written.promise);
  bench.asked.abort();
  await assert.rejects(
    bench.election.write(() => Promise.resolve()),
    /this process is stopping/,
  );
  await atRest();
  assert.equal(holderOf(bench.lease), 'me');
  written.resolve('done');
  assert.equal(await write, 'done');
  await atRest();
  assert.deepEqual(bench.ended, { why: 'stopped', released: true });
});

test('it is not released while a write without an answer, or that a proxy or half a server gave up, may still arrive', async () => {
  for (const lost of [new TransportError(call, 'timeout', { hint: 'no answer' }), answer(504, 'Timeout')]) {
    const bench = await new Bench().run();
    await assert.rejects(bench.election.write(() => Promise.reject(lost)));
    bench.asked.abort();
    await atRest();
    assert.deepEqual([bench.ended, holderOf(bench.lease)], [{ why: 'stopped', released: false }, 'me']);
  }
});

test('settings that cannot be safe are refused', () => {
  const unsafe: [number, number, number][] = [[10_000, 10_000, 2_000], [15_000, 2_400, 2_000], [15_000, 10_000, 0]]; // prettier-ignore
  for (const [leaseDurationMs, renewDeadlineMs, retryPeriodMs] of unsafe)
    assert.throws(() => new Bench({ leaseDurationMs, renewDeadlineMs, retryPeriodMs }), RangeError);
});

test('a fenced client reads always and writes only as leader', async () => {
  const bench = new Bench();
  const called: string[] = [];
  const log = (name: string) => (): Promise<never> => Promise.resolve(called.push(name) as never);
  const names = ['get', 'list', 'listEach', 'create', 'post', 'replace', 'patch', 'delete', 'raw', 'close'] as const;
  const leader = fenced(Object.fromEntries(names.map((name) => [name, log(name)])) as unknown as Client, bench.election);
  const ref = { namespace: 'ns', name: 'x' };
  const writes = (): Promise<unknown>[] => [
    leader.create(configMaps, { metadata: ref }),
    leader.post(configMaps, ref, 'sub', {}),
    leader.replace(configMaps, { metadata: ref }),
    leader.patch(configMaps, ref, {}, { type: 'merge' }),
    leader.delete(configMaps, ref),
    leader.raw('POST', '/x'),
  ];
  await Promise.all([
    leader.get(configMaps, ref),
    leader.list(configMaps),
    leader.listEach(configMaps, {}, () => {}),
    leader.raw('get', '/x'),
  ]);
  for (const write of writes()) await assert.rejects(write, NotLeaderError);
  assert.deepEqual(called, ['get', 'list', 'listEach', 'raw']);
  await bench.run();
  await Promise.all(writes());
  assert.deepEqual(called.slice(4), ['create', 'post', 'replace', 'patch', 'delete', 'raw']);
  bench.asked.abort();
  await atRest();
});
