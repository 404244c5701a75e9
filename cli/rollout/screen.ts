import type { Sink } from '../command.ts';

/** A terminal that does not know its size says 0. */
const DEFAULT_COLUMNS = 80;
const DEFAULT_ROWS = 24;
/** Columns of a line that colors take none of. */
const COLORS = /\u001b\[[0-9;]*m/g;

/** Text on a terminal that is drawn again in its place. What is taller than the terminal is cut: what has scrolled away cannot be drawn again. */
export class Screen {
  readonly #sink: Sink;
  #rows = 0;
  #drawn = '';

  constructor(sink: Sink) {
    this.#sink = sink;
  }

  draw(text: string): void {
    if (text === this.#drawn) return;
    this.#drawn = text;
    const columns = this.#sink.columns || DEFAULT_COLUMNS;
    const all = text.trimEnd().split('\n').map((line) => clipped(line, columns)); // prettier-ignore
    const most = Math.max(2, (this.#sink.rows || DEFAULT_ROWS) - 1);
    const lines = all.length <= most ? all : [...all.slice(0, most - 1), `... ${all.length - most + 1} more lines`];
    const up = this.#rows === 0 ? '' : `\u001b[${this.#rows}A`;
    this.#sink.write(`${up}${lines.map((line) => `\r\u001b[K${line}\n`).join('')}\u001b[J`);
    this.#rows = lines.length;
  }
}

/** As long as fits on one row: a wrapped line would be counted as one. A line that is cut has no colors. */
function clipped(line: string, columns: number): string {
  const plain = line.replace(COLORS, '');
  return plain.length < columns ? line : plain.slice(0, columns - 1);
}
