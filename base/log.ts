export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
export type Fields = Readonly<Record<string, unknown>>;

/** Constant text, facts as fields, one line per transition. Values of configuration fields never go in here. */
export interface Log {
  debug(text: string, fields?: Fields): void;
  info(text: string, fields?: Fields): void;
  warn(text: string, fields?: Fields): void;
  error(text: string, fields?: Fields): void;
  /** The same log with `fields` on every line. */
  with(fields: Fields): Log;
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => silentLog };
