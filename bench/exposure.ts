import type { Figure } from './figure.ts';
import { onMachine, whyNoMachine } from '../test/suites/systemd/machine.ts';
import type { InstallationResult } from '../test/suites/systemd/scenarios/installation.ts';

/** systemd's rating of the unit's sandbox (systemd-analyze security), on a throw-away machine. */
export async function exposure(): Promise<Figure[] | string> {
  const why = await whyNoMachine();
  if (why !== undefined) return why;
  const seen = await onMachine<InstallationResult>('installation', { options: { tampers: false } });
  return [
    {
      what: `systemd exposure score (a plain unit has 9.8), systemd ${seen.systemd}`,
      ours: { name: 'dkc-agent.service', unit: 'points', values: [seen.exposure] },
      reach: { atMost: 2 },
    },
  ];
}
