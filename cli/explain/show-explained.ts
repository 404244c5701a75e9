import { show, table } from '../output.ts';
import type { Args } from '../args.ts';
import type { Context } from '../command.ts';

/** One line of an explanation, of whatever kind of set. */
export interface Explained {
  object: string;
  reason: string;
  detail: string;
}

/** @param title - what the objects are. @param nothing - the sentence for people when there is no line */
export function showExplained(
  context: Context,
  args: Args,
  found: readonly Explained[],
  { title, nothing }: { title: string; nothing: string },
): Promise<void> {
  return show(context, args, {
    data: found.map(({ object, reason, detail }) => ({ object, reason, detail })),
    people: (how) =>
      found.length === 0
        ? `Nothing to explain: ${nothing}.\n`
        : table(
            [
              { title, value: ({ object }) => object },
              { title: 'REASON', value: ({ reason }) => reason },
              { title: 'DETAIL', value: ({ detail }) => detail },
            ],
            found,
            how,
          ),
  });
}
