import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { live } from '../test/support/soak/live.ts';
import type { Figure } from './figure.ts';

const MB = 2 ** 20;
const MINUTES = Number(process.env['DKC_SOAK_MINUTES'] ?? 30);

/** Half an hour of users and faults over real sockets. Only when asked for by name: `npm run bench -- soak`. */
export async function soak(): Promise<Figure[]> {
  setFlagsFromString('--expose-gc');
  const { problems, left, heap, leaked, changes } = await live(MINUTES, Date.now() % 1_000, runInNewContext('gc') as () => void);
  const wrong = [...problems, ...leaked, ...Object.entries(left).flatMap(([what, count]) => (count === 0 ? [] : [`${count} ${what}`]))];
  for (const one of wrong) console.error(`soak: ${one}`);
  const third = Math.ceil(heap.length / 3);
  const megabytes = (name: string, from: number, to?: number) => ({
    name,
    unit: 'MB',
    values: heap.slice(from, to).map((bytes) => bytes / MB),
  });
  return [
    {
      what: `soak of ${MINUTES} min, ${changes} changes: left wrong or behind`,
      ours: { name: 'soak', unit: 'things', values: [wrong.length] },
      reach: { atMost: 0 },
    },
    {
      what: `soak of ${MINUTES} min: memory in the last third`,
      ours: megabytes('last third', -third),
      against: megabytes('second third', third, 2 * third),
      reach: { atMost: 1.05 },
    },
  ];
}
