/** Longest text of a gate's result, in characters. */
const MAX_WHY = 256;
const MAX_EXCERPT = 100;

/** What a server said, so that it fits into a status: one line, printable, at most `length` characters. */
export function excerpt(text: string, length = MAX_EXCERPT): string {
  // More than is kept is not looked at: the text may have a megabyte.
  const line = text
    .slice(0, 4 * length)
    .replaceAll(/[^\p{L}\p{N}\p{P}\p{S}]+/gu, ' ')
    .trim();
  return line.length > length ? `${line.slice(0, length - 3).toWellFormed()}...` : line;
}

export const boundedWhy = (text: string): string => excerpt(text, MAX_WHY);
