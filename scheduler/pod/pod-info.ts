import { messageOf } from '../../base/errors.ts';
import { hostPortsOf, type HostPort } from '../../kube/api/pod-requests.ts';
import { objectKey, type Key } from '../../kube/cache/contract.ts';
import { controllerOf } from '../../kube/controller/owners.ts';
import type { Pod } from '../types.ts';
import { affinityTermsOf, noTerms, type AffinityTerms } from './selectors.ts';
import { MAX_HOST_PORTS } from './pod-limits.ts';
import { requestsOf, specAsTaken, type Requests } from './requests.ts';

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
  /** Why nothing can be read of it but who and where it is: then it takes nothing, and is given no place. */
  readonly unreadable?: string;
}

const none: Readonly<Record<string, string>> = {};
const noPorts: readonly HostPort[] = [];
const known = new WeakMap<Readonly<Pod>, PodInfo>();

/** @param pod - taken as one that never changes, as objects of a cache are. Never throws: see {@link PodInfo.unreadable} */
export function podInfoOf(pod: Readonly<Pod>): PodInfo {
  const seen = known.get(pod);
  if (seen !== undefined) return seen;
  let info: PodInfo;
  try {
    info = read(pod);
    // Asked all the time: better found here.
    controllerOf(pod);
  } catch (error) {
    info = { ...read(withoutDetails(pod)), unreadable: messageOf(error) };
  }
  known.set(pod, info);
  return info;
}

function read(pod: Readonly<Pod>): PodInfo {
  const { metadata, spec, status } = pod;
  const { namespace = '', name = '', uid = '' } = metadata;
  const ports = spec === undefined ? noPorts : hostPortsOf(spec);
  return {
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
}

function withoutDetails({ metadata, spec }: Readonly<Pod>): Pod {
  const { namespace, name, uid, resourceVersion, deletionTimestamp } = metadata;
  const { nodeName, schedulerName } = (spec ?? {}) as { nodeName?: string; schedulerName?: string };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...(namespace !== undefined && { namespace }),
      ...(name !== undefined && { name }),
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
      ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    },
    spec: { containers: [], ...(nodeName !== undefined && { nodeName }), ...(schedulerName !== undefined && { schedulerName }) },
  };
}
