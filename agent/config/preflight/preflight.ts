import { cappedFindings, type Finding, type HostFacts, type JsonObject, type KubeletFacts } from '../contract.ts';
import { Preflight } from '../rules/validation.ts';
import { checkCgroups, checkFiles, checkPodLogs, checkRuntime } from './files.ts';
import { checkEviction, checkReserved } from './allocatable.ts';
import { checkManagers } from './managers.ts';
import { checkHost } from './host.ts';
import { checkServer, checkTls, isAddress } from './server.ts';
import { SECOND } from '../../../base/go-duration.ts';
import { isObject, own, scalarText } from '../decode/document.ts';

/**
 * Finds values that pass the kubelet's validation but make it exit at its start, or never become healthy.
 * A host-dependent condition is an error where `host` shows that it fails, a warning where the fact is unknown.
 * @param defaulted - result of `applyDefaults` for the configuration with the flags applied
 */
export function preflightFatal(defaulted: JsonObject, host: HostFacts, kubelet: KubeletFacts): { errors: Finding[]; warnings: Finding[] } {
  const flight = new Preflight(defaulted, host, kubelet);
  checkServer(flight);
  checkTls(flight);
  checkRuntime(flight);
  checkStart(flight);
  checkFiles(flight);
  checkPodLogs(flight);
  checkManagers(flight);
  checkReserved(flight);
  checkEviction(flight);
  checkHost(flight);
  checkCgroups(flight);
  checkPods(flight);
  return { errors: cappedFindings(flight.findings), warnings: cappedFindings(flight.warnings) };
}

const MILLISECOND = SECOND / 1000n;

/** Numbers and lists that a kubelet accepts, but with which it exits or never registers. */
function checkStart(flight: Preflight): void {
  frequencies(flight);
  registration(flight);
  userNamespaces(flight);
  enforced(flight);
  imageLocks(flight);
  if (flight.text('systemCgroups') === '/') flight.add('systemCgroups', 'root-cgroup', 'must not be the root cgroup');
  const files = flight.number('maxOpenFiles');
  if (files > 0 && files < MIN_OPEN_FILES)
    flight.add('maxOpenFiles', 'open-files', `is below ${MIN_OPEN_FILES}: the kubelet cannot open what it needs to start`);
}

/** Measured with a kubelet 1.36.3: it exits at 20 and runs at 25. */
const MIN_OPEN_FILES = 25;

function frequencies(flight: Preflight): void {
  const [field, rule] = ['syncFrequency', 'frequency'];
  if (flight.duration(field) < 0n) flight.add(field, rule, 'must not be negative');
  if (flight.text('staticPodPath') !== '' && flight.duration('fileCheckFrequency') < 0n)
    flight.add('fileCheckFrequency', rule, 'must not be negative with staticPodPath');
  // From 1.35 on the kubelet's own validation rejects it.
  const flush = flight.value('logging.flushFrequency');
  if (flight.minor < 35 && (flight.duration('logging.flushFrequency') < 0n || (typeof flush === 'number' && flush < 0)))
    flight.add('logging.flushFrequency', rule, 'must not be negative');
  const status = flight.duration('nodeStatusUpdateFrequency');
  // Measured with 1.36.3: at 1ms the node never becomes Ready, at 5ms it does.
  if (status > 0n && status < 5n * MILLISECOND)
    flight.add('nodeStatusUpdateFrequency', rule, 'is below 5ms: the kubelet does nothing but report, and never gets Ready');
}

const MEDIA_TYPES = ['application/json', 'application/yaml', 'application/cbor', 'application/vnd.kubernetes.protobuf'];

/** Values for which the API server rejects the kubelet's Node, or never receives it. */
function registration(flight: Preflight): void {
  const type = flight.text('contentType');
  if (type !== '' && !MEDIA_TYPES.includes(type.split(';', 1)[0]?.trim() ?? ''))
    flight.add('contentType', 'media-type', `must be one of ${MEDIA_TYPES.join(', ')}: the kubelet cannot talk to its API server`);
  const seen = new Set<string>();
  for (const taint of flight.list('registerWithTaints').filter((one) => isObject(one))) {
    const key = JSON.stringify([scalarText(own(taint, 'key')), scalarText(own(taint, 'effect'))]);
    if (seen.has(key)) {
      flight.add('registerWithTaints', 'taint-twice', 'holds a key with the same effect twice: the API server refuses the Node');
      return;
    }
    seen.add(key);
  }
}

/** Number of IDs for user namespaces: 32 bits; the kubelet leaves the first range to the host. */
const ALL_IDS = 1n << 32n;

function userNamespaces(flight: Preflight): void {
  const field = 'userNamespaces.idsPerPod';
  const given = flight.value(field);
  // An entry of the user `kubelet` in /etc/subuid takes precedence over the field.
  if ((typeof given !== 'number' && typeof given !== 'bigint') || flight.host.kubeletSubIds === true) return;
  const ids = BigInt(given);
  if (ids <= 0n || !flight.gate('UserNamespacesSupport')) return;
  const left = ALL_IDS - ids;
  if (left % ids !== 0n) flight.add(field, 'ids-per-pod', 'must divide the 4294967296 IDs of a host evenly: use a power of two');
  else if (left / ids < BigInt(flight.number('maxPods')))
    flight.add(field, 'ids-per-pod', 'is too large: there are not enough IDs for maxPods pods');
}

/** An entry of enforceNodeAllocatable needs the reservation that it names. */
function enforced(flight: Preflight): void {
  const kinds = flight.texts('enforceNodeAllocatable');
  for (const [kind, field] of [
    ['kube-reserved', 'kubeReserved'],
    ['system-reserved', 'systemReserved'],
  ] as const)
    if (kinds.some((one) => one === kind || one === `${kind}-compressible`) && flight.entries(field).length === 0)
      flight.add(
        field,
        'enforced-empty',
        `is empty, and enforceNodeAllocatable names ${kind}: the kubelet has nothing to enforce, and exits`,
      );
}

/** Most images that a kubelet with as many locks pulls at a time. */
const IMAGE_LOCKS = 31;

/**
 * Up to 1.36 a kubelet that verifies credentials of images chooses one of `maxParallelImagePulls` locks by the image, and has 31 at most. No trial sees that:
 * it panics when it pulls one of the other images, at any time, and again each time it starts.
 */
function imageLocks(flight: Preflight): void {
  if (flight.minor < 37 && flight.number('maxParallelImagePulls') > IMAGE_LOCKS && flight.gate('KubeletEnsureSecretPulledImages'))
    flight.add(
      'maxParallelImagePulls',
      'image-locks',
      `must be ${IMAGE_LOCKS} or less with feature gate KubeletEnsureSecretPulledImages: a kubelet 1.${flight.minor} panics when it pulls some images`,
    );
}

/** Rules for values with which the kubelet runs but pods have problems, on any machine. */
export const POD_RULES: ReadonlySet<string> = new Set(['cgroup-driver', 'cluster-dns', 'eviction-share']);

/** Above this threshold, in percent, a node evicts pods nearly always; 100% disables a signal. */
const HIGH_SHARE = 80;

/** Values with which the kubelet starts but its pods do not. Only warnings: the kubelet stays healthy. */
function checkPods(flight: Preflight): void {
  const driver = flight.text('cgroupDriver');
  if (driver !== '' && driver !== 'systemd' && driver !== 'cgroupfs')
    flight.warn(
      'cgroupDriver',
      'cgroup-driver',
      'is neither systemd nor cgroupfs: the kubelet takes it for cgroupfs, and pods fail where the runtime uses systemd',
    );
  if (flight.texts('clusterDNS').some((address) => !isAddress(address)))
    flight.warn(
      'clusterDNS',
      'cluster-dns',
      'holds an entry that is not an IP address: the kubelet leaves it out, and pods have no DNS server from it',
    );
  for (const field of ['evictionHard', 'evictionSoft'])
    for (const [signal, given] of flight.entries(field)) {
      const share = typeof given === 'string' && given.endsWith('%') ? Number(given.slice(0, -1)) : Number.NaN;
      if (share >= HIGH_SHARE && share < 100)
        flight.warn(
          `${field}.${signal}`,
          'eviction-share',
          `is ${HIGH_SHARE}% or more: the node evicts pods unless nearly all of it is free`,
        );
    }
}
