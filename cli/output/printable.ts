import { Document, isScalar, visit } from 'yaml';
import { CONTROLS, escaped } from '../../base/line-log.ts';
import { plainScalar } from '../../agent/config/yaml/scalar.ts';
import { isJsonObject } from '../../kube/api/json.ts';
import type { Context } from '../command.ts';

/** `text` on one line, with nothing in it that a terminal would obey. For cells and messages. */
export function printable(text: string): string {
  return text.replace(CONTROLS, (character) => (character === '\n' || character === '\t' ? ' ' : escaped(character)));
}

/** Text of a file that a person asked to see: lines and tabs stay. */
export function printableLines(text: string): string {
  return text.replace(CONTROLS, (character) => (character === '\n' || character === '\t' ? character : escaped(character)));
}

/** Whether `text` holds anything that {@link printable} would change, line ends and tabs aside. */
function hasControls(text: string): boolean {
  return printableLines(text) !== text;
}

/** An object of the API, or a list of them, without managedFields, as kubectl shows them; anything else as it is. */
export function withoutManagedFields(data: unknown): unknown {
  if (Array.isArray(data)) return data.map(withoutManagedFields);
  if (!isJsonObject(data) || !isJsonObject(data['metadata']) || !('managedFields' in data['metadata'])) return data;
  const { managedFields: _, ...metadata } = data['metadata'];
  return { ...data, metadata };
}

/** JSON for scripts: big integers exact, a line end last. Control characters appear as escapes. */
export function jsonText(data: unknown, indent = 2): string {
  return `${printableLines(JSON.stringify(data, (_, value: unknown) => (typeof value === 'bigint' ? exact(value) : value), indent))}\n`;
}

/** The same as YAML, for readers of 1.1 as well as of 1.2: kubectl, and all that is written in Go, takes a plain `yes` for true and `1_000` for a number. */
export function yamlText(data: unknown): string {
  const document = new Document(data, { aliasDuplicateObjects: false, compat: 'yaml-1.1' });
  visit(document, {
    Scalar(_, node) {
      if (!isScalar(node) || typeof node.value !== 'string') return;
      // In double quotes the escapes that printableLines makes are read back.
      if (hasControls(node.value) || plainScalar(node.value) !== node.value) node.type = 'QUOTE_DOUBLE';
    },
  });
  return printableLines(document.toString({ lineWidth: 0 }));
}

function exact(value: bigint): unknown {
  // In Node 24, not yet in TypeScript's library.
  return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(value.toString());
}

/** One line on stderr that redraws itself. Without a terminal it is silent; NO_COLOR is about colors alone. */
export interface Progress {
  draw(text: string): void;
  clear(): void;
}

/** A terminal that does not know its width says 0. */
const DEFAULT_COLUMNS = 80;

export function progress({ stderr, env }: Pick<Context, 'stderr' | 'env'>): Progress {
  if (!stderr.isTTY || env['TERM'] === 'dumb') return { draw: () => undefined, clear: () => undefined };
  let drawn = '';
  return {
    draw: (text) => {
      const line = text.slice(0, Math.max((stderr.columns || DEFAULT_COLUMNS) - 1, 1));
      if (line !== drawn) stderr.write(`\r\u001b[K${line}`);
      drawn = line;
    },
    clear: () => {
      if (drawn !== '') stderr.write('\r\u001b[K');
      drawn = '';
    },
  };
}
