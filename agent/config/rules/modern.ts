import { posix } from 'node:path';
import { quantity } from '../../../kube/api/quantity.ts';
import type { Json } from '../contract.ts';
import { isObject, own, scalarText } from '../decode/document.ts';
import { goUrlScheme, type Validator, wrongImagePattern } from './validation.ts';
import { goDuration, SECOND } from '../../../base/go-duration.ts';

/** Rules added after 1.20, for the node, its images, its server and its memory. */
export function validateModernNode(validator: Validator): void {
  images(validator);
  taints(validator);
  swap(validator);
  reservedMemory(validator);
  const { minor } = validator;
  if (minor >= 27 && validator.text('containerRuntimeEndpoint') === '')
    validator.add('containerRuntimeEndpoint', 'required', 'must not be empty');
  if (minor < 27 && validator.flag('seccompDefault') && !validator.gate('SeccompDefault'))
    validator.add('seccompDefault', 'gate', 'needs feature gate SeccompDefault');
  if (minor >= 32 && validator.flag('runOnce'))
    validator.add('runOnce', 'run-once', 'must not be true: the kubelet no longer has that mode');
  if (validator.flag('enableSystemLogQuery')) {
    if (!validator.gate('NodeLogQuery')) validator.add('enableSystemLogQuery', 'gate', 'needs feature gate NodeLogQuery');
    if (!validator.flag('enableSystemLogHandler'))
      validator.add('enableSystemLogQuery', 'log-handler', 'needs enableSystemLogHandler to be true');
  }
  const ids = validator.value('userNamespaces.idsPerPod');
  if (typeof ids === 'number' || typeof ids === 'bigint') {
    const value = BigInt(ids);
    if (value < 65_536n || value > 4_294_967_295n || value % 65_536n !== 0n) {
      validator.add('userNamespaces.idsPerPod', 'ids-per-pod', 'must be a multiple of 65536, from 65536 to 4294967295');
    }
  }
}

function images(validator: Validator): void {
  if (validator.minor >= 36 && validator.duration('imageMinimumGCAge') < 0n)
    validator.add('imageMinimumGCAge', 'not-negative', 'must not be negative');
  const oldest = validator.duration('imageMaximumGCAge');
  if (oldest !== 0n && !validator.gate('ImageMaximumGCAge'))
    validator.add('imageMaximumGCAge', 'gate', 'needs feature gate ImageMaximumGCAge');
  if (oldest < 0n) validator.add('imageMaximumGCAge', 'not-negative', 'must not be negative');
  if (oldest > 0n && oldest <= validator.duration('imageMinimumGCAge'))
    validator.add('imageMaximumGCAge', 'image-age-order', 'must exceed imageMinimumGCAge');
  const parallel = validator.value('maxParallelImagePulls');
  if (typeof parallel === 'number') {
    if (parallel < 1) validator.add('maxParallelImagePulls', 'positive', 'must be 1 or more');
    if (parallel > 1 && validator.flag('serializeImagePulls'))
      validator.add('maxParallelImagePulls', 'serial-pulls', 'may only exceed 1 when serializeImagePulls is false');
  }
  credentials(validator);
}

const VERIFICATION = ['NeverVerify', 'NeverVerifyPreloadedImages', 'NeverVerifyAllowlistedImages', 'AlwaysVerify'];

function credentials(validator: Validator): void {
  if (validator.minor < 33) return;
  const [field, listField] = ['imagePullCredentialsVerificationPolicy', 'preloadedImagesVerificationAllowlist'];
  const policy = validator.text(field);
  const allowed = validator.texts(listField);
  if (!validator.gate('KubeletEnsureSecretPulledImages')) {
    if (policy !== '') validator.add(field, 'gate', 'needs feature gate KubeletEnsureSecretPulledImages');
    if (allowed.length > 0) validator.add(listField, 'gate', 'needs feature gate KubeletEnsureSecretPulledImages');
    return;
  }
  if (!VERIFICATION.includes(policy)) validator.add(field, 'enum', `must be one of ${VERIFICATION.join(', ')}`);
  if (allowed.length > 0 && policy !== 'NeverVerifyAllowlistedImages') {
    validator.add(listField, 'allowlist-policy', `needs ${field} NeverVerifyAllowlistedImages`);
    return;
  }
  // The kubelet reports only the first invalid image.
  for (const image of allowed) {
    const [rule, text] = wrongImagePattern(image, validator.minor) ?? [];
    if (rule === undefined || text === undefined) continue;
    validator.add(listField, rule, text);
    return;
  }
}

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];
const NAME = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const PREFIX = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/;

function taints(validator: Validator): void {
  for (const taint of validator.list('registerWithTaints')) {
    if (!isObject(taint)) continue;
    const [key, value, effect] = [text(taint, 'key'), text(taint, 'value'), text(taint, 'effect')];
    const slash = key.indexOf('/');
    const fits = NAME.test(key.slice(slash + 1)) && (slash < 0 || PREFIX.test(key.slice(0, slash)));
    if (!fits || (value !== '' && !NAME.test(value)) || (effect !== '' && !EFFECTS.includes(effect))) {
      validator.add('registerWithTaints', 'taint', `must hold valid taints: a key, an optional value, and one of ${EFFECTS.join(', ')}`);
    }
    if (own(taint, 'timeAdded') !== undefined) validator.add('registerWithTaints', 'taint-time', 'may not set timeAdded');
  }
}

function text(object: Readonly<Record<string, Json>>, key: string): string {
  const value = own(object, key);
  return typeof value === 'string' ? value : '';
}

function swap(validator: Validator): void {
  const field = 'memorySwap.swapBehavior';
  const behavior = validator.text(field);
  if (behavior === '') return;
  if (!validator.gate('NodeSwap')) {
    validator.add(field, 'gate', 'needs feature gate NodeSwap');
    return;
  }
  const allowed = validator.minor >= 30 ? ['NoSwap', 'LimitedSwap'] : ['LimitedSwap', 'UnlimitedSwap'];
  if (!allowed.includes(behavior)) validator.add(field, 'enum', `must be empty or one of ${allowed.join(', ')}`);
}

function reservedMemory(validator: Validator): void {
  const field = 'reservedMemory';
  const seen = new Set<string>();
  for (const entry of validator.list(field)) {
    if (!isObject(entry)) continue;
    const limits = own(entry, 'limits');
    for (const [kind, amount] of isObject(limits) ? Object.entries(limits) : []) {
      if (kind !== 'memory' && !kind.startsWith('hugepages-')) validator.add(field, 'memory-kind', 'may limit only memory and hugepages');
      const place = `${scalarText(own(entry, 'numaNode') ?? 0)}/${kind}`;
      if (seen.has(place)) validator.add(field, 'memory-duplicate', 'may not reserve the same kind of memory of one NUMA node twice');
      seen.add(place);
      if ((quantity(scalarText(amount))?.nanos ?? 0n) === 0n) validator.add(field, 'memory-zero', 'may not hold a limit of zero');
    }
  }
}

/** Rules added after 1.20, for pods, logs and tracing. */
export function validateModernPods(validator: Validator): void {
  logs(validator);
  memory(validator);
  tracing(validator);
  restarts(validator);
  if (validator.entries('defaultPodSysctls').length > 0 && !validator.gate('DefaultPodSysctls'))
    validator.add('defaultPodSysctls', 'gate', 'needs feature gate DefaultPodSysctls');
  if (validator.minor >= 30) podLogs(validator);
}

function podLogs(validator: Validator): void {
  const field = 'podLogsDir';
  const path = validator.text(field);
  if (path === '') validator.add(field, 'required', 'must not be empty');
  else {
    if (!path.startsWith('/')) validator.add(field, 'absolute', 'must be an absolute path');
    if (path !== posix.normalize(path).replace(/(?<=.)\/$/, ''))
      validator.add(field, 'normalized', 'must be a normalized path: no trailing slash, no . or ..');
    if (/[^\x00-\x7f]/.test(path)) validator.add(field, 'ascii', 'may only hold ASCII characters');
  }
  const interval = 'containerLogMonitorInterval';
  if (validator.duration(interval) < 3n * SECOND) validator.add(interval, 'log-interval', 'must be 3s or more');
}

function logs(validator: Validator): void {
  const patterns = validator.list('logging.vmodule');
  if (patterns.length > 0 && validator.text('logging.format') !== 'text')
    validator.add('logging.vmodule', 'vmodule-format', 'only works with logging.format text');
  for (const item of patterns) {
    const pattern = isObject(item) ? own(item, 'filePattern') : undefined;
    if (typeof pattern !== 'string' || pattern === '')
      validator.add('logging.vmodule', 'vmodule-pattern', 'needs a filePattern in every entry');
    else if (/[=,]/.test(pattern)) validator.add('logging.vmodule', 'vmodule-pattern', 'may not hold = or , in a filePattern');
    const level = isObject(item) ? own(item, 'verbosity') : undefined;
    if (typeof level === 'number' && level > 2_147_483_647)
      validator.add('logging.vmodule', 'log-verbosity', 'may not hold a verbosity above 2147483647');
  }
  flush(validator);
  const options = validator.value('logging.options');
  if (!isObject(options) || validator.gate('LoggingAlphaOptions')) return;
  for (const format of ['text', 'json']) {
    const given = own(options, format);
    if (!isObject(given)) continue;
    const buffer = own(given, 'infoBufferSize');
    if (own(given, 'splitStream') === true || (buffer !== undefined && buffer !== null && scalarText(buffer) !== '0')) {
      validator.add('logging.options', 'gate', 'needs feature gate LoggingAlphaOptions');
    }
  }
}

const RESERVATIONS = ['None', 'TieredReservation'];

function flush(validator: Validator): void {
  const field = 'logging.flushFrequency';
  const value = validator.value(field);
  const frequency = typeof value === 'string' ? (goDuration(value) ?? 0n) : BigInt(Math.trunc(Number(value ?? 0)));
  if (validator.minor >= 35 && frequency <= 0n) validator.add(field, 'positive', 'must be above zero');
}

function memory(validator: Validator): void {
  if (validator.minor < 22) return;
  const field = 'memoryThrottlingFactor';
  const factor = validator.value(field);
  if ((typeof factor === 'number' || typeof factor === 'bigint') && (factor <= 0 || factor > 1))
    validator.add(field, 'throttling-factor', 'must be above 0 and not above 1');
  if (validator.minor < 36) return;
  const reservation = validator.text('memoryReservationPolicy');
  if (!RESERVATIONS.includes(reservation)) validator.add('memoryReservationPolicy', 'enum', `must be one of ${RESERVATIONS.join(', ')}`);
  else if (reservation !== 'None' && !validator.gate('MemoryQoS'))
    validator.add('memoryReservationPolicy', 'gate', 'may only be TieredReservation with feature gate MemoryQoS');
}

function tracing(validator: Validator): void {
  const given = validator.value('tracing');
  if (!isObject(given)) return;
  // Without the gate the kubelet checks nothing else of `tracing`.
  if (!validator.gate('KubeletTracing')) return validator.add('tracing', 'gate', 'needs feature gate KubeletTracing');
  const rate = own(given, 'samplingRatePerMillion');
  if (typeof rate === 'number' && (rate < 0 || rate > 1_000_000))
    validator.add('tracing', 'sampling-rate', 'must have a samplingRatePerMillion between 0 and 1000000');
  const endpoint = own(given, 'endpoint');
  if (typeof endpoint !== 'string') return;
  const scheme = goUrlScheme(endpoint.includes('://') ? endpoint : `dns://${endpoint}`);
  if (scheme === undefined) validator.add('tracing', 'tracing-endpoint', 'must have an endpoint that is a URL, or a host and a port');
  else if (!['dns', 'unix', 'unix-abstract'].includes(scheme))
    validator.add('tracing', 'tracing-endpoint', 'must have an endpoint without a scheme, or with dns, unix or unix-abstract');
}

function restarts(validator: Validator): void {
  const field = 'crashLoopBackOff.maxContainerRestartPeriod';
  if (validator.minor < 32 || validator.value(field) === undefined) return;
  const period = validator.duration(field);
  if (!validator.gate('KubeletCrashLoopBackOffMax')) validator.add(field, 'gate', 'needs feature gate KubeletCrashLoopBackOffMax');
  else if (period < SECOND || period > 300n * SECOND) validator.add(field, 'restart-period', 'must be between 1s and 300s');
}
