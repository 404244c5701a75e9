/**
 * Splits what stands before the cursor as a shell does, as far as completion needs it: blanks, quotes, backslashes.
 * @returns the words, the last one being typed right now and perhaps empty
 */
export function splitLine(line: string): string[] {
  const words: string[] = [];
  let word = '';
  let quote = '';
  for (let at = 0; at < line.length; at++) {
    const c = line.charAt(at);
    if (quote === "'" ? c === "'" : quote === '"' && c === '"') quote = '';
    else if (c === '\\' && quote !== "'") word += line.charAt(++at);
    else if (quote !== '') word += c;
    else if (c === '"' || c === "'") quote = c;
    else if (c === ' ' || c === '\t' || c === '\n') {
      if (word !== '' || at > 0) words.push(word);
      word = '';
    } else word += c;
  }
  words.push(word);
  return words.filter((one, at) => one !== '' || at === words.length - 1);
}
