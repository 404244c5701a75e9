import { isPathAllowed, rulesOf, whyNot } from '../auth/authorize.ts';
import type { User } from '../auth/authenticate.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import { ageColumn, type Kind, nameColumn, type RuleContext } from './kind.ts';
import { fieldAt, listAt, textAt } from './metadata-rules.ts';
import { typed } from './types/typed.ts';
import { dnsSubdomainProblems } from '../../kube/api/names.ts';
import { anything, object, ref } from '../openapi/schema.ts';

/*
 * Reviews for `kubectl auth can-i`: what the user of the request may do.
 */

function access(review: KubeObject, user: User, { stored }: RuleContext): KubeObject {
  const attributes = fieldAt(review, 'spec', 'resourceAttributes');
  const [verb, group, version, resource, subresource, namespace, name] = [
    'verb',
    'group',
    'version',
    'resource',
    'subresource',
    'namespace',
    'name',
  ].map((field) => textAt(attributes, field));
  const path = fieldAt(review, 'spec', 'nonResourceAttributes');
  const allowed =
    path === undefined
      ? whyNot(
          stored,
          user,
          // A review may name any verb or resource; unknown ones are allowed only by `*`.
          {
            verb: (verb ?? '') as 'get',
            group: group ?? '',
            version: version ?? '',
            resource: resource ?? '',
            subresource: subresource ?? '',
            namespace: namespace ?? '',
            name: name ?? '',
          },
          new URLSearchParams(),
        ) === undefined
      : isPathAllowed(stored, user, textAt(path, 'verb'), textAt(path, 'path'));
  return { ...review, metadata: {}, status: { allowed } };
}

function rules(review: KubeObject, user: User, { stored }: RuleContext): KubeObject {
  const found = rulesOf(stored, user, textAt(review, 'spec', 'namespace'));
  const all = user.groups.includes('system:masters')
    ? [
        { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
        { verbs: ['*'], nonResourceURLs: ['*'] },
      ]
    : [];
  const every = [...all, ...found];
  const isPath = (rule: unknown) => listAt(rule, 'nonResourceURLs').length > 0;
  const status = {
    resourceRules: every.filter((rule) => !isPath(rule)),
    nonResourceRules: every.filter((rule) => isPath(rule)),
    incomplete: false,
  };
  return { ...review, metadata: {}, status };
}

const review = {
  namespaced: false,
  verbs: ['create'],
  nameProblems: () => [],
  columns: [nameColumn],
} as const;

export const selfSubjectAccessReviews: Kind = {
  ...review,
  served: [{ group: 'authorization.k8s.io', version: 'v1' }],
  resource: 'selfsubjectaccessreviews',
  singular: 'selfsubjectaccessreview',
  kind: 'SelfSubjectAccessReview',
  answer: access,
  schema: typed('SelfSubjectAccessReview', 'Checks whether the current user may perform an action.'),
};

export const selfSubjectRulesReviews: Kind = {
  ...review,
  served: [{ group: 'authorization.k8s.io', version: 'v1' }],
  resource: 'selfsubjectrulesreviews',
  singular: 'selfsubjectrulesreview',
  kind: 'SelfSubjectRulesReview',
  answer: rules,
  schema: typed('SelfSubjectRulesReview', 'Lists the actions that the current user may perform in a namespace.'),
};

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

/** Stored only, so that manifests with policies can be applied: this server does not evaluate CEL. */
export const validatingAdmissionPolicies: Kind = {
  ...common,
  resource: 'validatingadmissionpolicies',
  singular: 'validatingadmissionpolicy',
  kind: 'ValidatingAdmissionPolicy',
};

/** Stored only, like the policies. */
export const validatingAdmissionPolicyBindings: Kind = {
  ...common,
  resource: 'validatingadmissionpolicybindings',
  singular: 'validatingadmissionpolicybinding',
  kind: 'ValidatingAdmissionPolicyBinding',
};
