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
  schema: object('Stored, and not evaluated.', {
    metadata: ref('ObjectMeta', 'Name, labels and the like.'),
    spec: anything('What it says.'),
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
