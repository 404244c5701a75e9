import type { FileDifference } from '../../agent/admin/diff.ts';
import type { Json } from '../../agent/config/contract.ts';
import { printable, printableLines } from '../printable.ts';

const LONGEST_VALUE = 60;

/** A value on one line: text bare, all else as JSON, null as not there. */
export function valueText(value: Json): string {
  if (value === null) return '';
  const text =
    typeof value === 'string' ? value : JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? part.toString() : part));
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE - 3)}...` : text;
}

/** Unified diffs of the files that differ. */
export async function filesText(files: readonly FileDifference[], from: string, to: string): Promise<string> {
  const { createTwoFilesPatch } = await import('diff');
  const patches = files.map(({ key, ...texts }) => {
    const name = (side: string, text: string | null) => (text === null ? '/dev/null' : printable(`${side}/${key}`));
    return createTwoFilesPatch(name(from, texts.from), name(to, texts.to), texts.from ?? '', texts.to ?? '', undefined, undefined, {
      context: 3,
    });
  });
  return printableLines(patches.map((patch) => patch.replace(/^=+\n/, '')).join(''));
}
