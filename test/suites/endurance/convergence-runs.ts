import { converge } from '../../unit/kube/cache/convergence.ts';

/** What went wrong in a share of the runs. */
export type Share = { seed: number; problems: string[] }[];

/* Seeds from the first argument up to (not including) the second; tells the parent which of them went wrong, and how. */
const [from = 1, to = 2, changes = 1_000] = process.argv.slice(2).map(Number);
const wrong: Share = [];
for (let seed = from; seed < to; seed++) {
  const problems = await converge({ seed, changes });
  if (problems.length > 0) wrong.push({ seed, problems: problems.slice(0, 5) });
}
process.send?.(wrong);
