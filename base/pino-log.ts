import pino from 'pino';
import { openLineLog, readable, type LineLogOptions } from './line-log.ts';
import type { Fields, Log } from './log.ts';

export interface LogOptions extends Omit<LineLogOptions, 'format'> {
  /** `json`: a line of JSON each, for a log collector. @default 'text' */
  format?: 'text' | 'journald' | 'json';
}

/** A log that writes at once: a line logged just before the process exits is never lost. */
export function openLog({ level = 'info', format = 'text', fd = 2 }: LogOptions = {}): Log {
  if (format !== 'json') return openLineLog({ level, format, fd });
  return wrap(pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination({ fd, sync: true })));
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
