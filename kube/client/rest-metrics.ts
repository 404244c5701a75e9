/** What a client reports of its requests. Hosts are `name:port`, verbs HTTP methods, times in seconds. */
export interface RestMetrics {
  /** An attempt was answered with this status, or with `<error>`: not at all. */
  answered(to: { code: string; method: string; host: string }): void;
  /** A request ended, its repetitions and its body included. */
  took(to: { verb: string; host: string; seconds: number }): void;
  /** An attempt is made again after this status. */
  retried(to: { code: string; verb: string; host: string }): void;
  /** A request waited for one of its load's slots. */
  waited(to: { verb: string; host: string; seconds: number }): void;
  dialled(to: { host: string; result: 'h2' | 'http/1.1' | 'error' }): void;
  /** A connection was given up because nothing answered on it. */
  foundDead(to: { host: string }): void;
}

export const noRestMetrics: RestMetrics = {
  answered() {},
  took() {},
  retried() {},
  waited() {},
  dialled() {},
  foundDead() {},
};
