import { show, table } from '../output/output.ts';
import type { Args } from '../args/args.ts';
import type { Context } from '../command.ts';

/** One line of an explanation, of whatever kind of set. */
export interface Explained {
  object: string;
  reason: string;
  detail: string;
}

/** @param title - what the objects are. @param nothing - the sentence for people when there is no line. @param about - the object that was asked for */
export function showExplained(
  context: Context,
  args: Args,
  found: readonly Explained[],
  { title, nothing, about }: { title: string; nothing: string; about?: string },
): Promise<void> {
  return show(context, args, {
    data: found.map(({ object, reason, detail }) => ({ object, reason, detail })),
    people: (how) =>
      found.length === 0
        ? `Nothing to explain: ${nothing}.\n`
        : table(
            [
              // One that is all that is spoken of says nothing in each row.
              ...(found.every(({ object }) => object === about) ? [] : [{ title, value: ({ object }: Explained) => object }]),
              { title: 'REASON', value: ({ reason }) => reason },
              { title: 'DETAIL', value: detailBeside },
            ],
            found,
            how,
          ),
  });
}

/** What the detail says beyond the reason, which stands beside it: `not ready` is no news beside NotReady. */
function detailBeside({ reason, detail }: Explained): string {
  const text = detail.replace(` (${reason})`, '');
  const letters = (words: string): string => words.replaceAll(/[^a-z]/gi, '').toLowerCase();
  return letters(text) === letters(reason) ? '' : text;
}
