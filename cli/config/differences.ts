import { jsonText } from '../output/structured.ts';
import { fine, wrong, type Context, type Exit } from '../command.ts';
import { show, table, type Paint } from '../output/output.ts';
import type { Json, FieldClass } from '../../agent/config/contract.ts';
import type { Args } from '../args/args.ts';
import type { Difference } from '../../agent/config/config.ts';

/** Prints where two configurations differ, for every command that compares. @returns 1 where they do */
export async function showDifferences(
  context: Context,
  args: Args,
  differences: readonly Difference[],
  a: string,
  b: string,
): Promise<Exit> {
  await show(context, args, {
    data: differences.map(({ field, class: of, from, to }) => ({ field, class: of, from, to })),
    people: (how) =>
      differences.length === 0
        ? `${a} and ${b} are equivalent.\n`
        : table(
            [
              { title: 'FIELD', value: ({ field }) => field },
              { title: 'CLASS', value: (one) => one.class, paint: (cell, one, paint) => classPaint(one.class, paint)(cell) },
              { title: 'FROM', value: ({ from }) => valueText(from, true) },
              { title: 'TO', value: ({ to }) => valueText(to, true) },
            ],
            differences,
            how,
          ),
  });
  return differences.length === 0
    ? fine
    : wrong(`${a} and ${b} differ in ${differences.length} field${differences.length === 1 ? '' : 's'}`);
}

/** The more a change can hurt, the louder. */
export function classPaint(of: FieldClass, paint: Paint): (text: string) => string {
  switch (of) {
    case 'safe':
      return paint.green;
    case 'needs-drain':
      return paint.yellow;
    case 'dangerous':
    case 'node-specific':
      return paint.red;
  }
}

/** Longer values are cut in a table that is not wide. */
const MAX_LENGTH = 48;

/** A value of a field in a table: text without quotes, all else as JSON; `-` for none. */
export function valueText(value: Json, wide: boolean): string {
  const text = value === null ? '-' : typeof value === 'string' ? (value === '' ? '""' : value) : jsonText(value, 0).trimEnd();
  return wide || text.length <= MAX_LENGTH ? text : `${text.slice(0, MAX_LENGTH - 2)}..`;
}
