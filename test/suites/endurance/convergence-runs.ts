import { converge, nothingYet } from '../../unit/kube/cache/convergence.ts';
import type { Coverage } from '../../unit/kube/cache/convergence.ts';

/** What a share of the runs comes to. */
export interface Share {
  wrong: { seed: number; problems: string[] }[];
  /** What happened in all of them together. */
  coverage: Coverage;
}

/* Seeds from the first argument up to (not including) the second; tells the parent which of them went wrong, and how. */
const [from = 1, to = 2, changes = 1_000] = process.argv.slice(2).map(Number);
const share: Share = { wrong: [], coverage: { ...nothingYet } };
for (let seed = from; seed < to; seed++) {
  const { problems, coverage } = await converge({ seed, changes });
  if (problems.length > 0) share.wrong.push({ seed, problems: problems.slice(0, 5) });
  for (const what of Object.keys(coverage) as (keyof Coverage)[]) share.coverage[what] += coverage[what];
}
process.send?.(share);
