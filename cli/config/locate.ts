import { isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';

/** Longer texts are read without lines: the library that knows them takes its time. */
const MAX_TEXT = 256 * 1024;

/**
 * Where fields stand in a text, YAML or JSON.
 * @returns a question: the line of a path such as `registerWithTaints[0].key`, of what is nearest above it where that is not written, undefined
 * where nothing of it is. Of a key that stands more than once it is the last one, which counts
 */
export function locator(bytes: Uint8Array): (path: string) => number | undefined {
  const text = new TextDecoder().decode(bytes);
  if (text.length > MAX_TEXT) return () => undefined;
  const lines = new LineCounter();
  // Whatever is wrong with the text is said elsewhere.
  const { contents } = parseDocument(text, {
    lineCounter: lines,
    schema: 'failsafe',
    uniqueKeys: false,
    logLevel: 'silent',
    prettyErrors: false,
  });
  return (path) => {
    const at = offsetOf(contents, path);
    return at === undefined ? undefined : lines.linePos(at).line;
  };
}

function offsetOf(root: unknown, path: string): number | undefined {
  let [node, rest, at]: [unknown, string, number | undefined] = [root, path, undefined];
  while (rest !== '') {
    if (isMap(node)) {
      const { items } = node;
      const fits = items.filter(({ key }) => isScalar(key) && beginsWith(rest, String(key.value)));
      // A name may hold dots: the longest that fits is meant.
      const found = fits.reduce<(typeof items)[number] | undefined>(
        (best, one) => (best === undefined || nameOf(one).length >= nameOf(best).length ? one : best),
        undefined,
      );
      if (found === undefined || !isScalar(found.key)) return at;
      at = found.key.range?.[0] ?? at;
      rest = rest.slice(nameOf(found).length).replace(/^\./, '');
      node = found.value;
    } else if (isSeq(node)) {
      const [step, index] = /^\[(\d+)\]\.?/.exec(rest) ?? [];
      const item = index === undefined ? undefined : node.items[Number(index)];
      if (step === undefined || item === undefined || item === null) return at;
      at = (item as { range?: [number, number, number] | null }).range?.[0] ?? at;
      rest = rest.slice(step.length);
      node = item;
    } else return at;
  }
  return at;
}

const nameOf = ({ key }: { key: unknown }): string => (isScalar(key) ? String(key.value) : '');

function beginsWith(path: string, name: string): boolean {
  return path.startsWith(name) && ['', '.', '['].includes(path.charAt(name.length));
}
