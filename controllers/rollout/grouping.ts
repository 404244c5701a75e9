import { createHash } from 'node:crypto';
import { type Millis, rfc3339 } from '../../base/clock.ts';
import { SortedList } from '../../base/ordered.ts';
import { wasClockSet } from './clock-gaps.ts';
import type { PlacementContext, Group, Placement, Placer } from './grouping-rules.ts';
import type { RolloutNode } from './node.ts';
import { cut } from './text.ts';
import type { WakeUp } from '../common/reconcile.ts';
import type { NodeFailure } from './types.ts';

/** The nodes of a rollout, in groups. */
export interface Groups {
  /** In the order in which nodes are touched. */
  of(group: Group): readonly Placement[];
  at(node: string): Placement | undefined;
  /** When the next node fails if nothing changes until then; Infinity: none does. */
  readonly failsAt: Millis;
}

export const nodeName = ({ node }: Placement): string => node.node;

type Ranked = Placement & { rank: string };

/** Max changed nodes that one reconcile places: a large fleet is placed in several, so that no turn of the event loop is long. */
const MAX_PLACED = 1_000;

const byRank = (a: Ranked, b: Ranked): number => (a.rank < b.rank ? -1 : a.rank > b.rank ? 1 : 0);
const byDeadline = (a: Ranked, b: Ranked): number => a.failsAt - b.failsAt || byRank(a, b);

/**
 * Nodes in groups, kept between reconciles: a node is placed again when it changed, when it is drained or touched, or when its placement expires. So the cost
 * depends on what has changed, and the result equals that of placing all nodes again.
 */
export class Grouping implements Groups {
  readonly #place: Placer;
  readonly #key: string;
  readonly #nodes: ReadonlyMap<string, RolloutNode>;
  readonly #placements = new Map<string, Ranked>();
  readonly #groups = new Map<Group, SortedList<Ranked>>();
  readonly #deadlines = new SortedList<Ranked>(byDeadline);
  /** Nodes assigned by a clock ahead of ours, or before ours was set: their deadlines move with our clock. */
  readonly #ahead = new Set<string>();
  readonly #changed = new Set<string>();
  #drains: PlacementContext['drains'] = new Map();
  #pending: PlacementContext['pending'] = new Map();
  #now: Millis = -Infinity;

  /** @param nodes - read again at each reconcile */
  constructor(place: Placer, context: PlacementContext, nodes: ReadonlyMap<string, RolloutNode>) {
    this.#place = place;
    this.#key = context.key;
    this.#nodes = nodes;
    // In order of rank, so that no insertion has to search its place.
    const ranked = [...nodes.keys()].map((name) => ({ name, rank: rankOf(name, context.rules.uid) }));
    for (const { name } of ranked.toSorted((a, b) => (a.rank < b.rank ? -1 : 1))) this.#changed.add(name);
  }

  /** Whether this grouping can be brought up to date. After the clock was set back, failed nodes may be in flight again: all nodes must be placed again. */
  serves(place: Placer, { key, now }: PlacementContext): boolean {
    return this.#place === place && this.#key === key && this.#now <= now;
  }

  /** Called when a node changed or was removed. */
  changed(node: string): void {
    this.#changed.add(node);
  }

  /** @returns whether all nodes are placed; false: the next reconcile places more */
  bringUpToDate(context: PlacementContext): boolean {
    this.#now = context.now;
    const changed = firstOf(this.#changed, MAX_PLACED);
    const [drainsBefore, pendingBefore] = [this.#drains, this.#pending];
    this.#drains = context.drains;
    this.#pending = context.pending;
    const again = new Set([...changed, ...this.#ahead]);
    for (const named of [drainsBefore, context.drains, pendingBefore, context.pending]) for (const node of named.keys()) again.add(node);
    for (const { node, failsAt } of this.#deadlines.items) {
      if (failsAt > context.now) break;
      again.add(node.node);
    }
    for (const node of again) {
      this.#changed.delete(node);
      this.#updatePlacement(node, context);
    }
    return this.#changed.size === 0;
  }

  of(group: Group): readonly Placement[] {
    return this.#groups.get(group)?.items ?? [];
  }

  at(node: string): Placement | undefined {
    return this.#placements.get(node);
  }

  get failsAt(): Millis {
    return this.#deadlines.items[0]?.failsAt ?? Infinity;
  }

  #updatePlacement(name: string, context: PlacementContext): void {
    const before = this.#placements.get(name);
    if (before !== undefined) {
      for (const group of before.groups) this.#group(group).remove(before);
      if (before.failsAt !== Infinity) this.#deadlines.remove(before);
    }
    this.#ahead.delete(name);
    const node = this.#nodes.get(name);
    if (node === undefined) {
      this.#placements.delete(name);
      return;
    }
    const after = { ...this.#place(node, context), rank: before?.rank ?? rankOf(name, context.rules.uid) };
    this.#placements.set(name, after);
    for (const group of after.groups) this.#group(group).add(after);
    if (after.failsAt !== Infinity) this.#deadlines.add(after);
    const isTimed = after.failsAt !== Infinity || after.groups.includes('misdated');
    if (isTimed && wasClockSet(node.assignedAt ?? 0, context.now, context.gaps)) this.#ahead.add(name);
  }

  #group(group: Group): SortedList<Ranked> {
    const known = this.#groups.get(group) ?? new SortedList<Ranked>(byRank);
    this.#groups.set(group, known);
    return known;
  }
}

function firstOf(names: ReadonlySet<string>, most: number): string[] {
  const first: string[] = [];
  for (const name of names) {
    if (first.length === most) break;
    first.push(name);
  }
  return first;
}

/** In the order in which nodes are touched: by a hash of node and rollout, so that the same nodes are canaries of a rollout each time it is planned. */
export function inOrder(nodes: readonly RolloutNode[], uid: string): RolloutNode[] {
  return nodes
    .map((node) => ({ node, rank: rankOf(node.node, uid) }))
    .toSorted((a, b) => (a.rank < b.rank ? -1 : a.rank > b.rank ? 1 : 0))
    .map(({ node }) => node);
}

const ranks = new Map<string, string>();
/** Enough for two fleets of the largest size; then the cache is cleared. */
const MAX_RANKS = 20_000;

/** The rank of a node in that order, as text. */
export function rankOf(node: string, uid: string): string {
  const key = `${uid}/${node}`;
  const known = ranks.get(key);
  if (known !== undefined) return known;
  if (ranks.size >= MAX_RANKS) ranks.clear();
  const rank = createHash('sha256').update(key).digest('hex');
  ranks.set(key, rank);
  return rank;
}

/**
 * Failed nodes: those in the status, unless they are settled now, and those that fail now. A deleted node still counts.
 */
export function failuresOf(known: readonly NodeFailure[], groups: Groups, now: Millis): NodeFailure[] {
  const names = new Set(known.map(({ node }) => node));
  const failures = known.filter(({ node }) => groups.at(node)?.state.at !== 'settled');
  for (const { node, state } of groups.of('failed'))
    if (state.at === 'failed' && !names.has(node.node)) failures.push({ node: node.node, error: cut(state.error, 256), at: rfc3339(now) });
  return failures;
}

/**
 * Failures that still count once the rollout was complete: the Node was neither deleted nor created again since. A creation time in the future, by a clock that
 * is behind the API server's, is ignored.
 */
export function failuresOfThose(failures: readonly NodeFailure[], groups: Groups, now: Millis): readonly NodeFailure[] {
  return failures.filter(({ node, at }) => {
    const object = groups.at(node)?.node.object;
    const madeAt = Date.parse(object?.metadata.creationTimestamp ?? '');
    return object !== undefined && !(madeAt > Date.parse(at) && madeAt <= now);
  });
}

/** Failures that only the status records, such as that of a node whose drain failed: it is given back, and is not assigned the revision. */
export const failuresOnlyInStatus = (failures: readonly NodeFailure[], groups: Groups | undefined, revision: string): NodeFailure[] =>
  failures.filter(({ node }) => {
    const placed = groups?.at(node);
    return placed?.state.at !== 'failed' || placed.node.wanted?.name !== revision;
  });

/** When the next node in flight fails. */
export const deadlinesOf = ({ failsAt }: Groups, now: Millis): WakeUp[] =>
  failsAt === Infinity ? [] : [{ requeueAfter: Math.max(0, failsAt - now), why: 'the deadline of a node' }];
