import { type Document, isScalar, visit } from 'yaml';

/**
 * Does a line of block style begin with a tab? goyaml refuses what the YAML library lets pass. A tab may stand at the start of a line
 * inside of brackets and quotes, and after at least one space where an unquoted scalar goes on.
 * @param document - what the library made of `text`
 */
export function hasMisplacedTab(document: Document.Parsed, text: string): boolean {
  const lines = [...text.matchAll(/^( *)\t/gm)].map(({ index, [1]: spaces = '' }) => ({ at: index, spaces: spaces.length }));
  const end = document.range[2];
  for (const { at, spaces } of lines) {
    if (at >= end) continue;
    const before = text.slice(0, at).trimEnd().length;
    let excused = false;
    visit(document, {
      Node: (_, node) => {
        if (node.range === undefined || node.range === null || !('range' in node)) return undefined;
        const [from, to] = node.range;
        if (from > at) return undefined;
        if (isScalar(node)) {
          if (node.type === 'PLAIN') excused ||= spaces > 0 && node.source !== '' && to >= before;
          else if (to > at) excused ||= spaces > 0 || node.type === 'QUOTE_DOUBLE' || node.type === 'QUOTE_SINGLE';
        } else if ('flow' in node && node.flow) excused ||= to > at;
        return excused ? visit.BREAK : undefined;
      },
    });
    if (!excused) return true;
  }
  return false;
}
