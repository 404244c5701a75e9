import { open } from 'node:fs/promises';

/** Points by node. */
export type Points = ReadonlyMap<string, number>;

export interface Scored {
  total: Points;
  /** By plugin. */
  each: ReadonlyMap<string, Points>;
}

/** Reads what kube-scheduler wrote of the points it gave, from where the last look ended. */
export class ScoreLog {
  readonly #path: string;
  #at = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** @returns the last pod's since the last look; undefined when there was no choice */
  async next(): Promise<Scored | undefined> {
    await using file = await open(this.#path);
    const { size } = await file.stat();
    const bytes = Buffer.alloc(size - this.#at);
    await file.read(bytes, 0, bytes.length, this.#at);
    this.#at = size;
    return scored(bytes.toString('utf8').split('\n'));
  }
}

/** Of several pods, the last one's. Newer releases write a line for each node and plugin. */
export function scored(lines: readonly string[]): Scored | undefined {
  const total = new Map<string, number>();
  const each = new Map<string, Map<string, number>>();
  for (const line of lines) {
    const [, by, on = '', given] = /\] "Plugin scored node for pod" .*plugin="(\w+)" node="(\S+)" score=(-?\d+)$/.exec(line) ?? [];
    if (by !== undefined) {
      if (total.size > 0) each.clear();
      total.clear();
      each.set(by, (each.get(by) ?? new Map<string, number>()).set(on, Number(given)));
    }
    const [, final, sum] = /\] "Calculated node's final score for pod" .*node="(\S+)" score=(-?\d+)$/.exec(line) ?? [];
    if (final !== undefined) total.set(final, Number(sum));
    const [, plugin, list = ''] = /\] Plugin (\w+) scores on \S+ => \[(.*)\]$/.exec(line) ?? [];
    if (plugin !== undefined) {
      // All plugins come before the totals: these are another pod's.
      if (total.size > 0) each.clear();
      total.clear();
      each.set(plugin, new Map([...list.matchAll(/\{(\S+) (-?\d+)\}/g)].map(([, node = '', points]) => [node, Number(points)])));
    }
    const [, node, points] = /\] Host (\S+) => Score (-?\d+)$/.exec(line) ?? [];
    if (node !== undefined) total.set(node, Number(points));
  }
  return total.size === 0 ? undefined : { total, each };
}

/** Nodes that nobody has more points than. */
export function best(points: Points): Set<string> {
  const most = Math.max(...points.values());
  return new Set([...points].flatMap(([node, one]) => (one === most ? [node] : [])));
}
