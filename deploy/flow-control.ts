import { GROUP, NODE_GROUP } from './names.ts';
import type { Subject } from './rights.ts';
import type { KubeObject } from '../kube/api/object.ts';

const API_VERSION = 'flowcontrol.apiserver.k8s.io/v1';
const AGENTS = 'dkc-agents';

/** Before `system-nodes` (500), in which the calls of kubelets are. */
const AGENT_PRECEDENCE = 450;
/** Before `service-accounts` (9000), and before the agents. */
const CONTROLLER_PRECEDENCE = 440;
/** First release (1.N) that serves flowcontrol.apiserver.k8s.io/v1. */
const FIRST_WITH_FLOW_CONTROL = 29;

const everything = { apiGroups: ['*'], resources: ['*'], verbs: ['*'], clusterScope: true, namespaces: ['*'] };

/**
 * Agents have seats of their own for what they ask about `dkc.dev`: all of them coming back at once keep no heartbeat of a kubelet waiting.
 * The controller counts among those of the control plane, as kube-controller-manager does.
 * @param release - N of the API server's release 1.N
 */
export function flowControl(controller: Subject, release: number): KubeObject[] {
  if (release < FIRST_WITH_FLOW_CONTROL) return [];
  return [
    {
      apiVersion: API_VERSION,
      kind: 'PriorityLevelConfiguration',
      metadata: { name: AGENTS },
      spec: {
        type: 'Limited',
        limited: {
          nominalConcurrencyShares: 10,
          lendablePercent: 50,
          limitResponse: { type: 'Queue', queuing: { queues: 64, handSize: 6, queueLengthLimit: 50 } },
        },
      },
    },
    schema(AGENTS, AGENTS, AGENT_PRECEDENCE, { kind: 'Group', group: { name: NODE_GROUP } }, { ...everything, apiGroups: [GROUP] }),
    ...asControlPlane(controller, release),
  ];
}

/** Has what a ServiceAccount asks counted among `workload-high`, as for components of the control plane. @param release - N of 1.N */
export function asControlPlane(subject: Subject, release: number): KubeObject[] {
  if (release < FIRST_WITH_FLOW_CONTROL) return [];
  const { name, namespace } = subject as Extract<Subject, { kind: 'ServiceAccount' }>;
  const who = { kind: 'ServiceAccount', serviceAccount: { name, namespace } };
  return [schema(name, 'workload-high', CONTROLLER_PRECEDENCE, who, everything)];
}

function schema(name: string, level: string, matchingPrecedence: number, subject: object, resources: object): KubeObject {
  return {
    apiVersion: API_VERSION,
    kind: 'FlowSchema',
    metadata: { name },
    spec: {
      priorityLevelConfiguration: { name: level },
      matchingPrecedence,
      distinguisherMethod: { type: 'ByUser' },
      rules: [{ subjects: [subject], resourceRules: [resources] }],
    },
  };
}
