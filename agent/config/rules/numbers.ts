import type { Judge } from './validation.ts';

type Bounds = readonly [field: string, least: number, most: number, since: number, rule: string];

const ANY = Number.POSITIVE_INFINITY;
const NOT_NEGATIVE = 'not-negative';

/** Numbers and what they must lie between, by the first minor that checks it. */
const bounds: readonly Bounds[] = [
  ['nodeLeaseDurationSeconds', 1, ANY, 20, 'positive'],
  ['eventBurst', 0, ANY, 20, NOT_NEGATIVE],
  ['eventRecordQPS', 0, ANY, 20, NOT_NEGATIVE],
  ['healthzPort', 0, 65_535, 20, 'port'],
  ['imageGCHighThresholdPercent', 0, 100, 20, 'percent'],
  ['imageGCLowThresholdPercent', 0, 100, 20, 'percent'],
  ['iptablesDropBit', 0, 31, 20, 'bit'],
  ['iptablesMasqueradeBit', 0, 31, 20, 'bit'],
  ['kubeAPIBurst', 0, ANY, 20, NOT_NEGATIVE],
  ['kubeAPIQPS', 0, ANY, 20, NOT_NEGATIVE],
  ['nodeStatusMaxImages', -1, ANY, 20, 'max-images'],
  ['maxOpenFiles', 0, ANY, 20, NOT_NEGATIVE],
  ['maxPods', 0, ANY, 20, NOT_NEGATIVE],
  ['oomScoreAdj', -1000, 1000, 20, 'oom-score'],
  ['podsPerCore', 0, ANY, 20, NOT_NEGATIVE],
  ['port', 1, 65_535, 20, 'port'],
  ['readOnlyPort', 0, 65_535, 20, 'port'],
  ['registryBurst', 0, ANY, 20, NOT_NEGATIVE],
  ['registryPullQPS', 0, ANY, 20, NOT_NEGATIVE],
  ['containerLogMaxWorkers', 1, ANY, 30, 'log-workers'],
  ['containerLogMaxFiles', 2, ANY, 33, 'log-files'],
  ['logging.verbosity', 0, 2_147_483_647, 23, 'log-verbosity'],
];

export function judgeNumbers(judge: Judge): void {
  for (const [field, least, most, since, rule] of bounds) {
    if (judge.minor < since) continue;
    const value = judge.number(field);
    if (value >= least && value <= most) continue;
    judge.add(field, rule, most === ANY ? `must be ${least} or more` : `must be between ${least} and ${most}`);
  }
  const low = judge.number('imageGCLowThresholdPercent');
  if (low >= judge.number('imageGCHighThresholdPercent')) {
    judge.add('imageGCLowThresholdPercent', 'image-gc-order', 'must be less than imageGCHighThresholdPercent');
  }
}
