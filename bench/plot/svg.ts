/*
 * Not a library: the maintained chart libraries draw on a DOM or canvas, and bring a browser or a hundred packages; only bars are needed here.
 */

type Attributes = Readonly<Record<string, string | number>>;

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** An element; `content` is markup, not escaped. */
export function element(name: string, attributes: Attributes, content = ''): string {
  const given = Object.entries(attributes).map(([key, value]) => ` ${key}="${escaped(String(value))}"`).join(''); // prettier-ignore
  return content === '' ? `<${name}${given}/>` : `<${name}${given}>${content}</${name}>`;
}

export const textElement = (x: number, y: number, text: string, attributes: Attributes = {}): string =>
  element('text', { x, y, ...attributes }, escaped(text));

/** A complete picture, with a text for screen readers. Colors follow the reader's light or dark mode. */
export function picture(
  size: { width: number; height: number },
  { title, desc, style }: { title: string; desc: string; style: string },
  lines: readonly string[],
): string {
  const { width, height } = size;
  const body = [
    element('title', { id: 'title' }, escaped(title)),
    element('desc', { id: 'desc' }, escaped(desc)),
    `<style>${style}</style>`,
    ...lines,
  ];
  const attributes = {
    xmlns: 'http://www.w3.org/2000/svg',
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    role: 'img',
    'aria-labelledby': 'title desc',
  };
  return `${element('svg', attributes, `\n${body.map((line) => `  ${line}\n`).join('')}`)}\n`;
}
