import { type Document, isScalar, visit } from 'yaml';

/** Stretches of a text, in their order; one that begins in another is part of it. */
class Stretches {
  readonly #all: [from: number, to: number][] = [];

  add(from: number, to: number): void {
    const last = this.#all.at(-1);
    if (last === undefined || from > last[1]) this.#all.push([from, to]);
    else last[1] = Math.max(last[1], to);
  }

  /** The end of the last stretch that begins at or before `at`; -1 for none. */
  endBefore(at: number): number {
    let [low, high] = [0, this.#all.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#all[middle]?.[0] ?? 0) <= at) low = middle + 1;
      else high = middle;
    }
    return this.#all[low - 1]?.[1] ?? -1;
  }
}

/**
 * Where a line of block style begins with a tab: goyaml refuses what the YAML library lets pass. A tab may stand at the start of a line
 * inside of brackets and quotes, and after at least one space where an unquoted scalar goes on.
 * @param document - what the library made of `text`; it is gone through once, however many lines begin so
 * @returns the offset of the tab, or undefined
 */
export function misplacedTab(document: Document.Parsed, text: string): number | undefined {
  const [brackets, quotes, blocks, plain] = [new Stretches(), new Stretches(), new Stretches(), new Stretches()];
  visit(document, {
    Node: (_, node) => {
      if (node.range === undefined || node.range === null || !('range' in node)) return;
      const [from, to] = node.range;
      if (isScalar(node)) {
        if (node.type === 'PLAIN') {
          if (node.source !== '') plain.add(from, to);
        } else (node.type === 'QUOTE_DOUBLE' || node.type === 'QUOTE_SINGLE' ? quotes : blocks).add(from, to);
      } else if ('flow' in node && node.flow) brackets.add(from, to);
    },
  });
  const end = document.range[2];
  let [seen, lastText] = [0, 0];
  for (const { index: at, [1]: spaces = '' } of text.matchAll(/^( *)\t/gm)) {
    if (at >= end) break;
    // The end of the last text before the line, looked for from where the line before left off.
    for (; seen < at; seen++) if (!/\s/.test(text[seen] ?? '')) lastText = seen + 1;
    const excused =
      brackets.endBefore(at) > at ||
      quotes.endBefore(at) > at ||
      (spaces !== '' && (blocks.endBefore(at) > at || plain.endBefore(at) >= lastText));
    if (!excused) return at + spaces.length;
  }
  return undefined;
}
