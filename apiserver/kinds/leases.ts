import { dnsSubdomainProblems } from '../../kube/api/names.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import type { FieldError } from '../errors.ts';
import { invalidValue } from '../errors.ts';
import { int32, object, ref, text, time } from '../openapi/schema.ts';
import { ageColumn, nameColumn } from './column.ts';
import type { Kind } from './kind.ts';
import { fieldAt, textAt } from './metadata-rules.ts';

function validate(lease: KubeObject): FieldError[] {
  const errors: FieldError[] = [];
  const duration = fieldAt(lease, 'spec', 'leaseDurationSeconds');
  if (typeof duration === 'number' && duration <= 0) {
    errors.push(invalidValue('spec.leaseDurationSeconds', duration, 'must be greater than 0'));
  }
  const transitions = fieldAt(lease, 'spec', 'leaseTransitions');
  if (typeof transitions === 'number' && transitions < 0) {
    errors.push(invalidValue('spec.leaseTransitions', transitions, 'must be greater than or equal to 0'));
  }
  return errors;
}

export const leases: Kind = {
  resource: 'leases',
  singular: 'lease',
  kind: 'Lease',
  served: [{ group: 'coordination.k8s.io', version: 'v1' }],
  namespaced: true,
  needsVersion: true,
  nameProblems: dnsSubdomainProblems,
  validate,
  columns: [
    nameColumn,
    { name: 'Holder', description: 'Who holds the lease.', cell: (lease) => textAt(lease, 'spec', 'holderIdentity') },
    ageColumn,
  ],
  schema: object('Who does something, and until when.', {
    metadata: ref('ObjectMeta', 'Name, labels and the like.'),
    spec: object('The lease.', {
      holderIdentity: text('Who holds it.'),
      leaseDurationSeconds: int32('How long others have to wait after the last renewal.'),
      acquireTime: time('When it was taken.'),
      renewTime: time('When it was last renewed.'),
      leaseTransitions: int32('How often it changed hands.'),
    }),
  }),
};
