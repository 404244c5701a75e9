import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byRelease, exchangesOf, isRefused, type Here } from './contract-world.ts';
import { text } from '../api-http.ts';

const MAX_BYTES = 1024 * 1024;

/** What every kind has: create, read, update, patch, delete, lists and owners. */
export function objectContract(here: Here): void {
  const exchange = exchangesOf(here);
  test('a new object gets uid, version and time, and is read back as it was answered; generateName makes up a name', async () => {
    const { api, configMaps, namespace } = here();
    const { code, json } = await api.post(configMaps, { metadata: { generateName: 'made-' }, data: { a: '1' } });
    const { metadata } = json;
    assert.deepEqual([code, json['kind'], json['apiVersion'], metadata?.['namespace']], [201, 'ConfigMap', 'v1', namespace]);
    assert.match(text(metadata?.['name']), /^made-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    assert.match(text(metadata?.['uid']), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.match(text(metadata?.['resourceVersion']), /^\d+$/);
    assert.match(text(metadata?.['creationTimestamp']), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    assert.deepEqual((await api.get(`${configMaps}/${text(metadata?.['name'])}`)).json, json);
  });

  exchange('what is there already, or is not, or has a name that is none, is refused')(`
    POST CMS                                   | {metadata: {name: taken}}    | 201               |
    POST CMS                                   | {metadata: {name: taken}}    | 409 AlreadyExists | configmaps "taken" already exists
    POST /api/v1/namespaces/nowhere/configmaps | {metadata: {name: BAD}}      | 404 NotFound      | namespaces "nowhere" not found
    GET CMS/missing                            |                              | 404 NotFound      | configmaps "missing" not found
    PATCH CMS/missing                          | {}                           | 404 NotFound      | configmaps "missing" not found
    DELETE CMS/missing                         |                              | 404 NotFound      | configmaps "missing" not found
    POST CMS    | {metadata: {name: Not_Good}} | 422 Invalid | ConfigMap "Not_Good" is invalid: metadata.name: Invalid value: "Not_Good":
    POST CMS    | {metadata: {name: x, namespace: default}} | 400 | the namespace of the provided object does not match the namespace
    PUT CMS/taken | {metadata: {name: there}}  | 400 | the name of the object (there) does not match the name on the URL (taken)
    POST CMS    | {apiVersion: v1, kind: Secret, metadata: {name: x}} | 400 |
    POST CMS    | {metadata: {name: typed}, data: {a: 1}}             | 400 |
    GET /api/v1/nothing | | 404 |
    POST CMS/x  | {}   | 405 |
  `);

  exchange('an update or patch with an old version is 409, without one it wins, and one that changes nothing keeps the version')(`
    POST CMS        | {metadata: {name: raced}}                                         | 201          |
    PUT CMS/raced   | {metadata: {name: raced, resourceVersion: RV1}, data: {a: '1'}}   | 200          | {data: {a: '1'}}
    PUT CMS/raced   | {metadata: {name: raced, resourceVersion: RV1}, data: {a: '2'}}   | 409 Conflict
      | Operation cannot be fulfilled on configmaps "raced": the object has been modified; please apply your changes to the latest version and try again
    PATCH CMS/raced | {metadata: {resourceVersion: RV1}, data: {a: '2'}}                | 409 Conflict |
    PUT CMS/raced   | {metadata: {name: raced}, data: {a: '3'}} | 200 | {data: {a: '3'}, metadata: {uid: UID1}}
    PUT CMS/raced   | {metadata: {name: raced}, data: {a: '3'}} | 200 | {metadata: {resourceVersion: RV5}}
    PUT CMS/raced   | {metadata: {name: raced, uid: other}}     | 409 |
  `);

  exchange('a dry run answers and does nothing, whether the path or the body asks for it; one of another kind is refused')(`
    POST CMS?dryRun=All       | {metadata: {name: dry}}                        | 201 |
    POST CMS?dryRun=Some      | {metadata: {name: dry}}                        | 422 | dryRun: Unsupported value:
    GET CMS/dry               |                                                | 404 |
    POST CMS                  | {metadata: {name: wet, labels: {dry: delete}}} | 201 |
    DELETE CMS/wet?dryRun=All |                                                | 200 | {status: Success}
    DELETE CMS/wet            | {dryRun: [All]}                                | 200 | {status: Success}
    DELETE CMS/wet            | {dryRun: [Some]}                               | 422 | dryRun: Unsupported value:
    DELETE CMS?labelSelector=dry%3Ddelete&dryRun=All |                         | 200 |
    PATCH CMS/wet?dryRun=All  | {data: {a: '1'}}                               | 200 | {data: {a: '1'}}
    GET CMS/wet               |                                                | 200 | {data: null}
  `);

  exchange('a delete checks its preconditions and its policy, and a collection is deleted by selector')(`
    POST CMS           | {metadata: {name: guarded}}               | 201          |
    PATCH CMS/guarded  | {metadata: {labels: {group: x}}}          | 200          |
    DELETE CMS/guarded | {preconditions: {uid: other}}             | 409 Conflict |
    DELETE CMS/guarded | {preconditions: {resourceVersion: RV1}}   | 409 Conflict
      | the ResourceVersion in the precondition (RV1) does not match the ResourceVersion in record (RV2)
    DELETE CMS/guarded | {propagationPolicy: Sideways}             | 422          | DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy:
    DELETE CMS/guarded | {preconditions: {uid: UID1, resourceVersion: RV2}} | 200 | {status: Success, details: {uid: UID1}}
    POST CMS | {metadata: {name: one, labels: {group: x}}}         | 201          |
    POST CMS | {metadata: {name: two, labels: {group: y}}}         | 201          |
    DELETE CMS?labelSelector=group%3Dx |                           | 200          |
    GET CMS?labelSelector=group        |                           | 200          | names: two
  `);

  exchange('finalizers hold an object, which may still be changed, until they are gone')(`
    POST CMS        | {metadata: {name: held, finalizers: [example.com/a, example.com/b]}} | 201 |
    DELETE CMS/held |                                                  | 200 | {kind: ConfigMap}
    DELETE CMS/held |                                                  | 200 | {metadata: {resourceVersion: RV2}}
    PATCH CMS/held  | {data: {a: '1'}}                                 | 200 |
    POST CMS        | {metadata: {name: held}}                         | 409 |
    PATCH CMS/held  | {metadata: {finalizers: [example.com/b]}}        | 200 |
    GET CMS/held    |                                                  | 200 | {data: {a: '1'}}
    PATCH CMS/held  | {metadata: {finalizers: null}}                   | 200 |
    GET CMS/held    |                                                  | 404 |
  `);

  exchange('a ConfigMap has safe keys, and an immutable one keeps its data and its flag')(`
    POST CMS | {metadata: {name: bad}, data: {a/b: x}} | 422 | data[a/b]: Invalid value: "a/b": a valid config key must consist of
    POST CMS | {metadata: {name: bad}, data: {..: x}}  | 422 | data[..]: Invalid value: "..": must not be '..'
    POST CMS | {metadata: {name: bad}, data: {..x: x}} | 422 | data[..x]: Invalid value: "..x": must not start with '..'
    POST CMS | {metadata: {name: bad}, data: {a: x}, binaryData: {a: eA==}} | 422 | data[a]: Invalid value: "a": duplicate of key present in binaryData
    POST CMS         | {metadata: {name: fixed}, immutable: true, data: {a: '1'}} | 201 |
    PATCH CMS/fixed  | {data: {a: '2'}}                 | 422 | data: Forbidden: field is immutable when ´immutable´ is set
    PATCH CMS/fixed  | {immutable: null}                | 422 | immutable: Forbidden: field is immutable when ´immutable´ is set
    PATCH CMS/fixed  | {metadata: {labels: {a: b}}}     | 200 |
  `);

  test('a ConfigMap holds a mebibyte and no more', async () => {
    const { api, configMaps, release } = here();
    const says = byRelease(release, 'Too long: must have at most 1048576 bytes', 'Too long: may not be more than 1048576 bytes');
    const data = { a: 'x'.repeat(MAX_BYTES) };
    isRefused(await api.post(configMaps, { metadata: { name: 'full' }, data: { ...data, b: 'y' } }), 422, says);
    assert.equal((await api.post(configMaps, { metadata: { name: 'full' }, data })).code, 201);
    await api.delete(`${configMaps}/full`);
  });

  exchange('the three patches, each all or nothing')(`
    POST CMS         | {metadata: {name: steps}, data: {a: '1', b: '2'}}                       | 201 |
    PATCH CMS/steps  | {data: {a: null, c: '3'}}                                               | 200 | {data: {a: null, b: '2', c: '3'}}
    JSON CMS/steps   | [{op: test, path: /data/b, value: '2'}, {op: add, path: /data/a, value: '9'}] | 200 | {data: {a: '9', b: '2'}}
    JSON CMS/steps   | [{op: remove, path: /data/a}, {op: test, path: /data/b, value: x}]      | 422 |
    GET CMS/steps    |                                                                         | 200 | {data: {a: '9'}}
    POST NODES       | {metadata: {name: contract-strategic}}                                  | 201 |
    STRATEGIC NODES/contract-strategic/status | {status: {conditions: [{type: Ready, status: 'True'}, {type: Other, status: 'False'}]}} | 200 |
    STRATEGIC NODES/contract-strategic/status | {status: {conditions: [{type: Ready, status: 'False'}]}} | 200
      | {status: {conditions: [{type: Ready, status: 'False'}, {type: Other, status: 'False'}]}}
    DELETE NODES/contract-strategic |                                                          | 200 |
  `);

  const applied = (data: string) => `{apiVersion: v1, kind: ConfigMap, metadata: {name: applied}, data: ${data}}`;
  const part = (more: string) => `{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: part, annotations: ${more}}`;
  exchange('server-side apply creates, takes back what it no longer says, meets other managers, and owns what it says alone')(`
    APPLY CMS/applied?fieldManager=first             | ${applied("{a: '1', b: '2'}")} | 201 |
    APPLY CMS/applied?fieldManager=first             | ${applied("{a: '1'}")}         | 200 | {data: {a: '1', b: null}}
    APPLY CMS/applied?fieldManager=second            | ${applied("{a: '2'}")}         | 409 | Apply failed with 1 conflict: conflict with "first": .data.a
    APPLY CMS/applied?fieldManager=second&force=true | ${applied("{a: '2'}")}         | 200 | {data: {a: '2'}}
    APPLY CMS/applied                                | ${applied("{a: '3'}")}         | 422 |
    APPLY APPS/daemonsets/part?fieldManager=first    | ${part("{a: '1'}")}, spec: {selector: {matchLabels: {app: part}}, template: {metadata: {labels: {app: part}}, spec: {schedulerName: nobody, containers: [{name: main, image: app}]}}}} | 201 |
    APPLY APPS/daemonsets/part?fieldManager=second   | ${part("{b: '2'}")}}           | 200 | {metadata: {annotations: {a: '1', b: '2'}}}
    APPLY APPS/daemonsets/part?fieldManager=second   | ${part('{}')}}                 | 200 | {metadata: {annotations: {a: '1', b: null}}}
  `);

  const list = 'CMS?labelSelector=list';
  exchange('a list is in the order of names, has selections, and pages that show one version whatever happens in between')(`
    POST CMS | {metadata: {name: list-c, labels: {list: 'yes', vowel: 'no'}}}  | 201 |
    POST CMS | {metadata: {name: list-a, labels: {list: 'yes', vowel: 'yes'}}} | 201 |
    POST CMS | {metadata: {name: list-b, labels: {list: 'yes'}}}               | 201 |
    GET ${list}                                          | | 200 | names: list-a list-b list-c
    GET CMS?labelSelector=list%3Dyes,vowel%3Dyes         | | 200 | names: list-a
    GET CMS?labelSelector=list,vowel!%3Dyes              | | 200 | names: list-b list-c
    GET CMS?labelSelector=vowel%20in%20(yes,maybe)       | | 200 | names: list-a
    GET CMS?fieldSelector=metadata.name%3Dlist-c         | | 200 | names: list-c
    GET CMS?fieldSelector=metadata.name!%3Dlist-c&labelSelector=vowel | | 200 | names: list-a
    GET CMS?labelSelector=a%20in%20b                     | | 400 |
    GET CMS?fieldSelector=data.a%3D1                     | | 400 |
    GET ${list}&limit=2                                  | | 200 | names: list-a list-b
    DELETE CMS/list-c                                    | | 200 |
    POST CMS | {metadata: {name: list-bb, labels: {list: 'yes'}}} | 201 |
    GET ${list}&limit=2&continue=NEXT12     | | 200 | names: list-c
    GET ${list}                             | | 200 | names: list-a list-b list-bb
    GET ${list}&limit=2&continue=NEXT12&resourceVersion=RV4 | | 400 | specifying resource version is not allowed when using continue
    GET ${list}&limit=9&resourceVersion=RV4&resourceVersionMatch=Exact        | | 200 | names: list-a list-b list-c
    GET ${list}&limit=9&resourceVersion=RV14&resourceVersionMatch=NotOlderThan | | 200 | names: list-a list-b list-bb
    ~GET ${list}&limit=1&resourceVersion=0  | | 200 | {metadata: {continue: null}}
    GET CMS?limit=1&continue=broken         | | 400 |
    GET CMS?resourceVersion=900000000       | | 504 Timeout | Too large resource version: 900000000, current:
    GET CMS?resourceVersionMatch=Exact      | | 422 | resourceVersionMatch is forbidden unless resourceVersion is provided
    GET CMS?resourceVersionMatch=About&resourceVersion=1 | | 422 | Unsupported value: "About": supported values: "Exact", "NotOlderThan", ""
  `);

  test('what kubectl asks: a table, YAML, discovery, health and version; a stranger is 401', async () => {
    const { api, configMaps } = here();
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
    const { json } = await api.get(`${configMaps}?labelSelector=list&limit=1`, { accept });
    const columns = Object.values(json['columnDefinitions'] ?? {}).map((column) => column['name']);
    assert.deepEqual([json['kind'], columns], ['Table', ['Name', 'Data', 'Age']]);
    const [row] = Object.values(json['rows'] ?? {});
    assert.deepEqual(Object.values(row?.['cells'] ?? {}).slice(0, 2), ['list-a', 0]);
    assert.equal((await api.get(configMaps, { accept: 'image/png' })).code, 406);
    const yaml = { raw: 'metadata: {name: from-yaml}\n', type: 'application/yaml' };
    assert.equal((await api.call('POST', configMaps, yaml)).code, 201);
    assert.equal((await api.call('POST', configMaps, { raw: 'a=b', type: 'text/plain' })).code, 415);
    const resources = Object.values((await api.get('/api/v1')).json['resources'] ?? {});
    const nodes = resources.find((one) => text(one['name']) === 'nodes');
    assert.deepEqual([nodes?.['shortNames'], nodes?.['kind'], nodes?.['namespaced']], [['no'], 'Node', false]);
    for (const name of ['nodes/status', 'pods/binding', 'pods/eviction']) assert.ok(resources.some((one) => text(one['name']) === name));
    assert.equal((await api.get('/apis/coordination.k8s.io/v1')).json['kind'], 'APIResourceList');
    for (const path of ['/healthz', '/livez', '/readyz']) assert.equal((await api.get(path)).text, 'ok', path);
    assert.match(text((await api.get('/version')).json['gitVersion']), /^v1\.\d+/);
    assert.equal((await api.get(configMaps, { token: 'nobodys' })).json['reason'], 'Unauthorized');
  });

  exchange('the namespaces of a cluster are there and stay; another takes its content with it')(`
    GET /api/v1/namespaces/kube-system     |                                  | 200 | {status: {phase: Active}}
    DELETE /api/v1/namespaces/kube-system  |                                  | 403 | namespaces "kube-system" is forbidden: this namespace may not be deleted
    POST /api/v1/namespaces                | {metadata: {name: NS-going}}     | 201 |
    POST /api/v1/namespaces/NS-going/configmaps | {metadata: {name: inside}}  | 201 |
    DELETE /api/v1/namespaces/NS-going     |                                  | 200 |
    ~GET /api/v1/namespaces/NS-going/configmaps/inside |                      | 404 |
  `);

  ownerContract(here);
}

/** Owner references: what is refused, and what becomes of dependents. */
function ownerContract(here: Here): void {
  const exchange = exchangesOf(here);
  const wrong = (fields: string) =>
    `{metadata: {name: owned, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: o, uid: u, ${fields}}]}}`;
  exchange('owner references are held to their rules')(`
    POST CMS | ${wrong("apiVersion: ''").replace('apiVersion: v1, ', '')} | 422 | metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty
    POST CMS | ${wrong("kind: ''").replace('kind: ConfigMap, ', '')} | 422 | metadata.ownerReferences.kind: Invalid value: "":
    POST CMS | ${wrong("uid: ''").replace('uid: u, ', '')} | 422 | metadata.ownerReferences.uid: Invalid value: "":
    POST CMS | {metadata: {name: owned, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: o1, uid: u1, controller: true}, {apiVersion: v1, kind: ConfigMap, name: o2, uid: u2, controller: true}]}}
      | 422 | Only one reference can have Controller set to true.
  `);
  exchange('in the background the owner goes first, and what it owned follows, to any depth')(`
    POST CMS            | {metadata: {name: bg-owner}}                                 | 201 |
    POST CMS            | {metadata: {name: bg-child, ownerReferences: [OWNER1]}}      | 201 |
    POST CMS            | {metadata: {name: bg-grandchild, ownerReferences: [OWNER2]}} | 201 |
    DELETE CMS/bg-owner | {propagationPolicy: Background}                              | 200 | {status: Success}
    GET CMS/bg-owner    |                                                              | 404 |
    ~GET CMS/bg-grandchild |                                                           | 404 |
    ~GET CMS/bg-child   |                                                              | 404 |
  `);
  exchange('in the foreground the owner stays until what blocks it is gone')(`
    POST CMS            | {metadata: {name: fg-owner}}                                 | 201 |
    POST CMS            | {metadata: {name: fg-child, ownerReferences: [OWNER1], finalizers: [example.com/hold]}} | 201 |
    DELETE CMS/fg-owner | {propagationPolicy: Foreground}                              | 200 | {metadata: {finalizers: [foregroundDeletion]}}
    ~GET CMS/fg-child   |                                                              | 200 | {metadata: {deletionGracePeriodSeconds: 0}}
    GET CMS/fg-owner    |                                                              | 200 |
    PATCH CMS/fg-child  | {metadata: {finalizers: null}}                               | 200 |
    ~GET CMS/fg-child   |                                                              | 404 |
    ~GET CMS/fg-owner   |                                                              | 404 |
  `);
  exchange('an orphan loses the reference and stays, as does what has another owner left; what refers to nothing is collected')(`
    POST CMS            | {metadata: {name: or-owner}}                                  | 201 |
    POST CMS            | {metadata: {name: other-owner}}                               | 201 |
    POST CMS            | {metadata: {name: of-two, ownerReferences: [OWNER1, OWNER2]}}    | 201 |
    POST CMS            | {metadata: {name: orphan, ownerReferences: [OWNER1]}}         | 201 |
    DELETE CMS/or-owner | {propagationPolicy: Orphan}                                   | 200 | {metadata: {finalizers: [orphan]}}
    ~GET CMS/or-owner   |                                                               | 404 |
    GET CMS/orphan      |                                                               | 200 | {metadata: {ownerReferences: null, deletionTimestamp: null}}
    ~GET CMS/of-two     |                                                               | 200 | {metadata: {ownerReferences: [{name: other-owner}]}}
    DELETE CMS/other-owner | {propagationPolicy: Background}                            | 200 |
    ~GET CMS/of-two     |                                                               | 404 |
    POST CMS            | {metadata: {name: or-owner}}                                  | 201 |
    POST CMS            | {metadata: {name: of-another, ownerReferences: [OWNER1]}}     | 201 |
    ~GET CMS/of-another |                                                               | 404 |
    GET CMS/or-owner    |                                                               | 200 |
  `);
}
