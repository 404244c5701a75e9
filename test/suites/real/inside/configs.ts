import { stringify } from 'yaml';
import { baseKubeletConfig } from '../../../support/real-parts/real-kubelet.ts';
import { releaseKubeletConfig } from '../../../support/real-parts/release-kubelet.ts';
import { CRI } from './names.ts';

/** The local config's; every other config has a number of its own, so `/configz` tells which one a kubelet runs. */
export const LOCAL_PODS = 100;

/** A whole configuration: the local one, with these fields over it. */
export const config = (fields: Readonly<Record<string, unknown>>): string =>
  stringify(baseKubeletConfig({ port: 10250, healthzPort: 10248, ...fields }));

/** The same for a kubelet of today's release. */
export const releaseConfig = (fields: Readonly<Record<string, unknown>>): string =>
  stringify(releaseKubeletConfig(CRI, { port: 10250, healthzPort: 10248, ...fields }));

/** Only what is to differ from the local one, for a node with `merge: overlay`. */
export const overlay = (fields: Readonly<Record<string, unknown>>): string =>
  stringify({ apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', ...fields });

export const localConfig = config({ maxPods: LOCAL_PODS });

/** A configuration that no kubelet survives, though each would pass its validation. */
export interface Killer {
  why: string;
  fields: Readonly<Record<string, unknown>>;
  /** By which preflight finds it. */
  rule: string;
  /** What stands in the last line of the kubelet that ran on it. */
  lastWords: string;
}

export const killers: readonly [Killer, ...Killer[]] = [
  {
    why: 'a static CPU manager with nothing reserved',
    fields: { cpuManagerPolicy: 'static' },
    rule: 'cpu-manager-reserved',
    lastWords: 'unable to determine reserved CPU resources for static policy',
  },
  {
    why: "another CPU manager policy than its state file's",
    fields: { cpuManagerPolicy: 'static', kubeReserved: { cpu: '100m' } },
    rule: 'cpu-manager-state',
    lastWords: 'configured policy "static" differs from state checkpoint policy "none"',
  },
  {
    why: 'a threshold that is no quantity',
    fields: { evictionHard: { 'memory.available': '100Mx' } },
    rule: 'quantity',
    lastWords: 'quantities must match the regular expression',
  },
  {
    why: 'a client CA file that is not there',
    fields: clientCa('/etc/kubernetes/ca.crt'),
    rule: 'file',
    lastWords: 'unable to load client CA file',
  },
  {
    why: 'kernel settings that are not its own',
    fields: { protectKernelDefaults: true },
    rule: 'sysctl',
    lastWords: 'invalid kernel flag',
  },
  {
    // It dies 25 ms after its health was ok for the first time.
    why: 'more reserved than the node has',
    fields: { systemReserved: { memory: '1000Ti' } },
    rule: 'reserved-capacity',
    lastWords: 'invalid Node Allocatable configuration',
  },
];

/** It lives, and its health never answers. */
export const neverHealthy = { why: 'no health ever', fields: { healthzBindAddress: 'foo' }, rule: 'ip' } as const;

export function clientCa(clientCAFile: string) {
  return { authentication: { anonymous: { enabled: true }, webhook: { enabled: false }, x509: { clientCAFile } } };
}
