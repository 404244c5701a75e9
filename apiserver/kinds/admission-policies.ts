import { dnsSubdomainProblems } from '../../kube/api/names.ts';
import { anything, object, ref } from '../openapi/schema.ts';
import { ageColumn, nameColumn } from './column.ts';
import type { Kind } from './kind.ts';

const common = {
  served: [{ group: 'admissionregistration.k8s.io', version: 'v1', since: 30 }],
  namespaced: false,
  hasGeneration: true,
  nameProblems: dnsSubdomainProblems,
  columns: [nameColumn, ageColumn],
  schema: object('Admission policy; this server stores it and does not evaluate it.', {
    metadata: ref('ObjectMeta', 'Standard object metadata.'),
    spec: anything('Specification of the policy.'),
  }),
} satisfies Partial<Kind>;

/** Stored only: this server evaluates no CEL. It is there so that manifests with policies can be applied. */
export const validatingAdmissionPolicies: Kind = {
  ...common,
  resource: 'validatingadmissionpolicies',
  singular: 'validatingadmissionpolicy',
  kind: 'ValidatingAdmissionPolicy',
};

/** Stored only, as the policies are. */
export const validatingAdmissionPolicyBindings: Kind = {
  ...common,
  resource: 'validatingadmissionpolicybindings',
  singular: 'validatingadmissionpolicybinding',
  kind: 'ValidatingAdmissionPolicyBinding',
};
