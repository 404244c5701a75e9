import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exchangesOf, type Here } from './contract-world.ts';
import { text } from '../api-http.ts';

// Another scheduler's, so that none takes it.
const spec = '{schedulerName: nobody, containers: [{name: c, image: example/image}], automountServiceAccountToken: false}';
const target = (name: string) =>
  `{apiVersion: v1, kind: Binding, metadata: {name: ${name}}, target: {apiVersion: v1, kind: Node, name: contract-node}}`;
const made = (name: string, metadata = '') =>
  `POST PODS | {metadata: {name: ${name}, labels: {app: ${name}}${metadata}}, spec: ${spec}} | 201 |`;
const bound = (name: string) => `${made(name)}\n POST PODS/${name}/binding | ${target(name)} | 201 |`;
// No kubelet ends them, and a namespace waits for its pods.
const ended = 'DELETE PODS | {gracePeriodSeconds: 0} | 200 |';

const ascending = (a: number, b: number): number => a - b;

/** Pods as a scheduler and a kubelet write them, and the leases and events of who does. */
export function podContract(here: Here): void {
  const exchange = exchangesOf(here);
  exchange('a pod is bound once, to a node with a name, and not while it goes')(`
    ${made('bound')}
    POST PODS/bound/binding?dryRun=All | ${target('bound')} | 201 | {status: Success}
    POST PODS/bound/binding | {apiVersion: v1, kind: Binding, metadata: {name: bound, annotations: {example.com/score: '7'}}, target: {kind: Node, name: contract-node}} | 201 |
    POST PODS/bound/binding | ${target('bound')}    | 409 Conflict | Operation cannot be fulfilled on pods/binding "bound": pod bound is already assigned to node "contract-node"
    POST PODS/none/binding  | ${target('none')}     | 404          |
    GET PODS/bound | | 200 | {spec: {nodeName: contract-node, restartPolicy: Always}, metadata: {annotations: {example.com/score: '7'}}, status: {phase: Pending, qosClass: BestEffort, conditions: [{type: PodScheduled, status: 'True'}]}}
    ${made('late', ', finalizers: [example.com/hold]')}
    DELETE PODS/late        |                       | 200          |
    POST PODS/late/binding  | ${target('late')}     | 409          |
    PATCH PODS/late         | {metadata: {finalizers: null}} | 200 |
    ${ended}
  `);

  exchange('a pod that is bound waits for its kubelet when it is deleted: a second delete shortens the grace and does not lengthen it')(`
    ${made('free')}
    DELETE PODS/free     |                          | 200 |
    GET PODS/free        |                          | 404 |
    ${bound('graceful')}
    DELETE PODS/graceful |                          | 200 | {metadata: {deletionGracePeriodSeconds: 30}}
    DELETE PODS/graceful | {gracePeriodSeconds: 20} | 200 | {metadata: {deletionGracePeriodSeconds: 20}}
    DELETE PODS/graceful | {gracePeriodSeconds: 25} | 200 | {metadata: {deletionGracePeriodSeconds: 20}}
    DELETE PODS/graceful | {gracePeriodSeconds: 0, preconditions: {uid: other}} | 409 |
    DELETE PODS/graceful | {gracePeriodSeconds: 0}  | 200 |
    GET PODS/graceful    |                          | 404 |
  `);

  exchange('a pod and its status do not write each other, and pods are selected by node and phase')(`
    ${bound('on-node')}
    ${made('nowhere')}
    PATCH PODS/on-node/status | {spec: {activeDeadlineSeconds: 5}, status: {phase: Running}} | 200 | {spec: {activeDeadlineSeconds: null}, status: {phase: Running}}
    PATCH PODS/on-node | {spec: {activeDeadlineSeconds: 7}, status: {phase: Failed}} | 200 | {spec: {activeDeadlineSeconds: 7}, status: {phase: Running}}
    GET PODS?fieldSelector=spec.nodeName%3Dcontract-node,status.phase!%3DFailed | | 200 | names: on-node
    GET PODS?fieldSelector=spec.nodeName%3D                                     | | 200 | names: nowhere
    GET PODS?fieldSelector=status.phase%3DPending,metadata.name!%3Don-node      | | 200 | names: nowhere
    GET PODS?fieldSelector=spec.schedulerName%3Dnobody,spec.restartPolicy%3DAlways | | 200 | names: nowhere on-node
    ${ended}
  `);

  exchange('events are one store under two groups')(`
    POST EVENTS | {metadata: {name: old.1}, involvedObject: {kind: ConfigMap, namespace: NS, name: x}, message: words, reason: Why, type: Normal, count: 2} | 201 |
    GET /apis/events.k8s.io/v1/namespaces/NS/events/old.1 | | 200 | {apiVersion: events.k8s.io/v1, note: words, regarding: {name: x}, deprecatedCount: 2}
    GET EVENTS?fieldSelector=involvedObject.name%3Dx,reason%3DWhy | | 200 | names: old.1
    POST EVENTS | {metadata: {name: old.2}, involvedObject: {kind: ConfigMap, namespace: default, name: x}} | 422
      | involvedObject.namespace: Invalid value: "default": does not match event.namespace
  `);

  exchange('a lease keeps its times to the microsecond, is updated with its version only, and says no nonsense')(`
    POST LEASES | {metadata: {name: lease}, spec: {acquireTime: '2030-01-02T03:04:05.678901Z', renewTime: '2030-01-02T03:04:06.000000Z'}} | 201 |
    GET LEASES/lease | | 200 | {spec: {acquireTime: '2030-01-02T03:04:05.678901Z', renewTime: '2030-01-02T03:04:06.000000Z'}}
    PUT LEASES/lease | {metadata: {name: lease}, spec: {holderIdentity: b}} | 422 | must be specified for an update
    PUT LEASES/lease | {metadata: {name: lease, resourceVersion: RV1}, spec: {holderIdentity: b}} | 200 | {spec: {holderIdentity: b}}
    POST LEASES | {metadata: {name: x}, spec: {leaseDurationSeconds: 0}} | 422 | spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0
    POST LEASES | {metadata: {name: x}, spec: {leaseTransitions: -1}} | 422 | spec.leaseTransitions: Invalid value: -1:
  `);

  test('of many who make or take the same lease at once one does, by update and by patch', async () => {
    const { api, namespace } = here();
    const leases = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
    const path = `${leases}/taken`;
    const eight = Array.from({ length: 8 }, (_, n) => n);
    const makers = await Promise.all(
      eight.map(() => api.post(leases, { metadata: { name: 'taken' }, spec: { leaseDurationSeconds: 15 } })),
    );
    assert.deepEqual(makers.map(({ code }) => code).toSorted(ascending), [201, ...eight.slice(1).map(() => 409)]);
    for (const way of ['put', 'patch'] as const) {
      const { name, resourceVersion } = (await api.get(path)).json['metadata'] ?? {};
      const lease = (n: number) => ({ metadata: { name, resourceVersion }, spec: { holderIdentity: `${way}-${n}` } });
      const codes = (await Promise.all(eight.map((n) => api[way](path, lease(n))))).map(({ code }) => code);
      assert.deepEqual(codes.toSorted(ascending), [200, ...eight.slice(1).map(() => 409)], way);
      assert.equal(text((await api.get(path)).json['spec']?.['holderIdentity']), `${way}-${codes.indexOf(200)}`);
    }
  });
}

/** Evictions, as whoever empties a node asks for them. No controller keeps the budgets: their status is what the tests say. */
export function evictionContract(here: Here): void {
  const exchange = exchangesOf(here);
  const running = (name: string, ready = 'True') =>
    `${bound(name)}\n PATCH PODS/${name}/status | {status: {phase: Running, conditions: [{type: Ready, status: '${ready}'}]}} | 200 |`;
  const counts = (name: string, allowed: number, healthy: number) =>
    `PATCH BUDGETS/${name}/status | {status: {observedGeneration: 1, disruptionsAllowed: ${allowed}, currentHealthy: ${healthy}, desiredHealthy: 1, expectedPods: 2}} | 200 |`;
  const budget = (name: string, of = name) =>
    `POST BUDGETS | {metadata: {name: ${name}}, spec: {minAvailable: 1, selector: {matchLabels: {app: ${of}}}}} | 201 |`;
  const evict = (pod: string, deleteOptions = '{gracePeriodSeconds: 0}', query = '') =>
    `POST PODS/${pod}/eviction${query} | {apiVersion: POLICY, kind: Eviction, metadata: {name: ${pod}}, deleteOptions: ${deleteOptions}}`;
  const refused = "429 TooManyRequests | Cannot evict pod as it would violate the pod's disruption budget.";

  exchange('an eviction that no budget minds leaves the pod to its kubelet; of another pod under its name it is 409')(`
    ${running('alone')}
    ${evict('alone', '{preconditions: {uid: other}}')} | 409 Conflict |
    POST PODS/alone/eviction | {apiVersion: POLICY, kind: Eviction, metadata: {name: somebody}} | 400 |
    ${evict('alone', '{gracePeriodSeconds: 20, preconditions: {uid: UID1}}')} | 201 | {kind: Status, status: Success}
    GET PODS/alone | | 200 | {metadata: {deletionGracePeriodSeconds: 20}}
    ${evict('alone')} | 201 |
    ${evict('alone')} | 404 |
  `);

  exchange('a budget counts who was evicted and refuses the next; a dry run counts nothing; one not looked at yet refuses, as do two')(`
    ${running('counted')}
    ${running('kept')}
    PATCH PODS/kept | {metadata: {labels: {app: counted}}} | 200 |
    ${budget('counted')}
    ${evict('kept')} | 429 | {details: {causes: [{reason: DisruptionBudget, message: The disruption budget counted is still being processed by the server.}]}}
    ${counts('counted', 1, 2)}
    ${evict('counted', '{gracePeriodSeconds: 0}', '?dryRun=All')} | 201 |
    ${evict('counted', '{dryRun: [All]}')} | 201 |
    GET BUDGETS/counted | | 200 | {status: {disruptionsAllowed: 1, disruptedPods: null}}
    ${evict('counted')} | 201 |
    GET BUDGETS/counted | | 200 | {status: {disruptionsAllowed: 0, disruptedPods: {kept: null}}}
    ${evict('kept')} | ${refused}
    ${budget('another', 'counted')}
    ${evict('kept')} | 500 | This pod has more than one PodDisruptionBudget
    GET PODS/kept | | 200 | {metadata: {deletionTimestamp: null}}
    DELETE BUDGETS/another | | 200 |
    ${ended}
  `);

  exchange('pods that do not run are nothing to a budget, and one that is not ready only where too few others are healthy')(`
    ${bound('pending')}
    ${budget('pending')}
    ${counts('pending', 0, 0)}
    ${evict('pending')} | 201 |
    ${bound('failed')}
    PATCH PODS/failed/status | {status: {phase: Failed}} | 200 |
    ${budget('failed')}
    ${counts('failed', 0, 0)}
    ${evict('failed')} | 201 |
    ${running('unready', 'False')}
    ${budget('unready')}
    ${counts('unready', 0, 0)}
    ${evict('unready')} | ${refused}
    ${counts('unready', 0, 1)}
    ${evict('unready')} | 201 |
    GET BUDGETS/unready | | 200 | {status: {disruptedPods: null}}
    ${running('going')}
    DELETE PODS/going | | 200 |
    ${budget('going')}
    ${counts('going', 0, 1)}
    ${evict('going')} | 201 |
  `);
}
