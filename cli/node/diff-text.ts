import type { FileDifference } from '../../agent/admin/checkpoints.ts';
import { printable, printableLines } from '../output/printable.ts';

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
