import type { Random } from '../../../base/random.ts';

const PIECES = [' ', '  ', '\t', '\n', ':', ': ', '-', '- ', '#', ' #', '"', "'", '{', '}', '[', ']', ',', '&a ', '*a', '|', '>', '~', '!', '%', '@', '?', '? ', '---\n', '...\n', '0', 'x', '\r', '\\', '<<: ', 'é']; // prettier-ignore

/** Endless texts that are one or two slips of the pen away from real configurations. */
export function* mutatedTexts(random: Random, originals: readonly string[]): Generator<string> {
  const below = (limit: number): number => Math.floor(random() * limit);
  const good = originals.filter((text) => text.length < 4000);
  for (;;) {
    let text = good[below(good.length)] ?? '';
    for (let times = 1 + below(2); times > 0; times--) text = mutated(text, below);
    yield text;
  }
}

function mutated(text: string, below: (limit: number) => number): string {
  const at = below(text.length + 1);
  const lines = text.split('\n');
  const line = below(lines.length);
  switch (below(8)) {
    case 0:
      return text.slice(0, at) + (PIECES[below(PIECES.length)] ?? '') + text.slice(at);
    case 1:
      return text.slice(0, at) + text.slice(at + 1 + below(3));
    case 2:
      return lines.toSpliced(line, 1).join('\n');
    case 3:
      return lines.toSpliced(line, 0, lines[below(lines.length)] ?? '').join('\n');
    case 4:
      return lines.with(line, `${' '.repeat(1 + below(3))}${lines[line] ?? ''}`).join('\n');
    case 5:
      return lines.with(line, (lines[line] ?? '').replace(/^ {1,2}/, '')).join('\n');
    case 6: // a tab where a line begins, behind its blanks and marks; or a line of nothing else
      return below(2) === 0
        ? lines.toSpliced(line, 0, `${' '.repeat(below(5))}\t${below(2) === 0 ? '' : '# x'}`).join('\n')
        : lines.with(line, (lines[line] ?? '').replace(/^ *[-?:]? {0,1}/, '$&\t')).join('\n');
    default:
      return text.slice(0, at);
  }
}
