import { SECOND } from '../../../base/go-duration.ts';
import { isObject, own, words } from '../decode/document.ts';
import type { Judge } from './validation.ts';

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
