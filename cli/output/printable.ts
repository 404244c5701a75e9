import { Document, isScalar, visit } from 'yaml';
import { CONTROLS, escaped } from '../../base/line-log.ts';
import { plainScalar } from '../../agent/config/yaml/scalar.ts';
import { isJsonObject } from '../../kube/api/json.ts';
import type { Context } from '../command.ts';

/** `text` on one line, with control characters escaped. For cells and messages. */
export function printable(text: string): string {
  return text.replace(CONTROLS, (character) => (character === '\n' || character === '\t' ? ' ' : escaped(character)));
}

/** Like {@link printable} for the text of a file: keeps line breaks and tabs. */
export function printableLines(text: string): string {
  return text.replace(CONTROLS, (character) => (character === '\n' || character === '\t' ? character : escaped(character)));
}

/** Whether {@link printable} would change `text`, apart from line breaks and tabs. */
function hasControls(text: string): boolean {
  return printableLines(text) !== text;
}

/** An API object, or a list of them, without managedFields, like kubectl's output; other data is unchanged. */
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

/** The same as YAML that parsers of 1.1 and 1.2 read alike: Go's parsers, and so kubectl, read a plain `yes` as true and `1_000` as a number. */
export function yamlText(data: unknown): string {
  const document = new Document(data, { aliasDuplicateObjects: false, compat: 'yaml-1.1' });
  visit(document, {
    Scalar(_, node) {
      if (!isScalar(node) || typeof node.value !== 'string') return;
      // The escapes of printableLines are parsed back only inside double quotes.
      if (hasControls(node.value) || plainScalar(node.value) !== node.value) node.type = 'QUOTE_DOUBLE';
    },
  });
  return printableLines(document.toString({ lineWidth: 0 }));
}

function exact(value: bigint): unknown {
  // JSON.rawJSON exists in Node 24, but not yet in TypeScript's library.
  return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(value.toString());
}

/** One line on stderr that redraws itself. Without a terminal it is silent; NO_COLOR affects only colors. */
export interface Progress {
  draw(text: string): void;
  clear(): void;
}

/** Used if the terminal reports a width of 0, which means unknown. */
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
