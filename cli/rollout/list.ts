import type { Millis } from '../../base/clock.ts';
import type { NodeConfigRollout } from '../../controllers/rollout/types.ts';
import { age } from '../node/spoken.ts';
import type { Column } from '../output/output.ts';
import { readRules } from './rollouts.ts';

/** The table of all rollouts: the columns of `kubectl get ncr`. */
export const rolloutColumns = (now: Millis): Column<NodeConfigRollout>[] => [
  { title: 'NAME', value: ({ metadata }) => metadata.name ?? '' },
  { title: 'PHASE', value: ({ status }) => status?.phase ?? '', paint: (cell, one, paint) => phasePaint(one, paint)(cell) },
  { title: 'STEP', value: (one) => stepOf(one) },
  { title: 'SELECTED', value: ({ status }) => numberText(status?.nodes?.selected) },
  { title: 'UPDATED', value: ({ status }) => numberText(status?.nodes?.updated) },
  { title: 'SETTLED', value: ({ status }) => numberText(status?.nodes?.settled) },
  { title: 'FAILED', value: ({ status }) => numberText(status?.nodes?.failed) },
  { title: 'AGE', value: ({ metadata }) => age(metadata.creationTimestamp, now) },
  { title: 'REVISION', value: ({ status }) => status?.revision ?? '', wide: true },
  { title: 'WAITS-FOR', value: ({ status }) => status?.waitsFor ?? '', wide: true },
  { title: 'MESSAGE', value: ({ status }) => status?.message ?? '', wide: true },
];

const numberText = (count: number | undefined): string => (count === undefined ? '' : String(count));

/** `2/4`. */
export function stepOf(rollout: Readonly<NodeConfigRollout>): string {
  const step = rollout.status?.step;
  return step === undefined ? '' : `${step}/${readRules(rollout).steps.length}`;
}

type PhasePaint = NonNullable<Column<NodeConfigRollout>['paint']>;

function phasePaint({ status }: NodeConfigRollout, paint: Parameters<PhasePaint>[2]): (text: string) => string {
  switch (status?.phase) {
    case 'Complete':
      return paint.green;
    case 'RollingBack':
    case 'RolledBack':
    case 'Failed':
      return paint.red;
    case 'Progressing':
      return paint.cyan;
    case 'Pending':
    case 'Holding':
    case 'Paused':
    case undefined:
      return paint.yellow;
  }
}
