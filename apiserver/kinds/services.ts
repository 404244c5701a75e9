import { isJsonObject } from '../../kube/api/json.ts';
import { type FieldError, invalidShown, notSupported, required } from '../errors.ts';
import { ageColumn, type Kind, nameColumn, type RuleContext, type Stored } from './kind.ts';
import { fieldAt, goTextList, labelErrors, listAt, nodeSelectorText, textAt } from './metadata-rules.ts';
import { mapField, mapItems, oneToMost, withDefaults } from './number-rules.ts';
import { typed } from './types/typed.ts';
import type { KubeObject } from '../../kube/api/object.ts';

const LABEL = '[a-z]([-a-z0-9]*[a-z0-9])?';
const labelRegExp = new RegExp(`^${LABEL}$`);

/** Errors of a DNS-1035 label, the name of a service: at most 63 characters, starts with a letter. */
function dns1035LabelProblems(value: string): string[] {
  const problems = value.length > 63 ? ['must be no more than 63 characters'] : [];
  if (!labelRegExp.test(value)) {
    problems.push(
      `a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '${LABEL}')`,
    );
  }
  return problems;
}

const DUAL_STACK = 21;

/** Addresses and node ports are assigned in order, only so that services look complete: nothing forwards to them here. */
function defaults(service: KubeObject, { release, stored }: RuleContext): KubeObject {
  const made = mapField(service, 'spec', (given) => {
    const spec = mapItems(withDefaults(given, { sessionAffinity: 'None', type: 'ClusterIP' }), 'ports', (port) => {
      const target = fieldAt(port, 'targetPort');
      const named = withDefaults(port, { protocol: 'TCP' });
      return target === 0 || target === '' ? { ...(isJsonObject(named) ? named : {}), targetPort: fieldAt(port, 'port') } : named;
    });
    const type = textAt(spec, 'type');
    const outside = type === 'NodePort' || type === 'LoadBalancer';
    const sticky = textAt(spec, 'sessionAffinity') === 'ClientIP';
    return withDefaults(spec, {
      ...(outside ? { externalTrafficPolicy: 'Cluster' } : {}),
      ...(sticky ? { sessionAffinityConfig: { clientIP: { timeoutSeconds: 10800 } } } : {}),
      ...(release < 22 || type === 'ExternalName' ? {} : { internalTrafficPolicy: 'Cluster' }),
      ...(release < DUAL_STACK || type === 'ExternalName' ? {} : families(spec)),
    });
  });
  return withAddresses(made, stored);
}

/** A headless service without a selector may have endpoints of both families. */
function families(spec: unknown): object {
  const isOpen = textAt(spec, 'clusterIP') === 'None' && !isJsonObject(fieldAt(spec, 'selector'));
  if (isOpen) return { ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'RequireDualStack' };
  return { ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' };
}

function withAddresses(service: KubeObject, stored: Stored): KubeObject {
  const { spec } = service;
  const type = textAt(spec, 'type');
  const others = stored.list('/services').objects.filter(({ metadata }) => !isSame(metadata, service.metadata));
  let made = service;
  // Every type but ExternalName gets a cluster IP.
  if (type !== 'ExternalName' && textAt(spec, 'clusterIP') === '' && listAt(spec, 'ports').length > 0) {
    made = mapField(made, 'spec', (one) => ({ ...(isJsonObject(one) ? one : {}), clusterIP: freeAddress(others) }));
  }
  const address = textAt(made, 'spec', 'clusterIP');
  if (address !== '') made = mapField(made, 'spec', (one) => withDefaults(one, { clusterIPs: [address] }));
  if (type !== 'NodePort' && type !== 'LoadBalancer') return made;
  const taken = new Set(others.flatMap((other) => listAt(other, 'spec', 'ports').map((port) => fieldAt(port, 'nodePort'))));
  return mapField(made, 'spec', (one) =>
    mapItems(one, 'ports', (port) => {
      if (fieldAt(port, 'nodePort') !== undefined) return port;
      let free = 30_000;
      while (taken.has(free)) free += 1;
      taken.add(free);
      return withDefaults(port, { nodePort: free });
    }),
  );
}

function isSame(left: KubeObject['metadata'], right: KubeObject['metadata']): boolean {
  return left.name === right.name && left.namespace === right.namespace;
}

/** The first free address of 10.96.0.0/16; 10.96.0.1 belongs to the API server. */
function freeAddress(others: readonly KubeObject[]): string {
  const taken = new Set(others.map((other) => textAt(other, 'spec', 'clusterIP')));
  for (let number = 2; number < 65_535; number++) {
    const address = `10.96.${number >> 8}.${number & 255}`;
    if (!taken.has(address)) return address;
  }
  return '';
}

const types = ['ExternalName', 'ClusterIP', 'NodePort', 'LoadBalancer'];
const protocols = ['SCTP', 'TCP', 'UDP'];

function validate(service: KubeObject): FieldError[] {
  const { spec } = service;
  const type = textAt(spec, 'type');
  const ports = listAt(spec, 'ports');
  const errors: FieldError[] = [];
  if (ports.length === 0 && textAt(spec, 'clusterIP') !== 'None' && type !== 'ExternalName') errors.push(required('spec.ports', ''));
  if (type === 'ExternalName' && textAt(spec, 'externalName') === '') errors.push(required('spec.externalName', ''));
  ports.forEach((port, at) => errors.push(...portErrors(port, `spec.ports[${at}]`, ports.length > 1)));
  errors.push(...labelErrors(fieldAt(spec, 'selector'), 'spec.selector'));
  const affinity = textAt(spec, 'sessionAffinity');
  if (!['ClientIP', 'None'].includes(affinity)) errors.push(notSupported('spec.sessionAffinity', affinity, ['ClientIP', 'None']));
  if (!types.includes(type)) errors.push(notSupported('spec.type', type, types));
  return errors;
}

function portErrors(port: unknown, path: string, needsName: boolean): FieldError[] {
  const [name, protocol, target] = [textAt(port, 'name'), textAt(port, 'protocol'), fieldAt(port, 'targetPort')];
  const errors: FieldError[] = [];
  if (name === '' && needsName) errors.push(required(`${path}.name`, ''));
  errors.push(...oneToMost(fieldAt(port, 'port'), `${path}.port`, 65535));
  if (!protocols.includes(protocol)) errors.push(notSupported(`${path}.protocol`, protocol, protocols));
  if (typeof target === 'number') errors.push(...oneToMost(target, `${path}.targetPort`, 65535));
  return errors;
}

function unchanged(now: KubeObject, old: KubeObject): FieldError[] {
  const [address, before] = [textAt(now, 'spec', 'clusterIP'), textAt(old, 'spec', 'clusterIP')];
  const fixed = textAt(now, 'spec', 'type') !== 'ExternalName' && textAt(old, 'spec', 'type') !== 'ExternalName';
  if (!fixed || before === '' || address === before) return [];
  return [invalidShown('spec.clusterIPs[0]', goTextList([address]), 'may not change once set', [address])];
}

/** Keeps assigned addresses and ports that an update omits. */
function keepAddresses(service: KubeObject, old: KubeObject): KubeObject {
  if (textAt(service, 'spec', 'type') === 'ExternalName') return service;
  const { clusterIP, clusterIPs } = isJsonObject(old['spec']) ? old['spec'] : {};
  return mapField(service, 'spec', (spec) =>
    withDefaults(spec, { ...(clusterIP ? { clusterIP } : {}), ...(clusterIPs && !fieldAt(spec, 'clusterIP') ? { clusterIPs } : {}) }),
  );
}

function externalAddresses({ spec, status }: KubeObject): string {
  if (textAt(spec, 'type') === 'ExternalName') return textAt(spec, 'externalName');
  const balanced = listAt(status, 'loadBalancer', 'ingress').map((one) => textAt(one, 'ip') || textAt(one, 'hostname'));
  const own = [...balanced, ...listAt(spec, 'externalIPs').map(String)];
  return own.length > 0 ? own.join(',') : textAt(spec, 'type') === 'LoadBalancer' ? '<pending>' : '<none>';
}

function portsText({ spec }: KubeObject): string {
  const texts = listAt(spec, 'ports').map((port) => {
    const outside = textAt(port, 'nodePort');
    return `${textAt(port, 'port')}${outside === '' ? '' : `:${outside}`}/${textAt(port, 'protocol')}`;
  });
  return texts.join(',') || '<none>';
}

export const services: Kind = {
  resource: 'services',
  singular: 'service',
  kind: 'Service',
  served: [{ group: '', version: 'v1' }],
  namespaced: true,
  verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
  shortNames: ['svc'],
  categories: ['all'],
  hasStatus: true,
  nameProblems: dns1035LabelProblems,
  defaults,
  prepareCreate: (service) => ({ ...service, status: { loadBalancer: {} } }),
  prepareUpdate: (service, old) => keepAddresses(service, old),
  validate,
  validateUpdate: (now, old, { subresource }) => (subresource === 'status' ? [] : [...unchanged(now, old), ...validate(now)]),
  columns: [
    nameColumn,
    { name: 'Type', description: 'Type of the service.', cell: (service) => textAt(service, 'spec', 'type') },
    { name: 'Cluster-IP', description: 'Address inside the cluster.', cell: (service) => textAt(service, 'spec', 'clusterIP') || '<none>' },
    { name: 'External-IP', description: 'Addresses outside the cluster.', cell: externalAddresses },
    { name: 'Port(s)', description: 'Ports of the service.', cell: portsText },
    ageColumn,
    {
      name: 'Selector',
      wide: true,
      description: 'Labels of its pods.',
      cell: (service) => nodeSelectorText(fieldAt(service, 'spec', 'selector')),
    },
  ],
  schema: typed('Service', 'Gives a set of pods one name.'),
};
