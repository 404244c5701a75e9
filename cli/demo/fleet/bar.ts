import type { RolloutStatus } from '../../../controllers/rollout/types.ts';

/** So that the words beside it fit into a terminal of 80 columns. */
const WIDTH = 24;

/** How far a rollout has come, on one line: settled nodes, those in flight, those that failed, and the rest. Pure. */
export function barOf({ step = 1, phase, nodes }: RolloutStatus, steps: number): string {
  const { selected = 0, settled = 0, inFlight = 0, failed = 0 } = nodes ?? {};
  const cells = (count: number): number => Math.round((WIDTH * count) / Math.max(1, selected));
  const ends = [settled, settled + inFlight, settled + inFlight + failed].map((count) => Math.min(WIDTH, cells(count))) as [
    number,
    number,
    number,
  ];
  const bar = '█'.repeat(ends[0]) + '▒'.repeat(ends[1] - ends[0]) + '×'.repeat(ends[2] - ends[1]) + '·'.repeat(WIDTH - ends[2]);
  const where = phase === 'RollingBack' ? 'rolling back' : `step ${step} of ${steps}`;
  const parts = [
    where,
    `${settled} of ${selected} settled`,
    failed > 0 ? `${failed} failed` : '',
    inFlight > 0 ? `${inFlight} in flight` : '',
  ];
  return `  ${bar}  ${parts.filter((part) => part !== '').join(' · ')}`;
}
