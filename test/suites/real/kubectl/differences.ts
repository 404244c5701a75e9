const KINDS = 'the embedded server has the kinds that we need';
const MANAGERS = 'the embedded server keeps managedFields of server-side apply only';
const TYPES =
  'the embedded server names the field that has the wrong type, and answers 400; 1.20 shows what its decoder read, and 422 for patches';
const WORDS = 'the embedded server has its own descriptions of fields';

/** Commands whose output differs on purpose, and why. Each must still differ. */
export const differences: Readonly<Record<string, string>> = {
  'api-versions': KINDS,
  'api-resources --namespaced=false -o name': KINDS,
  'apply -f cm-wrong-type.yaml --validate=false': TYPES,
  'patch configmap applied -n shop --type=merge -p {"data":{"c":7}}': TYPES,
  'get widgets -n shop -o name': 'a real server says in plain text that there is nothing at a path',
  'diff -f cm-changed.yaml': MANAGERS,
  'get configmaps -n shop -l  a in b': 'the embedded server says where in the selector it stopped reading',
  'patch pod web -n shop -p {"spec":{"restartPolicy":"Never"}}': 'the embedded server does not show both specs as Go prints them',
  'get events -n shop': 'the embedded server says how often, as later servers do',
  'get node node-0 -o yaml': 'a real server shows empty daemonEndpoints',
  'replace --raw /api/v1/nodes/node-0/status -f node-status.json': 'a real server shows empty daemonEndpoints',
  'explain node.spec.configSource.configMap': WORDS,
  'explain configmap.immutable': WORDS,
};
