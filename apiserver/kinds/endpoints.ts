import { dnsSubdomainProblems } from '../../kube/api/names.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import type { FieldError } from '../field-error.ts';
import { required } from '../field-error.ts';
import { ageColumn, nameColumn } from '../table/column.ts';
import type { Kind } from './kind.ts';
import { listAt, textAt } from './metadata-rules.ts';
import { mapItems, oneToMost, withDefaults } from './number-rules.ts';
import { typed } from './types/typed.ts';

const MAX_SHOWN = 3;

/** `10.0.0.1:80,10.0.0.2:80 + 5 more...` */
function addresses(endpoints: KubeObject): string {
  const all = listAt(endpoints, 'subsets').flatMap((subset) => {
    const ports = listAt(subset, 'ports');
    const ips = listAt(subset, 'addresses').map((one) => textAt(one, 'ip'));
    return ports.length === 0 ? ips : ports.flatMap((port) => ips.map((ip) => `${ip}:${textAt(port, 'port')}`));
  });
  if (all.length === 0) return '<none>';
  const rest = all.length - MAX_SHOWN;
  return `${all.slice(0, MAX_SHOWN).join(',')}${rest > 0 ? ` + ${rest} more...` : ''}`;
}

function validate(endpoints: KubeObject): FieldError[] {
  return listAt(endpoints, 'subsets').flatMap((subset, at) => {
    const path = `subsets[${at}]`;
    const errors: FieldError[] = [];
    if (listAt(subset, 'addresses').length === 0 && listAt(subset, 'notReadyAddresses').length === 0)
      errors.push(required(path, 'must specify `addresses` or `notReadyAddresses`'));
    listAt(subset, 'ports').forEach((port, which) => {
      errors.push(...oneToMost(Number(textAt(port, 'port')), `${path}.ports[${which}].port`, 65535));
    });
    return errors;
  });
}

export const endpoints: Kind = {
  resource: 'endpoints',
  singular: 'endpoints',
  kind: 'Endpoints',
  served: [{ group: '', version: 'v1' }],
  namespaced: true,
  shortNames: ['ep'],
  nameProblems: dnsSubdomainProblems,
  defaults: (one) => mapItems(one, 'subsets', (subset) => mapItems(subset, 'ports', (port) => withDefaults(port, { protocol: 'TCP' }))),
  validate,
  columns: [nameColumn, { name: 'Endpoints', description: 'Addresses and ports.', cell: addresses }, ageColumn],
  schema: typed('Endpoints', 'Where a service is.'),
};
