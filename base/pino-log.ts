import pino from 'pino';
import { describeError } from './errors.ts';
import type { Fields, Log, LogLevel } from './log.ts';

/** syslog's numbers, which journald reads from a leading `<N>`. */
const priority: Record<LogLevel, number> = { debug: 7, info: 6, warn: 4, error: 3 };

export interface LogOptions {
  /** Lowest level written. @default 'info' */
  level?: LogLevel;
  /** `journald` puts `<N>` before each line and leaves the time to the journal; `text` begins with the time. @default 'text' */
  format?: 'text' | 'journald' | 'json';
  /** File descriptor. @default 2, so that data on stdout stays clean */
  fd?: number;
}

/** A log that writes at once: a line said just before the process ends is never lost. */
export function openLog(options: LogOptions = {}): Log {
  const { level = 'info', format = 'text', fd = 2 } = options;
  const destination = pino.destination({ fd, sync: true });
  if (format === 'json') return wrap(pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination));
  const write = (line: string): void => void destination.write(line);
  return lines({ write, level, journald: format === 'journald', fields: {} });
}

function wrap(logger: pino.Logger): Log {
  const plain = (fields: Fields = {}): Fields => Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, readable(value)]));
  return {
    debug: (text, fields) => logger.debug(plain(fields), text),
    info: (text, fields) => logger.info(plain(fields), text),
    warn: (text, fields) => logger.warn(plain(fields), text),
    error: (text, fields) => logger.error(plain(fields), text),
    with: (fields) => wrap(logger.child(plain(fields))),
  };
}

const readable = (value: unknown): unknown => (value instanceof Error ? describeError(value) : value);

interface Lines {
  write(line: string): void;
  level: LogLevel;
  journald: boolean;
  fields: Fields;
}

/** Lines for people: text first, then `name=value`. */
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

/** One line each, whatever a server or a file put into it: no control character reaches a terminal. */
function quoted(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined');
  // JSON leaves C1 controls as they are; a terminal would obey them.
  return /^[\w./:@+,-]+$/.test(text)
    ? text
    : JSON.stringify(text).replace(/[\u007f-\u009f]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
