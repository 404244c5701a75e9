import { FLEET_VERSION, type PageNode, type PageRollout } from './contract.ts';

/** Members of a node in the order of a row. */
export const nodeColumns = [
  'name',
  'state',
  'rollout',
  'standing',
  'ready',
  'cordoned',
  'maintenance',
  'zone',
  'pool',
  'kubeletVersion',
  'agentVersion',
  'wanted',
  'assigned',
  'active',
  'lastKnownGood',
  'trialEndsAt',
  'error',
  'drift',
] as const satisfies readonly (keyof PageNode)[];

/** What a picture or a change is made of, before it is packed. */
export interface Changes {
  seq: number;
  time: string;
  /** It is the whole picture: what it does not have is not there. */
  full: boolean;
  nodes: readonly PageNode[];
  goneNodes: readonly string[];
  rollouts: readonly PageRollout[];
  goneRollouts: readonly string[];
}

/** Data of an event of `/fleet/events`: each has its own table of strings, so that it can be read without those before. */
export interface Message extends Omit<Changes, 'nodes'> {
  version: typeof FLEET_VERSION;
  columns: readonly string[];
  strings: readonly string[];
  /** One row for a node: for each column an index of `strings`. */
  nodes: readonly (readonly number[])[];
}

/** Packs nodes as rows of indices: most of their strings are the same on many. Pure. */
export function encode({ nodes, ...rest }: Changes): Message {
  const indices = new Map<string, number>();
  const indexOf = (text: string): number => {
    let index = indices.get(text);
    if (index === undefined) indices.set(text, (index = indices.size));
    return index;
  };
  const rows = nodes.map((node) => nodeColumns.map((column) => indexOf(node[column])));
  return { version: FLEET_VERSION, ...rest, columns: nodeColumns, strings: [...indices.keys()], nodes: rows };
}
