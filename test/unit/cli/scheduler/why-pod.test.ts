import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { before, test } from 'node:test';
import { realClock } from '../../../../base/clock.ts';
import { explainSettled, explainFacts } from '../../../../cli/scheduler/explain-pod.ts';
import { readCluster } from '../../../../cli/scheduler/why-pod.ts';
import { defaultSchedulerConfig } from '../../../../scheduler/config/config.ts';
import { runCli } from '../../../support/cli-context.ts';
import { node, pod } from '../../scheduler/builders.ts';
import type { RunningFacts } from '../../../../scheduler/explain.ts';
import type { Pending } from '../../../../scheduler/queue/contract.ts';
import type { ReservationView } from '../../../../scheduler/reservation/reporting.ts';
import type { Claim, Pod } from '../../../../scheduler/types.ts';
import { ApiError } from '../../../../kube/client/errors.ts';
import type { KubeObject, Resource } from '../../../../kube/api/object.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { localApi, localClient } from '../../../support/embedded-api.ts';

const api = localApi(realClock);
before(() => {
  api.add({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
  const built = [pod('shop/big').cpu('64').build(), pod('shop/batch').spec({ schedulerName: 'batch' }).build(), pod('shop/there').on('node-a').build()]; // prettier-ignore
  for (const one of [node('node-a').build(), node('node-b').cordoned().build(), ...built]) {
    const { uid: _uid, resourceVersion: _version, ...metadata } = one.metadata;
    api.add({ ...one, metadata });
  }
});
const connect = async () => localClient(api);

const rows = [
  { argv: 'shop/big', code: 0, out: /^REASON +DETAIL\n(?=[^]*^NodeResourcesFit +1 of 2 nodes: Insufficient cpu)(?=[^]*^NodeUnschedulable )(?=[^]*^kept-room-unknown )/m },
  { argv: 'shop/there -o json', code: 0, out: /^\[\n {2}\{\n {4}"object": "shop\/there",\n {4}"reason": "bound",\n {4}"detail": ".*"\n {2}\}\n\]\n$/ },
  { argv: 'shop/batch', code: 0, out: /^other-scheduler /m },
  { argv: 'shop/big -n other', code: 2, err: 'why pod: shop/big is in namespace shop, but --namespace is other; see dkc why pod --help' },
  { argv: 'shop/big --debug-address=:', code: 2, err: 'why pod: --debug-address must be HOST:PORT, such as 127.0.0.1:10462; see dkc why pod --help' },
]; // prettier-ignore
for (const { argv, code, out = /^$/, err } of rows)
  test(`dkc why pod ${argv} ends with ${code}`, async () => {
    const { stdout, ...ran } = await runCli(['why', 'pod', ...argv.split(' ')], { connect });
    assert.deepEqual(ran, { code, stderr: err === undefined ? '' : `dkc: ${err}\n` });
    assert.match(stdout, out);
  });

test('the running scheduler is asked for kept room and for the queue', async (t) => {
  const room = { namespace: 'shop', name: 'db-1', node: 'node-a', priority: 0, why: 'db rolls', requests: { cpu: '3' }, expiresAt: 'THEN' };
  const queued = { namespace: 'shop', name: 'big', pool: 'backoff', held: false, attempts: 2, backoffUntil: null, flushAt: null, wakesOn: ['rain'] }; // prettier-ignore
  const pools = { active: 1, backoff: 1, unschedulable: 0, gated: 0 };
  const queue = { pools, inFlight: 0, pods: [{ ...queued, name: 'other', pool: 'active' }, queued] };
  const pages: Record<string, unknown> = { '/debug/reservations': [room], '/debug/scheduler-queue': queue };
  const server = createServer((request, response) =>
    response.setHeader('connection', 'close').end(JSON.stringify(pages[request.url ?? ''])),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { stdout } = await runCli(['why', 'pod', 'shop/big', `--debug-address=${address}`], { connect });
  assert.match(
    stdout,
    /^node-a +kept-room +cpu 3 is reserved for shop\/db-1 until THEN: db rolls\nshop\/big +backoff +tried 2 times; in backoff after a failure\nshop\/big +retried-when +rain\n$/m,
  );
});

const call = { method: 'GET', path: '/x', host: 'h' };
const refusal = (code: number, reason: string): ApiError => new ApiError(call, { code, reason, message: 'no' });

/** A server that has one object of each kind. @param answer - what it says instead */
function serverThat(answer: (asked: string) => ApiError | undefined): Pick<Client, 'listEach'> {
  const listEach = async ({ resource, version }: Resource, _query: object, each: (item: KubeObject) => void): Promise<object> => {
    const error = answer(`${resource} ${version}`);
    if (error !== undefined) throw error;
    each({ metadata: { name: `${resource} ${version}` } });
    return {};
  };
  return { listEach } as unknown as Pick<Client, 'listEach'>;
}

const { signal } = new AbortController();
const namesOf = (list: readonly { metadata: { name?: string } }[]): string => list.map(({ metadata }) => metadata.name).join();

test('kinds that the server has in another version, or not at all, are read as they are; one that may not be listed is no empty one', async () => {
  const old = serverThat((asked) => (/^poddisruptionbudgets v1$|^csi/.test(asked) ? refusal(404, 'NotFound') : undefined));
  const { budgets, capacities, csiNodes } = await readCluster(old, signal);
  assert.deepEqual([budgets, capacities, csiNodes].map(namesOf), ['poddisruptionbudgets v1beta1', '', '']);
  const client = serverThat((asked) => (asked.startsWith('poddisruptionbudgets') ? refusal(403, 'Forbidden') : undefined));
  await assert.rejects(readCluster(client, signal), ApiError);
});

const config = defaultSchedulerConfig;
const at = (over: Partial<NonNullable<Pod['status']>>, of: Pod): Pod => ({ ...of, status: { ...of.status, ...over } });
const web = () => pod('shop/web-0');
const scheduled = { conditions: [{ type: 'PodScheduled', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }] };

const settled: { why: string; pod: Pod; says: string | undefined }[] = [
  { why: 'a pod that waits', pod: web().build(), says: undefined },
  { why: 'one on a node, and since when', pod: at(scheduled, web().on('node-a').build()), says: 'bound: it is on node node-a since 2026-01-01T00:00:00Z' }, // prettier-ignore
  { why: 'one that has ended', pod: at({ phase: 'Succeeded' }, web().on('node-a').terminating().build()), says: 'ended: it has terminated (Succeeded) and uses no resources; it was on node node-a' }, // prettier-ignore
  { why: 'one that goes', pod: web().on('node-a').terminating().build(), says: 'deleting: terminating, grace period ends at 2026-01-01T00:00:00Z; it uses resources of node node-a until it is deleted' }, // prettier-ignore
  { why: 'one that goes and was nowhere', pod: web().terminating().build(), says: 'deleting: terminating, grace period ends at 2026-01-01T00:00:00Z; it will not be scheduled' }, // prettier-ignore
  { why: "somebody else's", pod: web().spec({ schedulerName: 'batch' }).build(), says: 'other-scheduler: its spec.schedulerName is batch, which is not a profile of this scheduler (default-scheduler); without a scheduler of that name it stays pending' }, // prettier-ignore
  { why: 'one behind gates', pod: web().spec({ schedulingGates: [{ name: 'a' }, { name: 'b.c/d' }] }).build(), says: 'gated: it is not scheduled until its scheduling gates are removed: a, b.c/d' }, // prettier-ignore
];
for (const { why, pod, says } of settled)
  test(`of ${why} is said: ${says ?? 'nothing yet'}`, () => {
    const line = explainSettled(pod, config);
    assert.equal(line && `${line.reason}: ${line.detail}`, says);
  });

const room = (over: Partial<ReservationView> = {}): ReservationView =>
  ({ namespace: 'shop', name: 'db-1', node: 'node-a', priority: 0, why: 'db rolls', requests: { cpu: '500m', memory: '1024' }, expiresAt: '2026-01-01T00:01:00.000Z', ...over }) as ReservationView; // prettier-ignore
const pending = (over: Partial<Pending> = {}): Pending =>
  ({ namespace: 'shop', name: 'web-0', uid: 'u', pool: 'unschedulable', held: false, attempts: 3, backoffUntil: null, flushAt: '2026-01-01T00:05:00.000Z', wakesOn: [], ...over }) as Pending; // prettier-ignore

const unknown =
  'shop/web-0 kept-room-unknown reservations for pods that are updated are known only to the running scheduler; ask it with --debug-address';
const running = (over: Partial<RunningFacts>): RunningFacts => ({ reservations: [], pending: pending(), unlisted: 0, ...over });
const until = 'until 2026-01-01T00:01:00.000Z: db rolls';
const waits = 'shop/web-0 unschedulable tried 3 times; waiting for a change in the cluster, or for a retry at 2026-01-01T00:05:00.000Z';
const volumesOf = ['a', 'b', 'c'].map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
const mounting = web().spec({ volumes: volumesOf }).build();
const selects = (name: string, node: string, over: object = {}): Claim => ({ metadata: { namespace: 'shop', name, uid: name, annotations: { 'volume.kubernetes.io/selected-node': node } }, spec: {}, ...over }); // prettier-ignore
const standing: { why: string; claims?: Claim[]; pod?: Pod; reservation?: boolean; running?: RunningFacts; says: string[] }[] = [
  { why: 'nobody was asked', says: [unknown] },
  { why: 'nobody was asked, and no room is kept', reservation: false, says: [] },
  { why: 'it was promised a node', pod: at({ nominatedNodeName: 'node-b' }, web().build()), says: ['node-b nominated pods there are preempted for this one; it may still be scheduled elsewhere', unknown] },
  { why: 'its volumes are being bound, provisioned or reserved, but for one that is to be for another node', pod: at({ nominatedNodeName: 'node-b' }, mounting), claims: [selects('a', 'node-b'), selects('b', ''), selects('c', 'node-a')], reservation: false,
    says: ['node-b nominated its volumes are being bound for this node; not bound yet: shop/a, shop/b; see the events of claims and the storage provisioner'] },
  { why: 'no room is kept', running: running({}), says: [waits] },
  { why: 'room is kept that it has to leave, and some that it may take', pod: web().priority(5).build(), running: running({ reservations: [room({ priority: 5 }), room({ name: 'db-2', priority: 4 })] }), says: [`node-a kept-room cpu 500m, memory 1024 are reserved for shop/db-1 ${until}`, waits] },
  { why: 'a place alone is kept', running: running({ reservations: [room({ requests: {} })] }), says: [`node-a kept-room a pod slot is reserved for shop/db-1 ${until}`, waits] },
  { why: 'room is kept for it, whatever its priority', pod: web().priority(9).build(), running: running({ reservations: [room({ name: 'web-0' }), room({ namespace: 'other', name: 'web-0' })] }), says: [`node-a own-room cpu 500m, memory 1024 are reserved for this pod ${until}`, waits] },
  { why: 'it failed a moment ago', running: running({ pending: pending({ pool: 'backoff', attempts: 1, backoffUntil: '2026-01-01T00:00:02.000Z', flushAt: null }) }), says: ['shop/web-0 backoff tried once; in backoff after a failure, until 2026-01-01T00:00:02.000Z'] },
  { why: 'it is its turn soon', running: running({ pending: pending({ pool: 'active', attempts: 0, flushAt: null }) }), says: ['shop/web-0 active tried 0 times; waiting in the active queue, ordered by priority, then age'] },
  { why: 'it is being placed', running: running({ pending: pending({ pool: 'in-flight', flushAt: null }) }), says: ['shop/web-0 in-flight tried 3 times; being scheduled or bound right now'] },
  { why: 'others go for it', running: running({ pending: pending({ held: true, wakesOn: ['the preempted pods are deleted'] }) }), says: ['shop/web-0 held tried 3 times; waiting for preemption', 'shop/web-0 retried-when the preempted pods are deleted'] },
  { why: 'the running scheduler does not know it', running: running({ pending: undefined }), says: ['shop/web-0 not-queued it is not among the pending pods of the running scheduler'] },
  { why: 'the running scheduler does not list all', running: running({ pending: undefined, unlisted: 9_000 }), says: ['shop/web-0 not-listed unknown: the running scheduler lists only its first pending pods, and has 9000 more'] },
]; // prettier-ignore
const volumes = [{ metadata: { name: 'pv' }, spec: { claimRef: { namespace: 'shop', name: 'b', uid: 'b' } } }];
for (const { why, pod = web().build(), claims = [], reservation = true, running, says } of standing)
  test(`how a pod stands is told where ${why}`, () => {
    const facts = { pod, config: { ...config, reservation: { ...config.reservation, enabled: reservation } }, running, claims, volumes };
    assert.deepEqual(explainFacts(facts).map(({ object, reason, detail }) => `${object} ${reason} ${detail}`), says); // prettier-ignore
  });
