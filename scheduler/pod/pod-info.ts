import { hostPortsOf, type HostPort } from '../../kube/api/pod-requests.ts';
import { objectKey, type Key } from '../../kube/cache/contract.ts';
import type { Pod } from '../types.ts';
import { affinityTermsOf, noTerms, type AffinityTerms } from './affinity-terms.ts';
import { MAX_HOST_PORTS } from './pod-limits.ts';
import { requestsOf, type Requests } from './requests.ts';
import { specAsTaken } from './resizing.ts';

/** A pod, read once for all that the scheduler asks of it. Never changed. */
export interface PodInfo {
  readonly pod: Readonly<Pod>;
  readonly key: Key;
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** 0 where the pod has none. */
  readonly priority: number;
  readonly schedulerName: string;
  /** '' while it is nowhere. */
  readonly nodeName: string;
  readonly requests: Requests;
  readonly ports: readonly HostPort[];
  readonly terms: AffinityTerms;
  /** It is on its way out: it takes its room until it is gone, and is not counted when pods are spread. */
  readonly terminating: boolean;
}

const none: Readonly<Record<string, string>> = {};
const noPorts: readonly HostPort[] = [];
const known = new WeakMap<Readonly<Pod>, PodInfo>();

/** @param pod - taken as one that never changes, as objects of a cache are */
export function podInfoOf(pod: Readonly<Pod>): PodInfo {
  const seen = known.get(pod);
  if (seen !== undefined) return seen;
  const { metadata, spec, status } = pod;
  const { namespace = '', name = '', uid = '' } = metadata;
  const ports = spec === undefined ? noPorts : hostPortsOf(spec);
  const info: PodInfo = {
    pod,
    key: objectKey(pod),
    uid,
    namespace,
    name,
    labels: metadata.labels ?? none,
    priority: spec?.priority ?? 0,
    schedulerName: spec?.schedulerName ?? 'default-scheduler',
    nodeName: spec?.nodeName ?? '',
    requests: requestsOf(specAsTaken(spec ?? { containers: [] }, status)),
    ports: ports.length === 0 ? noPorts : ports.slice(0, MAX_HOST_PORTS),
    terms: spec?.affinity?.podAffinity || spec?.affinity?.podAntiAffinity ? affinityTermsOf(spec.affinity, namespace) : noTerms,
    terminating: metadata.deletionTimestamp !== undefined,
  };
  known.set(pod, info);
  return info;
}
