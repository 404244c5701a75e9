import { Document, isScalar, visit } from 'yaml';
import { hasControls, printableLines } from './printable.ts';

/** JSON for scripts: big integers exact, a line end last. Control characters appear as escapes. */
export function jsonText(data: unknown, indent = 2): string {
  return `${printableLines(JSON.stringify(data, (_, value: unknown) => (typeof value === 'bigint' ? exact(value) : value), indent))}\n`;
}

/** The same as YAML. */
export function yamlText(data: unknown): string {
  const document = new Document(data, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar(_, node) {
      // In double quotes the escapes that printableLines makes are read back.
      if (isScalar(node) && typeof node.value === 'string' && hasControls(node.value)) node.type = 'QUOTE_DOUBLE';
    },
  });
  return printableLines(document.toString({ lineWidth: 0 }));
}

function exact(value: bigint): unknown {
  // In Node 24, not yet in TypeScript's library.
  return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(value.toString());
}
