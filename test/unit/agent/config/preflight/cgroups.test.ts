import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HostFacts } from '../../../../../agent/config/contract.ts';
import { pathsToProbe } from '../../../../../agent/config/preflight/files.ts';
import { defaulted, preflighted } from '../../../../support/preflighted.ts';

const ENFORCED =
  'resolvConf: ""\nkubeReservedCgroup: /a/kube-let.slice\nenforceNodeAllocatable: [pods, kube-reserved]\nkubeReserved: {memory: 1Mi}\n';
const gone = { '/sys/fs/cgroup/a/kube-let.slice': 'missing', '/sys/fs/cgroup/kube.slice/kube-let.slice': 'missing' } as const;
const cgroups: { why: string; text: string; host: HostFacts; warnings: string[] }[] = [
  { why: 'is missing gives a warning', text: ENFORCED, host: { cgroupVersion: 2, paths: gone }, warnings: ['kubeReservedCgroup cgroup'] },
  { why: 'is not known gives a warning', text: ENFORCED, host: {}, warnings: ['kubeReservedCgroup cgroup'] },
  {
    why: 'is there for the driver cgroupfs is fine',
    text: ENFORCED,
    host: { cgroupVersion: 2, paths: { ...gone, '/sys/fs/cgroup/a/kube-let.slice': 'dir' } },
    warnings: [],
  },
  {
    why: 'is there for the driver systemd is fine',
    text: ENFORCED,
    host: { cgroupVersion: 2, paths: { ...gone, '/sys/fs/cgroup/kube.slice/kube-let.slice': 'dir' } },
    warnings: [],
  },
  {
    why: 'is there in version 1 is fine',
    text: ENFORCED,
    host: { cgroupVersion: 1, paths: { '/sys/fs/cgroup/memory/kube.slice/kube-let.slice': 'dir' } },
    warnings: [],
  },
  {
    why: 'is only where version 1 would have it gives a warning',
    text: ENFORCED,
    host: { cgroupVersion: 2, paths: { ...gone, '/sys/fs/cgroup/memory/a/kube-let.slice': 'dir' } },
    warnings: ['kubeReservedCgroup cgroup'],
  },
  { why: 'nothing is enforced on is not looked at', text: 'resolvConf: ""\nkubeReservedCgroup: /a', host: {}, warnings: [] },
  {
    why: 'holds the system gives a warning',
    text: 'resolvConf: ""\nsystemReservedCgroup: sys\nenforceNodeAllocatable: [system-reserved-compressible]\nsystemReserved: {cpu: 1m}',
    host: {},
    warnings: ['systemReservedCgroup cgroup'],
  },
  { why: 'is the root of all is not looked at', text: 'resolvConf: ""\ncgroupRoot: /', host: {}, warnings: [] },
  { why: 'is a root of pods gives a warning', text: 'resolvConf: ""\ncgroupRoot: /k', host: {}, warnings: ['cgroupRoot cgroup'] },
  {
    why: 'is the root of pods but unused is not looked at',
    text: 'resolvConf: ""\ncgroupRoot: /k\ncgroupsPerQOS: false\nenforceNodeAllocatable: []',
    host: {},
    warnings: [],
  },
];
for (const { why, text, host, warnings } of cgroups)
  test(`a cgroup that ${why}`, () => assert.deepEqual(preflighted(text, host), { errors: [], warnings }));

test('cgroups are asked for in both versions and under both drivers, and never outside of them', () => {
  assert.deepEqual(pathsToProbe(defaulted(`${ENFORCED}cgroupRoot: /x-y/z`)), [
    '/sys/fs/cgroup/memory/x-y/z',
    '/sys/fs/cgroup/x-y/z',
    '/sys/fs/cgroup/memory/x_y.slice/x_y-z.slice',
    '/sys/fs/cgroup/x_y.slice/x_y-z.slice',
    '/sys/fs/cgroup/memory/a/kube-let.slice',
    '/sys/fs/cgroup/a/kube-let.slice',
    '/sys/fs/cgroup/memory/kube.slice/kube-let.slice',
    '/sys/fs/cgroup/kube.slice/kube-let.slice',
  ]);
  const above = pathsToProbe(defaulted('resolvConf: ""\ncgroupRoot: /../../etc'));
  assert.deepEqual(above.slice(0, 2), ['/sys/fs/cgroup/memory/etc', '/sys/fs/cgroup/etc']);
});
