import { describeError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';

const members = { Node: 'node', NodeConfig: 'nodeConfig' } as const;

/**
 * Reports failures of a carrier's watch: the first in a row as a warning, the others at level debug, so that a long outage is one line of the log.
 * @param handlers - `onTrouble` gets the text of each
 */
export function failedWatch(
  log: Log,
  kind: keyof typeof members,
  name: string,
  handlers: { onTrouble?(text: string): void },
): (error: unknown, failures: number) => void {
  return (error, failures) => {
    log[failures === 1 ? 'warn' : 'debug'](`failed to watch ${kind}, retrying`, { [members[kind]]: name, failures, error });
    handlers.onTrouble?.(describeError(error));
  };
}
