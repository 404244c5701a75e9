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
    { name: 'Holder', description: 'Process that holds the lease.', cell: (lease) => textAt(lease, 'spec', 'holderIdentity') },
    ageColumn,
  ],
  schema: object('Records which process holds a task, and until when.', {
    metadata: ref('ObjectMeta', 'Standard object metadata.'),
    spec: object('Specification of the lease.', {
      holderIdentity: text('Identity of the holder.'),
      leaseDurationSeconds: int32('Seconds after the last renewal before another process may take the lease.'),
      acquireTime: time('When the current holder acquired the lease.'),
      renewTime: time('When the holder last renewed the lease.'),
      leaseTransitions: int32('Number of changes of the holder.'),
    }),
  }),
};
