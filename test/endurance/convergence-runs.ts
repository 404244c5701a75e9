import { converge } from '../kube/cache/convergence.ts';

/* Seeds from the first argument up to (not including) the second; tells the parent which of them went wrong, and how. */
const [from = 1, to = 2, changes = 1_000] = process.argv.slice(2).map(Number);
const found: { seed: number; problems: string[] }[] = [];
for (let seed = from; seed < to; seed++) {
  const { problems } = await converge({ seed, changes });
  if (problems.length > 0) found.push({ seed, problems: problems.slice(0, 5) });
}
process.send?.(found);
