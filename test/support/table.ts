type Names<Header extends string> = Header extends `${infer First} | ${infer Others}` ? First | Names<Others> : Header;

/**
 * Reads a table in a text: a row a line, `|` between cells. A line that begins with `|` belongs to the one before, one that begins with `#` is a comment.
 * @param header - the names of the columns, `a | b | c`
 */
export function table<Header extends string>(header: Header): (text: string) => Record<Names<Header>, string>[] {
  const names = header.split(' | ');
  return (text) => {
    const lines = text.replaceAll(/\n\s*\|/g, ' |').split('\n');
    return lines.filter((line) => /^\s*[^\s#]/.test(line)).map((line) => row(line, names));
  };
}

function row(line: string, names: readonly string[]): Record<string, string> {
  const cells = line.split('|').map((cell) => cell.trim());
  if (cells.length !== names.length) throw new RangeError(`not ${names.length} cells: ${line}`);
  return Object.fromEntries(names.map((name, at) => [name, cells[at] ?? '']));
}
