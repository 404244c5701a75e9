import { createHash } from 'node:crypto';
import type { Stat } from '../../../base/disk.ts';

export interface FileNode {
  kind: 'file';
  mode: number;
  data: Uint8Array;
  /** What is on the platter. */
  durable: Uint8Array;
  /** A sync of the bytes up to here failed: the kernel dropped those pages, and a later sync that succeeds leaves zeros in them. */
  lostTo: number;
}
export interface DirNode {
  kind: 'dir';
  mode: number;
  entries: Map<string, Node>;
  durable: Map<string, Node>;
  /** Changes of entries since the last sync. A power cut keeps any subset of them. */
  pending: EntryChange[];
}
export type Node = FileNode | DirNode;
/** A rename within one directory is one change: it takes the old name and sets the new one together. */
export type EntryChange = { take?: string; set?: readonly [string, Node] };

export const newDir = (mode: number): DirNode => ({ kind: 'dir', mode, entries: new Map(), durable: new Map(), pending: [] });

export function change(dir: DirNode, entry: EntryChange): void {
  apply(dir.entries, entry, (node) => node);
  dir.pending.push(entry);
}

export function apply(entries: Map<string, Node>, { take, set }: EntryChange, as: (node: Node) => Node): void {
  if (take !== undefined) entries.delete(take);
  if (set) entries.set(set[0], as(set[1]));
}

export function statOf(node: Node): Stat {
  return { kind: node.kind, bytes: node.kind === 'file' ? node.data.length : 4096, mode: node.mode, modifiedMs: 0 };
}

export function synced(file: Node): void {
  if (file.kind === 'dir') {
    file.durable = new Map(file.entries);
    file.pending = [];
    return;
  }
  const { data, durable, lostTo } = file;
  file.durable = lostTo > durable.length ? data.slice().fill(0, durable.length, lostTo) : data;
  file.lostTo = 0;
}

export function fingerprintOf(root: DirNode): string {
  const hash = createHash('sha256');
  const visit = (node: Node, path: string): void => {
    hash.update(`${path}\0${node.kind}\0${node.mode}\0`);
    if (node.kind === 'file') hash.update(`${node.data.length}\0`).update(node.data);
    else for (const name of [...node.entries.keys()].toSorted()) visitEntry(node, name, path);
  };
  const visitEntry = (dir: DirNode, name: string, path: string) => {
    const node = dir.entries.get(name);
    if (node) visit(node, `${path}/${name}`);
  };
  visit(root, '');
  return hash.digest('hex');
}

/** Shares nothing but the bytes. @param done - what was copied so far */
export function copyOf(node: DirNode, done: Map<Node, Node>): DirNode {
  const copy = newDir(node.mode);
  done.set(node, copy);
  const of = (child: Node): Node => {
    const before = done.get(child);
    if (before) return before;
    if (child.kind === 'dir') return copyOf(child, done);
    const file = { ...child };
    done.set(child, file);
    return file;
  };
  for (const [name, child] of node.entries) copy.entries.set(name, of(child));
  for (const [name, child] of node.durable) copy.durable.set(name, of(child));
  copy.pending = node.pending.map(({ take, set }) => ({
    ...(take !== undefined && { take }),
    ...(set && { set: [set[0], of(set[1])] as const }),
  }));
  return copy;
}
