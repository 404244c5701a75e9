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

/** It passes the validation of a kubelet 1.20, which then dies of it: a static CPU manager with nothing reserved. */
export const killer = { cpuManagerPolicy: 'static' };
