import type { Context } from '../command.ts';

/** One line on stderr that redraws itself. Without a terminal it is silent; NO_COLOR is about colors alone. */
export interface Progress {
  draw(text: string): void;
  clear(): void;
}

/** A terminal that does not know its width says 0. */
const DEFAULT_COLUMNS = 80;

export function progress({ stderr, env }: Pick<Context, 'stderr' | 'env'>): Progress {
  if (!stderr.isTTY || env['TERM'] === 'dumb') return { draw: () => undefined, clear: () => undefined };
  let drawn = '';
  return {
    draw: (text) => {
      const line = text.slice(0, Math.max((stderr.columns || DEFAULT_COLUMNS) - 1, 1));
      if (line !== drawn) stderr.write(`\r\u001b[K${line}`);
      drawn = line;
    },
    clear: () => {
      if (drawn !== '') stderr.write('\r\u001b[K');
      drawn = '';
    },
  };
}
