import { writeSync } from 'node:fs';
import { describeError, errorCode } from './errors.ts';
import type { Fields, Log, LogLevel } from './log.ts';

/** syslog's numbers, which journald reads from a leading `<N>`. */
const priority: Record<LogLevel, number> = { debug: 7, info: 6, warn: 4, error: 3 };

export interface LineLogOptions {
  /** Lowest level written. @default 'info' */
  level?: LogLevel;
  /** `journald` puts `<N>` before each line and leaves the time to the journal; `text` begins with the time. @default 'text' */
  format?: 'text' | 'journald';
  /** File descriptor. @default 2, so that data on stdout stays clean */
  fd?: number;
}

/** The format for a program with this environment: systemd sets these variables where its journal reads the output. */
export const formatFor = (env: Readonly<Record<string, string | undefined>>): 'text' | 'journald' =>
  env['JOURNAL_STREAM'] !== undefined || env['INVOCATION_ID'] !== undefined ? 'journald' : 'text';

/**
 * Lines for people: text first, then `name=value`. Each line is written at once, so that one logged just before the process exits is never lost. Without
 * pino: loading that costs an agent 8 MB and 30 ms at every start, and its JSON is of no use to the journal.
 */
export function openLineLog({ level = 'info', format = 'text', fd = 2 }: LineLogOptions = {}): Log {
  return lines({ write: (line) => writeAll(fd, Buffer.from(line)), level, journald: format === 'journald', fields: {} });
}

/** Waits for a slow reader, as pino does. A closed reader, or a full disk, must not end the process: the line is lost. */
function writeAll(fd: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length;) {
    try {
      done += writeSync(fd, bytes, done);
    } catch (error) {
      if (errorCode(error) !== 'EAGAIN') return;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}

interface Lines {
  write(line: string): void;
  level: LogLevel;
  journald: boolean;
  fields: Fields;
}

function lines(to: Lines): Log {
  const say =
    (level: LogLevel) =>
    (text: string, fields: Fields = {}) => {
      if (priority[level] > priority[to.level]) return;
      const facts = Object.entries({ ...to.fields, ...fields }).map(([name, value]) => ` ${name}=${quoted(readable(value))}`);
      const head = to.journald ? `<${priority[level]}>` : `${new Date().toISOString()} ${level.toUpperCase().padEnd(5)} `;
      to.write(`${head}${text}${facts.join('')}\n`);
    };
  return {
    debug: say('debug'),
    info: say('info'),
    warn: say('warn'),
    error: say('error'),
    with: (fields) => lines({ ...to, fields: { ...to.fields, ...fields } }),
  };
}

/** A field as a log shows it: an error with its whole chain of causes. */
export const readable = (value: unknown): unknown => (value instanceof Error ? describeError(value) : value);

/** C0, DEL, C1 and characters that change the direction of text: a terminal obeys these. And invisible ones, which make two names look the same. */
export const CONTROLS =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** Escapes of the form `\u009b`, which JSON and YAML's double quotes read back as the same character. */
export const escaped = (character: string): string =>
  character.split('').map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''); // prettier-ignore

/** Always one line, whatever a server or a file contains: no control character reaches a terminal. */
function quoted(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined');
  // JSON escapes only C0.
  return /^[\w./:@+,-]+$/.test(text) ? text : JSON.stringify(text).replace(CONTROLS, escaped);
}
