const KINDS = 'the embedded server has the kinds that we need';
const MANAGERS = 'the embedded server keeps managedFields of server-side apply only';
const WISHED = 'a real server drops configSource and keeps in managedFields who asked for it, so kubectl sees a change';
const TYPES =
  'the embedded server names the field that has the wrong type, and answers 400; 1.20 shows what its decoder read, and 422 for patches';
const WORDS = 'the embedded server has its own descriptions of fields';

type Differences = Readonly<Record<string, string>>;

/** In every release. */
const always: Differences = {
  'api-versions': KINDS,
  'api-resources --namespaced=false -o name': KINDS,
  'apply -f cm-wrong-type.yaml --validate=false': TYPES,
  'patch configmap applied -n shop --type=merge -p {"data":{"c":7}}': TYPES,
  'get widgets -n shop -o name': 'a real server says in plain text that there is nothing at a path',
  'get configmaps -n shop -l  a in b': 'the embedded server says where in the selector it stopped reading',
  'patch pod web -n shop -p {"spec":{"restartPolicy":"Never"}}': 'the embedded server does not show both specs as Go prints them',
  'get events -n shop': 'the embedded server says how often, as later servers do',
  'get node node-0 -o yaml': 'a real server shows empty daemonEndpoints',
  'replace --raw /api/v1/nodes/node-0/status -f node-status.json': 'a real server shows empty daemonEndpoints',
  'explain node.spec.configSource.configMap': WORDS,
  'explain configmap.immutable': WORDS,
};

const of20: Differences = { 'diff -f cm-changed.yaml': MANAGERS };

const assigns = (source: object): string => `patch node node-0 -p ${JSON.stringify({ spec: { configSource: { configMap: source } } })}`;
const assigned = { namespace: 'shop', name: 'kubelet', kubeletConfigKey: 'kubelet' };

const of36: Differences = {
  [assigns(assigned)]: WISHED,
  [assigns({ ...assigned, uid: 'u' })]: WISHED,
  'apply -f cm-unknown-field.yaml':
    'the embedded server does not offer field validation, so kubectl finds the unknown field in the OpenAPI document',
};

/** Commands whose output differs on purpose on servers of release 1.`minor`, and why. Each must still differ. */
export const differencesOf = (minor: number): Differences => ({ ...always, ...(minor >= 34 ? of36 : of20) });
