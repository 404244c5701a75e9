import type { Fields, Log, LogLevel } from '../../base/log.ts';

/** A log that keeps what it is told, for tests that ask whether something was said, and how loudly. */
export function recordedLog(): { log: Log; lines: string[]; fields: Fields[] } {
  const lines: string[] = [];
  const fields: Fields[] = [];
  const line =
    (level: LogLevel) =>
    (text: string, facts: Fields = {}): void => {
      lines.push(`${level}: ${text}`);
      fields.push(facts);
    };
  const log: Log = { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error'), with: () => log };
  return { log, lines, fields };
}
