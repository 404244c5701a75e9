import { stringify } from 'yaml';
import type { Line } from './api-request.ts';

/** An answer's content as it is written. */
export function encode(json: unknown, yaml: boolean): [type: string, text: string] {
  return yaml ? ['application/yaml', stringify(json, { aliasDuplicateObjects: false })] : ['application/json', JSON.stringify(json)];
}

/** A batch of a stream as one text. */
export function textOf(batch: readonly Line[]): string {
  const [first] = batch;
  return batch.length === 1 && first !== undefined ? first.text : batch.map(({ text }) => text).join('');
}
