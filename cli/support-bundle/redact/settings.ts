import { agentFlags } from '../../agent/flags.ts';
import { REDACTED, redactText } from './text.ts';
import type { Withheld } from './kubelet-config.ts';

/** An agent.yaml with the settings that dkc knows; URLs without user and query, and of keys that dkc does not know only that there are some. */
export function redactSettings(document: unknown, withheld: Withheld): Record<string, unknown> {
  if (typeof document !== 'object' || document === null) return {};
  const unknown = Object.entries(document).filter(([key]) => !agentFlags.some((flag) => flag.key === key));
  for (const [, value] of unknown) if (typeof value === 'string') withheld(value, 'unlisted');
  const known = Object.entries(document).filter(([key]) => agentFlags.some((flag) => flag.key === key));
  return {
    ...Object.fromEntries(known.map(([key, value]: [string, unknown]) => [key, shown(value)])),
    ...(unknown.length === 0 ? {} : { [`${unknown.length} unknown keys`]: REDACTED }),
  };
}

function shown(value: unknown): unknown {
  if (typeof value === 'string') return redactText(value);
  return value === null || ['number', 'boolean', 'bigint'].includes(typeof value) ? value : REDACTED;
}
