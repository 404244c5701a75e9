import { Document, isScalar, visit } from 'yaml';
import { plainScalar } from '../../agent/config/yaml/scalar.ts';
import { isJsonObject } from '../../kube/api/json.ts';
import { hasControls, printableLines } from './printable.ts';

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
