import { accountUser, GROUP, NODE_GROUP, NODE_USER_PREFIX } from './rights.ts';
import type { KubeObject } from '../kube/api/object.ts';

const API_VERSION = 'admissionregistration.k8s.io/v1';
const NAME = 'nodeconfigs.dkc.dev';

const isStatus = `has(request.subResource) && request.subResource == 'status'`;
const mayAssign = `authorizer.group('${GROUP}').resource('nodeconfigs').check('update').allowed()`;

/**
 * Keeps a node to the status of its own NodeConfig, whatever roles allow: RBAC for the group of all nodes cannot restrict a node to its own object.
 * A node is a member of system:nodes, or the ServiceAccount with the name of the Node. Served from 1.30 on.
 */
export const admissionPolicy: readonly KubeObject[] = [
  {
    apiVersion: API_VERSION,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: NAME },
    spec: {
      failurePolicy: 'Fail',
      // The server's defaults are written out, so that applying the manifest again changes nothing.
      matchConstraints: {
        matchPolicy: 'Equivalent',
        namespaceSelector: {},
        objectSelector: {},
        resourceRules: [
          {
            apiGroups: [GROUP],
            apiVersions: ['*'],
            operations: ['CREATE', 'UPDATE', 'DELETE'],
            resources: ['nodeconfigs', 'nodeconfigs/status'],
            scope: '*',
          },
        ],
      },
      variables: [
        { name: 'isNode', expression: `'${NODE_GROUP}' in request.userInfo.groups` },
        {
          name: 'isOwn',
          expression: `request.userInfo.username in ['${NODE_USER_PREFIX}' + request.name, '${accountUser('')}' + request.name]`,
        },
        { name: 'isStatus', expression: isStatus },
      ],
      validations: [
        {
          expression: 'variables.isStatus || !(variables.isNode || variables.isOwn)',
          message: 'a node may not create, change or delete a NodeConfig, only write the status of its own',
          reason: 'Forbidden',
        },
        {
          // Users who may assign may repair a status too.
          expression: `!variables.isStatus || variables.isOwn || (!variables.isNode && ${mayAssign})`,
          message: 'the status of a NodeConfig may be written by the node with its name',
          reason: 'Forbidden',
        },
      ],
    },
  },
  {
    apiVersion: API_VERSION,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: NAME },
    spec: { policyName: NAME, validationActions: ['Deny'] },
  },
];
