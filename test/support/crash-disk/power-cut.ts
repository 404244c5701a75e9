import { seededRandom } from '../../../base/random.ts';
import { apply, newDir, type DirNode, type FileNode, type Node } from './tree.ts';

interface Choice {
  node: Node;
  /** In how many ways a power cut can leave it; 0 is the oldest, the last one the newest. */
  ways: number;
}

/** Which way each node goes that is left open. */
type Plan = ReadonlyMap<Node, number>;

/**
 * The trees that can be found after a power cut: every combination of unsynced data (old, new, half, zeros) and unsynced directory entries where there
 * are at most `limit`, otherwise the extremes and a seeded sample.
 */
export function afterPowerCut(root: DirNode, limit: number, seed: number): DirNode[] {
  const choices = openChoices(root);
  const total = choices.reduce((product, { ways }) => Math.min(product * ways, Number.MAX_SAFE_INTEGER), 1);
  const plans = total <= limit ? allPlans(choices, total) : samplePlans(choices, limit, seed);
  return plans.map((plan) => crashed(root, plan, 0));
}

export function settled(root: DirNode): DirNode {
  return crashed(root, new Map(), Number.MAX_SAFE_INTEGER);
}

function allPlans(choices: readonly Choice[], total: number): Plan[] {
  return Array.from({ length: total }, (_, n) => {
    let rest = n;
    return new Map(
      choices.map(({ node, ways }) => {
        const way = rest % ways;
        rest = Math.floor(rest / ways);
        return [node, way];
      }),
    );
  });
}

function samplePlans(choices: readonly Choice[], limit: number, seed: number): Plan[] {
  const random = seededRandom(seed);
  const plan = (way: (choice: Choice) => number): Plan => new Map(choices.map((choice) => [choice.node, way(choice)] as const));
  const plans = [
    plan(() => 0),
    plan(({ ways }) => ways - 1),
    plan(({ node, ways }) => (node.kind === 'dir' ? ways - 1 : 0)), // all names, no data
    plan(({ node, ways }) => (node.kind === 'dir' ? 0 : ways - 1)), // all data, no names
  ];
  while (plans.length < limit) plans.push(plan(({ ways }) => Math.floor(random() * ways)));
  return plans;
}

/** What is left open on everything that a power cut could still show. */
function openChoices(root: DirNode): Choice[] {
  const seen = new Set<Node>();
  const choices: Choice[] = [];
  const visit = (node: Node): void => {
    if (seen.has(node)) return;
    seen.add(node);
    const ways = node.kind === 'file' ? versions(node).length : 2 ** Math.min(node.pending.length, 20);
    if (ways > 1) choices.push({ node, ways });
    if (node.kind === 'file') return;
    node.durable.forEach(visit);
    for (const { set } of node.pending) if (set) visit(set[1]);
  };
  visit(root);
  return choices;
}

function versions({ data, durable }: FileNode): Uint8Array[] {
  if (data === durable) return [data];
  const added = data.length - durable.length;
  const zeros = new Uint8Array(data.length);
  zeros.set(durable);
  const all = [durable, zeros, data.subarray(0, durable.length + Math.floor(added / 2)), data];
  return all.filter((bytes, i) => !all.slice(i + 1).some((later) => Buffer.compare(later, bytes) === 0));
}

/** The tree as the power cut leaves it. @param otherwise - the way of nodes that `plan` does not name; too large means newest */
function crashed(root: DirNode, plan: Plan, otherwise: number): DirNode {
  const done = new Map<Node, Node>();
  const way = (node: Node) => plan.get(node) ?? otherwise;
  const of = (node: Node): Node => {
    const before = done.get(node);
    if (before) return before;
    if (node.kind === 'file') {
      const all = versions(node);
      const data = all[Math.min(way(node), all.length - 1)] ?? node.data;
      const file: FileNode = { kind: 'file', mode: node.mode, data, durable: data, lostTo: 0 };
      done.set(node, file);
      return file;
    }
    return ofDir(node);
  };
  const ofDir = (node: DirNode): DirNode => {
    const dir = newDir(node.mode);
    done.set(node, dir);
    for (const [name, child] of node.durable) dir.entries.set(name, of(child));
    const kept = Math.min(way(node), 2 ** node.pending.length - 1);
    node.pending.forEach((entry, i) => {
      if (Math.floor(kept / 2 ** i) % 2 === 1) apply(dir.entries, entry, of);
    });
    dir.durable = new Map(dir.entries);
    return dir;
  };
  return ofDir(root);
}
