import { quantity } from '../../../kube/api/quantity.ts';
import type { Json } from '../contract.ts';
import { isObject, own, words } from '../decode/document.ts';
import type { Judge } from './validation.ts';
import { SECOND } from '../../../base/go-duration.ts';

/** Rules that came after 1.20, for the node, its images, its server and its memory. */
export function judgeModernNode(judge: Judge): void {
  images(judge);
  taints(judge);
  swap(judge);
  reservedMemory(judge);
  const { minor } = judge;
  if (minor >= 27 && judge.text('containerRuntimeEndpoint') === '') judge.add('containerRuntimeEndpoint', 'required', 'must not be empty');
  if (minor < 27 && judge.flag('seccompDefault') && !judge.gate('SeccompDefault'))
    judge.add('seccompDefault', 'gate', 'needs feature gate SeccompDefault');
  if (minor >= 32 && judge.flag('runOnce')) judge.add('runOnce', 'run-once', 'must not be true: the kubelet no longer has that mode');
  if (judge.flag('enableSystemLogQuery')) {
    if (!judge.gate('NodeLogQuery')) judge.add('enableSystemLogQuery', 'gate', 'needs feature gate NodeLogQuery');
    if (!judge.flag('enableSystemLogHandler')) judge.add('enableSystemLogQuery', 'log-handler', 'needs enableSystemLogHandler to be true');
  }
  const ids = judge.value('userNamespaces.idsPerPod');
  if (typeof ids === 'number' || typeof ids === 'bigint') {
    const value = BigInt(ids);
    if (value < 65_536n || value > 4_294_967_295n || value % 65_536n !== 0n) {
      judge.add('userNamespaces.idsPerPod', 'ids-per-pod', 'must be a multiple of 65536, from 65536 to 4294967295');
    }
  }
}

function images(judge: Judge): void {
  const oldest = judge.duration('imageMaximumGCAge');
  if (oldest !== 0n && !judge.gate('ImageMaximumGCAge')) judge.add('imageMaximumGCAge', 'gate', 'needs feature gate ImageMaximumGCAge');
  if (oldest < 0n) judge.add('imageMaximumGCAge', 'not-negative', 'must not be negative');
  if (oldest > 0n && oldest <= judge.duration('imageMinimumGCAge'))
    judge.add('imageMaximumGCAge', 'image-age-order', 'must exceed imageMinimumGCAge');
  const parallel = judge.value('maxParallelImagePulls');
  if (typeof parallel === 'number') {
    if (parallel < 1) judge.add('maxParallelImagePulls', 'positive', 'must be 1 or more');
    if (parallel > 1 && judge.flag('serializeImagePulls'))
      judge.add('maxParallelImagePulls', 'serial-pulls', 'may only exceed 1 when serializeImagePulls is false');
  }
  credentials(judge);
}

const VERIFICATION = ['NeverVerify', 'NeverVerifyPreloadedImages', 'NeverVerifyAllowlistedImages', 'AlwaysVerify'];

function credentials(judge: Judge): void {
  if (judge.minor < 33) return;
  const [field, listField] = ['imagePullCredentialsVerificationPolicy', 'preloadedImagesVerificationAllowlist'];
  const policy = judge.text(field);
  const allowed = judge.texts(listField);
  if (!judge.gate('KubeletEnsureSecretPulledImages')) {
    if (policy !== '') judge.add(field, 'gate', 'needs feature gate KubeletEnsureSecretPulledImages');
    if (allowed.length > 0) judge.add(listField, 'gate', 'needs feature gate KubeletEnsureSecretPulledImages');
    return;
  }
  if (!VERIFICATION.includes(policy)) judge.add(field, 'enum', `must be one of ${VERIFICATION.join(', ')}`);
  if (allowed.length > 0 && policy !== 'NeverVerifyAllowlistedImages')
    judge.add(listField, 'allowlist-policy', `needs ${field} NeverVerifyAllowlistedImages`);
  for (const image of allowed) {
    const name = image.endsWith('/*') ? image.slice(0, -2) : image;
    if (image.trim() !== image) judge.add(listField, 'allowlist-spaces', 'may not hold entries with spaces at their ends');
    else if (name === '' || name.includes('*')) judge.add(listField, 'allowlist-wildcard', 'may hold a wildcard only as a last segment /*');
    else if (name.includes('@') || /:[^/]*$/.test(name)) judge.add(listField, 'allowlist-tag', 'may not hold tags or digests');
  }
}

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];
const NAME = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const PREFIX = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/;

function taints(judge: Judge): void {
  for (const taint of judge.list('registerWithTaints')) {
    if (!isObject(taint)) continue;
    const [key, value, effect] = [text(taint, 'key'), text(taint, 'value'), text(taint, 'effect')];
    const slash = key.indexOf('/');
    const fits = NAME.test(key.slice(slash + 1)) && (slash < 0 || PREFIX.test(key.slice(0, slash)));
    if (!fits || (value !== '' && !NAME.test(value)) || (effect !== '' && !EFFECTS.includes(effect))) {
      judge.add('registerWithTaints', 'taint', `must hold valid taints: a key, an optional value, and one of ${EFFECTS.join(', ')}`);
    }
    if (own(taint, 'timeAdded') !== undefined) judge.add('registerWithTaints', 'taint-time', 'may not set timeAdded');
  }
}

function text(object: Readonly<Record<string, Json>>, key: string): string {
  const value = own(object, key);
  return typeof value === 'string' ? value : '';
}

function swap(judge: Judge): void {
  const field = 'memorySwap.swapBehavior';
  const behavior = judge.text(field);
  if (behavior === '') return;
  if (!judge.gate('NodeSwap')) {
    judge.add(field, 'gate', 'needs feature gate NodeSwap');
    return;
  }
  const allowed = judge.minor >= 30 ? ['NoSwap', 'LimitedSwap'] : ['LimitedSwap', 'UnlimitedSwap'];
  if (!allowed.includes(behavior)) judge.add(field, 'enum', `must be empty or one of ${allowed.join(', ')}`);
}

function reservedMemory(judge: Judge): void {
  const field = 'reservedMemory';
  const seen = new Set<string>();
  for (const entry of judge.list(field)) {
    if (!isObject(entry)) continue;
    const limits = own(entry, 'limits');
    for (const [kind, amount] of isObject(limits) ? Object.entries(limits) : []) {
      if (kind !== 'memory' && !kind.startsWith('hugepages-')) judge.add(field, 'memory-kind', 'may limit only memory and hugepages');
      const place = `${words(own(entry, 'numaNode') ?? 0)}/${kind}`;
      if (seen.has(place)) judge.add(field, 'memory-duplicate', 'may not reserve the same kind of memory of one NUMA node twice');
      seen.add(place);
      if ((quantity(words(amount))?.nanos ?? 0n) === 0n) judge.add(field, 'memory-zero', 'may not hold a limit of zero');
    }
  }
}

/** Rules that came after 1.20, for pods, logs and tracing. */
export function judgeModernPods(judge: Judge): void {
  logs(judge);
  memory(judge);
  tracing(judge);
  restarts(judge);
  if (judge.minor >= 30) podLogs(judge);
}

function podLogs(judge: Judge): void {
  const field = 'podLogsDir';
  const path = judge.text(field);
  if (path === '') judge.add(field, 'required', 'must not be empty');
  else {
    if (!path.startsWith('/')) judge.add(field, 'absolute', 'must be an absolute path');
    if (path !== '/' && (path.endsWith('/') || /\/(?:\.{0,2})(?:\/|$)/.test(path)))
      judge.add(field, 'normalized', 'must be a normalized path: no trailing slash, no . or ..');
    if (/[^\x00-\x7f]/.test(path)) judge.add(field, 'ascii', 'may only hold ASCII characters');
  }
  const interval = 'containerLogMonitorInterval';
  if (judge.duration(interval) < 3n * SECOND) judge.add(interval, 'log-interval', 'must be 3s or more');
}

function logs(judge: Judge): void {
  const patterns = judge.list('logging.vmodule');
  if (patterns.length > 0 && judge.text('logging.format') !== 'text')
    judge.add('logging.vmodule', 'vmodule-format', 'only works with logging.format text');
  for (const item of patterns) {
    const pattern = isObject(item) ? own(item, 'filePattern') : undefined;
    if (typeof pattern !== 'string' || pattern === '')
      judge.add('logging.vmodule', 'vmodule-pattern', 'needs a filePattern in every entry');
    else if (/[=,]/.test(pattern)) judge.add('logging.vmodule', 'vmodule-pattern', 'may not hold = or , in a filePattern');
  }
  const options = judge.value('logging.options');
  if (!isObject(options) || judge.gate('LoggingAlphaOptions')) return;
  for (const format of ['text', 'json']) {
    const given = own(options, format);
    if (!isObject(given)) continue;
    const buffer = own(given, 'infoBufferSize');
    if (own(given, 'splitStream') === true || (buffer !== undefined && buffer !== null && words(buffer) !== '0')) {
      judge.add('logging.options', 'gate', 'needs feature gate LoggingAlphaOptions');
    }
  }
}

function memory(judge: Judge): void {
  const field = 'memoryThrottlingFactor';
  if (judge.minor < 22) return;
  const factor = judge.value(field);
  if (typeof factor === 'number' && (factor <= 0 || factor > 1)) judge.add(field, 'throttling-factor', 'must be above 0 and not above 1');
}

function tracing(judge: Judge): void {
  const given = judge.value('tracing');
  if (!isObject(given)) return;
  if (!judge.gate('KubeletTracing')) judge.add('tracing', 'gate', 'needs feature gate KubeletTracing');
  const rate = own(given, 'samplingRatePerMillion');
  if (typeof rate === 'number' && (rate < 0 || rate > 1_000_000))
    judge.add('tracing', 'sampling-rate', 'must have a samplingRatePerMillion between 0 and 1000000');
  const endpoint = own(given, 'endpoint');
  const scheme = typeof endpoint === 'string' ? /^([a-zA-Z][-+.a-zA-Z0-9]*):\/\//.exec(endpoint)?.[1] : undefined;
  if (scheme !== undefined && !['dns', 'unix', 'unix-abstract'].includes(scheme)) {
    judge.add('tracing', 'tracing-endpoint', 'must have an endpoint without a scheme, or with dns, unix or unix-abstract');
  }
}

function restarts(judge: Judge): void {
  const field = 'crashLoopBackOff.maxContainerRestartPeriod';
  if (judge.minor < 32 || judge.value(field) === undefined) return;
  const period = judge.duration(field);
  if (!judge.gate('KubeletCrashLoopBackOffMax')) judge.add(field, 'gate', 'needs feature gate KubeletCrashLoopBackOffMax');
  else if (period < SECOND || period > 300n * SECOND) judge.add(field, 'restart-period', 'must be between 1s and 300s');
}
