/**
 * Tables of what is planned, a row a line: nodes, pods and settings, what is done, and why.
 *
 * ```text
 * a b:canary c~ | a@old b@old! maxUnavailable=2 +partition=1 | delete b-old (update) | finishes the sentence that the test begins
 * ```
 *
 * Nodes, pods and plans are those of notation.ts; a line that begins with `|` belongs to the one before. A setting is a member of its Situation, such as
 * `maxSurge=34%`; `+partition=1` is an annotation, `+rollout-node-selector="a in (b, c)"` one with blanks; `backoff=5` ms have failed pods to stay;
 * `nodeName=a` and `pool=x` (a node selector) are of the template.
 */
import { table } from '../../../support/table.ts';
import type { Situation } from './notation.ts';

export type Row = { why: string; situation: Situation; does: string };

/** @param over - holds where a row says nothing else */
export function rows(text: string, over: Partial<Situation> = {}): Row[] {
  return table('nodes | pods | does | why')(text).map(({ nodes, pods, ...row }) => ({
    ...row,
    situation: { ...over, nodes, ...situationOf(pods) },
  }));
}

const numberIn = (text: string): number | string => (/^\d+$/.test(text) ? Number(text) : text);
const settings: Readonly<Record<string, (value: string) => Partial<Situation>>> = {
  onDelete: () => ({ onDelete: true }),
  minReadySeconds: (value) => ({ minReadySeconds: Number(value) }),
  maxUnavailable: (value) => ({ maxUnavailable: numberIn(value) }),
  maxSurge: (value) => ({ maxSurge: numberIn(value) }),
  nodeName: (nodeName) => ({ spec: { nodeName } }),
  pool: (pool) => ({ spec: { nodeSelector: { pool } } }),
  backoff: (value) => ({ memory: { backoffMs: () => Number(value) } }),
};

export function situationOf(text: string): Partial<Situation> {
  const all = text.match(/(?:[^\s"]|"[^"]*")+/g) ?? [];
  const isPod = (word: string): boolean => /^\w+@/.test(word);
  const situation: Partial<Situation> = { pods: all.filter(isPod).join(' ') };
  for (const word of all.filter((one) => !isPod(one))) {
    const [name = '', value = ''] = word.split(/=(.*)/s);
    if (name.startsWith('+')) situation.annotations = { ...situation.annotations, [`dkc.dev/${name.slice(1)}`]: value.replaceAll('"', '') };
    else if (settings[name] === undefined) throw new RangeError(`nobody knows ${word}`);
    else Object.assign(situation, settings[name](value));
  }
  return situation;
}
