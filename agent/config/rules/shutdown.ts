import { SECOND } from '../../../base/go-duration.ts';
import type { Judge } from './validation.ts';

/** Graceful node shutdown: its three fields and their two gates. */
export function judgeShutdown(judge: Judge): void {
  const all = judge.duration('shutdownGracePeriod');
  const critical = judge.duration('shutdownGracePeriodCriticalPods');
  if (!judge.gate('GracefulNodeShutdown')) {
    if (all > 0n || critical > 0n) judge.add('shutdownGracePeriod', 'gate', 'needs feature gate GracefulNodeShutdown');
  } else {
    if (judge.minor > 20) {
      if (critical > all) judge.add('shutdownGracePeriodCriticalPods', 'shutdown', 'must not exceed shutdownGracePeriod');
    } else if (all < 0n || critical < 0n || critical > all) {
      judge.add('shutdownGracePeriod', 'shutdown', 'must be 0 or more, and not less than shutdownGracePeriodCriticalPods');
    }
    if (tooShort(all, judge.minor)) judge.add('shutdownGracePeriod', 'shutdown-second', 'must be 0 or at least 1s');
    if (tooShort(critical, judge.minor)) judge.add('shutdownGracePeriodCriticalPods', 'shutdown-second', 'must be 0 or at least 1s');
  }
  if (judge.list('shutdownGracePeriodByPodPriority').length === 0) return;
  if (!judge.gate('GracefulNodeShutdownBasedOnPodPriority')) {
    judge.add('shutdownGracePeriodByPodPriority', 'gate', 'needs feature gate GracefulNodeShutdownBasedOnPodPriority');
  } else if (all > 0n || critical > 0n) {
    judge.add('shutdownGracePeriodByPodPriority', 'shutdown-both', 'cannot be used together with shutdownGracePeriod');
  }
}

/** 1.20 has a rule of its own for negative periods. */
function tooShort(period: bigint, minor: number): boolean {
  return minor > 20 ? period !== 0n && period < SECOND : period > 0n && period < SECOND;
}
