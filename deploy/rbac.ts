import type { KubeObject } from '../kube/api/object.ts';

const API_GROUP = 'rbac.authorization.k8s.io';
const API_VERSION = `${API_GROUP}/v1`;

/** A rule of a role. */
export interface Rule {
  apiGroups: string[];
  resources: string[];
  resourceNames?: string[];
  verbs: string[];
}

/** Who a binding is for. */
export type Subject = { kind: 'Group' | 'User'; name: string } | { kind: 'ServiceAccount'; name: string; namespace: string };

/** `verbs` are separated by blanks; `names` restricts the rule to these objects. */
export function rule(apiGroup: string, resource: string, verbs: string, names?: string[]): Rule {
  return { apiGroups: [apiGroup], resources: [resource], ...(names ? { resourceNames: names } : {}), verbs: verbs.split(' ') };
}

/** @param namespace - absent: a ClusterRole */
export function role(name: string, rules: readonly Rule[], namespace?: string): KubeObject {
  const kind = namespace === undefined ? 'ClusterRole' : 'Role';
  return { apiVersion: API_VERSION, kind, metadata: { name, ...(namespace === undefined ? {} : { namespace }) }, rules };
}

/** Binds the role of the same name and place. @param role - another one there. @param namespace - absent: a ClusterRoleBinding */
export function binding(name: string, subject: Subject, namespace?: string, role = name): KubeObject {
  const [kind, roleKind] = namespace === undefined ? ['ClusterRoleBinding', 'ClusterRole'] : ['RoleBinding', 'Role'];
  return {
    apiVersion: API_VERSION,
    kind,
    metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
    roleRef: { apiGroup: API_GROUP, kind: roleKind, name: role },
    subjects: [subject.kind === 'ServiceAccount' ? subject : { apiGroup: API_GROUP, ...subject }],
  };
}
