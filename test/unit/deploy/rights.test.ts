import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rightsFor } from '../../../cli/controllers/rights.ts';
import type { Right } from '../../../cli/process/check-rights.ts';
import { schedulerRights } from '../../../cli/scheduler/rights.ts';
import { rolloutWorkload, controllers, scheduler, schedulerConfigText, schedulerWorkload, sets, setsWorkload } from '../../../deploy/deployments.ts'; // prettier-ignore
import { rolloutRights } from '../../../deploy/rights.ts';
import type { Workload } from '../../../deploy/workload.ts';
import type { KubeObject } from '../../../kube/api/object.ts';
import { parseSchedulerConfig } from '../../../scheduler/config/parse.ts';

interface Granting extends KubeObject {
  rules?: { apiGroups: string[]; resources: string[]; verbs: string[]; resourceNames?: string[] }[];
  roleRef?: { kind: string; name: string };
}

/** All that bound roles grant: `verb group/resource name namespace`, where nothing is all. */
function granted(objects: readonly Granting[], roles: readonly Granting[] = objects): string[] {
  const bound = objects.flatMap(({ roleRef, metadata: { namespace } }) =>
    roles.filter(({ kind, metadata }) => kind === roleRef?.kind && metadata.name === roleRef?.name && metadata.namespace === namespace),
  );
  const lines = bound.flatMap(({ rules = [], metadata: { namespace = '' } }) =>
    rules.flatMap(({ apiGroups, resources, verbs, resourceNames = [''] }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) =>
          verbs.flatMap((verb) => resourceNames.map((name) => `${verb} ${group}/${resource} ${name} ${namespace}`)),
        ),
      ),
    ),
  );
  return [...new Set(lines)].toSorted();
}

const needed = (rights: readonly Right[]): string[] =>
  rights
    .map(({ verb, group, resource, subresource, name = '', namespace }) => `${verb} ${group}/${resource}${subresource === undefined ? '' : `/${subresource}`} ${name} ${namespace}`)
    .toSorted(); // prettier-ignore

const periods = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 };
const lease = ({ lease: name }: Workload) => ({ namespace: 'dkc-system', name, ...periods });
const config = parseSchedulerConfig(schedulerConfigText);
assert.ok(config.ok);
const setOptions = { daemonSet: { placement: 'scheduler' }, statefulSet: {}, rollout: { configMapNamespace: 'dkc-system' } };
type Asking = Parameters<typeof rightsFor>[0];

const cases = [
  { of: schedulerWorkload, objects: scheduler('dkc', 36), rights: schedulerRights(config.config, lease(schedulerWorkload)) },
  {
    of: setsWorkload,
    objects: sets('dkc', 36),
    rights: rightsFor({ ...setOptions, controllers: ['daemonset', 'statefulset'], leaderElect: lease(setsWorkload) } as unknown as Asking),
  },
  {
    of: rolloutWorkload,
    objects: controllers('dkc', 36),
    roles: [...rolloutRights(), ...controllers('dkc', 36)],
    rights: rightsFor({ ...setOptions, controllers: ['rollout'], leaderElect: lease(rolloutWorkload) } as unknown as Asking),
  },
];
/** Events about a Lease are created in its namespace, which nothing asks about at the start. */
const OF_LEASE = / \/events {2}dkc-system$/;
for (const { of, objects, rights, roles } of cases)
  test(`${of.name} is granted what it asks for with its arguments, and no more`, () => {
    assert.deepEqual(granted(objects, roles).filter((line) => !OF_LEASE.test(line)), needed(rights)); // prettier-ignore
  });
