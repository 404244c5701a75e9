import type { Context } from './command.ts';

/** One line on stderr that redraws itself. Without a terminal, or with NO_COLOR, it is silent. */
export interface Progress {
  draw(text: string): void;
  clear(): void;
}

export function progress({ stderr, env }: Pick<Context, 'stderr' | 'env'>): Progress {
  if (!stderr.isTTY || (env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb') return { draw: () => undefined, clear: () => undefined };
  return {
    draw: (text) => stderr.write(`\r\u001b[K${text.slice(0, (stderr.columns ?? 80) - 1)}`),
    clear: () => stderr.write('\r\u001b[K'),
  };
}
