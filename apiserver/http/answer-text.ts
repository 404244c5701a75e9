import { stringify } from 'yaml';
import { isJsonObject } from '../../kube/api/json.ts';
import type { Line } from './api-request.ts';

/** An answer's content as it is written. */
export function encode(json: unknown, yaml: boolean): [type: string, text: string] {
  return yaml ? ['application/yaml', stringify(json, { aliasDuplicateObjects: false })] : ['application/json', `${JSON.stringify(json)}\n`];
}

const LARGE_LIST = 2_000;

/**
 * A large list piece by piece: as one text it may be longer than any string can be, and nobody else is served while it is made.
 * undefined for everything else.
 */
export function piecesOf(json: unknown): Iterable<string> | undefined {
  if (!isJsonObject(json) || !Array.isArray(json['items']) || json['items'].length < LARGE_LIST) return undefined;
  const { items, ...head } = json as { items: readonly unknown[] };
  return pieces(JSON.stringify(head), items);
}

function* pieces(head: string, items: readonly unknown[]): Generator<string> {
  yield `${head.slice(0, -1)},"items":[`;
  for (let at = 0; at < items.length; at += LARGE_LIST / 4) {
    const texts = items.slice(at, at + LARGE_LIST / 4).map((item) => JSON.stringify(item));
    yield `${at === 0 ? '' : ','}${texts.join(',')}`;
  }
  yield ']}\n';
}

/** A batch of a stream as one text. */
export function textOf(batch: readonly Line[]): string {
  const [first] = batch;
  return batch.length === 1 && first !== undefined ? first.text : batch.map(({ text }) => text).join('');
}
