import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodSpec } from 'kubernetes-types/core/v1.js';
import { carriedBy } from '../../../../scheduler/cache/carried-terms.ts';
import { podInfoOf } from '../../../../scheduler/pod/pod-info.ts';
import {
  excessOf,
  MAX_CLAIMS,
  MAX_CONSTRAINTS,
  MAX_CONTAINERS,
  MAX_HOST_PORTS,
  MAX_NODE_REQUIREMENTS,
  MAX_NODE_VALUES,
  MAX_RESOURCES,
  MAX_RULE_PARTS,
  MAX_TERMS,
  MAX_TOLERATIONS,
} from '../../../../scheduler/pod/pod-limits.ts';
import { pod } from '../builders.ts';

const list = <T>(length: number, make: (at: number) => T): T[] => Array.from({ length }, (_, at) => make(at));
const term = (at: number) => ({ topologyKey: 'zone', labelSelector: { matchLabels: { app: `a${at}` } } });
const values = (count: number): string[] => list(count, (at) => `v${at}`);

const cases: { what: string; max: number; of: (count: number) => Partial<PodSpec>; says: string }[] = [
  {
    what: 'terms of pod affinity',
    max: MAX_TERMS,
    of: (count) => ({ affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: list(count, term) } } }),
    says: 'terms of pod affinity and anti-affinity',
  },
  {
    what: 'preferred terms and required ones together',
    max: MAX_TERMS,
    of: (count) => ({
      affinity: {
        podAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: list(count - 1, (at) => ({ weight: 1, podAffinityTerm: term(at) })),
        },
        podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term(0)] },
      },
    }),
    says: 'terms of pod affinity and anti-affinity',
  },
  {
    what: 'topology spread constraints',
    max: MAX_CONSTRAINTS,
    of: (count) => ({
      topologySpreadConstraints: list(count, (at) => ({ maxSkew: 1, topologyKey: `key-${at}`, whenUnsatisfiable: 'ScheduleAnyway' })),
    }),
    says: 'topology spread constraints',
  },
  {
    what: 'values in selectors of terms',
    max: MAX_RULE_PARTS,
    of: (count) => {
      const labelSelector = { matchExpressions: [{ key: 'app', operator: 'In', values: values(count - 1) }] };
      return { topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector }] };
    },
    says: 'namespaces, labels and values in their selectors',
  },
  {
    what: 'labels of the node selector',
    max: MAX_NODE_REQUIREMENTS,
    of: (count) => ({ nodeSelector: Object.fromEntries(values(count).map((key) => [key, 'x'])) }),
    says: 'requirements of node selector and affinity',
  },
  {
    what: 'values of node affinity',
    max: MAX_NODE_VALUES,
    of: (count) => {
      const matchExpressions = [{ key: 'host', operator: 'NotIn', values: values(count) }];
      return {
        affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions }] } } },
      };
    },
    says: 'values of node affinity',
  },
  {
    what: 'tolerations',
    max: MAX_TOLERATIONS,
    of: (count) => ({ tolerations: values(count).map((key) => ({ key })) }),
    says: 'tolerations',
  },
  { what: 'containers', max: MAX_CONTAINERS, of: (count) => ({ containers: values(count).map((name) => ({ name })) }), says: 'containers' },
  {
    what: 'resources',
    max: MAX_RESOURCES,
    of: (count) => ({
      containers: [{ name: 'c', resources: { requests: Object.fromEntries(values(count).map((name) => [`x.io/${name}`, '1'])) } }],
    }),
    says: 'different resources',
  },
  {
    what: 'ports',
    max: MAX_HOST_PORTS,
    of: (count) => ({ containers: [{ name: 'c', ports: list(count, (at) => ({ containerPort: at + 1, hostPort: at + 1 })) }] }),
    says: 'container ports',
  },
  {
    what: 'claims',
    max: MAX_CLAIMS,
    of: (count) => ({ volumes: values(count).map((name) => ({ name, persistentVolumeClaim: { claimName: name } })) }),
    says: 'volumes that are claims or shared disks',
  },
];

for (const { what, max, of, says } of cases)
  test(`a pod may have ${max} ${what}, and is not scheduled with one more`, () => {
    const spec = (count: number): PodSpec => ({ containers: [], ...of(count) });
    assert.equal(excessOf(spec(max)), undefined);
    assert.equal(excessOf(spec(max + 1)), `pod has ${max + 1} ${says}, more than the ${max} that this scheduler supports`);
  });

test('of a pod on a node that has more terms than one may have, those count that keep others away, and then the first', () => {
  const terms = list(150, term);
  const preferred = terms.map((podAffinityTerm) => ({ weight: 1, podAffinityTerm }));
  const hostile = pod('hostile')
    .on('a')
    .affinity({
      podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: preferred },
      podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms },
    })
    .build();
  const { requiredAnti, preferred: kept } = podInfoOf(hostile).terms;
  assert.deepEqual([requiredAnti.length, kept.length], [150, MAX_TERMS - 150]);
  assert.equal(carriedBy(podInfoOf(hostile)).length, MAX_TERMS);
});

test('of a pod on a node one term with too many values counts no more, and those before it do', () => {
  const odd = {
    topologyKey: 'zone',
    labelSelector: { matchExpressions: [{ key: 'app', operator: 'In', values: values(MAX_RULE_PARTS) }] },
  };
  const hostile = pod('hostile').on('a');
  hostile.affinity({ podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term(1), odd, term(2)] } });
  assert.deepEqual(
    podInfoOf(hostile.build()).terms.requiredAnti.map(({ selector }) => selector),
    [[{ key: 'app', operator: 'in', values: ['a1'] }]],
  );
});

test('host ports of a pod on a node count up to as many as a pod may have', () => {
  const ports = list(MAX_HOST_PORTS + 100, (at) => ({ containerPort: at + 1, hostPort: at + 1 }));
  const hostile = pod('hostile')
    .on('a')
    .spec({ containers: [{ name: 'c', ports }] });
  assert.equal(podInfoOf(hostile.build()).ports.length, MAX_HOST_PORTS);
});
