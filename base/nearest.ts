/** The name that was probably meant: at the smallest edit distance, if that is at most a third of it, else the first that begins so. */
export function nearest(asked: string, names: readonly string[]): string | undefined {
  const [best] = names.map((name) => ({ name, far: distance(asked, name) })).sort((a, b) => a.far - b.far);
  if (!best) return undefined;
  if (best.far <= Math.max(1, Math.floor(best.name.length / 3))) return best.name;
  return names.find((name) => name.startsWith(asked));
}

function distance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 0; i < a.length; i++) {
    const row = [i + 1];
    for (let j = 0; j < b.length; j++)
      row.push(Math.min((row[j] ?? 0) + 1, (above[j + 1] ?? 0) + 1, (above[j] ?? 0) + (a[i] === b[j] ? 0 : 1)));
    above = row;
  }
  return above[b.length] ?? 0;
}
