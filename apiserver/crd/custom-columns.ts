import { age, ageColumn, nameColumn } from '../table/column.ts';
import type { Column } from '../table/column.ts';
import { valuesAt } from './json-path.ts';
import { nodesOf, numberOf, textOf } from './node.ts';
import type { Node } from './node.ts';

/** The columns of `kubectl get`: the name, and what the author wants shown, or the age. */
export function customColumns(written: unknown): Column[] {
  const columns = nodesOf(written).map(column);
  return [nameColumn, ...(columns.length === 0 ? [ageColumn] : columns)];
}

function column(written: Node): Column {
  const path = textOf(written['jsonPath']);
  const type = textOf(written['type']);
  return {
    name: textOf(written['name']),
    type: type === 'integer' || type === 'date' ? type : 'string',
    format: textOf(written['format']),
    description: textOf(written['description']) || `Custom resource definition column (in JSONPath format): ${path}`,
    wide: (numberOf(written['priority']) ?? 0) > 0,
    cell(object, now) {
      const [found] = valuesAt(object, path);
      if (found === undefined || found === null) return '';
      if (type === 'date') return age(textOf(found), now);
      if (type === 'integer' || type === 'number') return typeof found === 'number' ? found : '';
      return typeof found === 'string' ? found : JSON.stringify(found);
    },
  };
}
