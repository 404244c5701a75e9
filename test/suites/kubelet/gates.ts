import { execFileSync } from 'node:child_process';
import { gateLines } from '../../../agent/config/gates/gates.ts';
import { NEWEST_MINOR, OLDEST_MINOR } from '../../../agent/config/version.ts';
import { RealPartsUnavailable } from '../../support/real-parts/real-kubelet.ts';
import { releaseParts } from '../../support/real-parts/release.ts';
import { changedGateLines, printedGates } from './gate-table.ts';

/**
 * `npm run gates`: what the table of feature gates would have to say to agree with each kubelet-validate-1.MINOR in DKC_REAL_KUBERNETES.
 * Exits with 1 when that is anything, with 2 when there is none to ask.
 */
const measured = new Map<number, ReturnType<typeof printedGates>>();
for (let minor = OLDEST_MINOR; minor <= NEWEST_MINOR; minor++) {
  const program = await find(`kubelet-validate-1.${minor}`);
  if (program === undefined) continue;
  const text = execFileSync(program, ['-gates'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  measured.set(minor, printedGates(text, minor));
}
if (measured.size === 0) {
  console.error('There is no kubelet-validate-1.MINOR: set DKC_REAL_KUBERNETES to a folder that has some; see docs/testing.md');
  process.exit(2);
}
const changes = changedGateLines(gateLines, measured);
for (const { from, to } of changes) {
  if (from !== '') console.log(`- ${from}`);
  if (to !== '') console.log(`+ ${to}`);
}
const asked = [...measured.keys()].map((minor) => `1.${minor}`).join(', ');
console.log(`${asked}: ${changes.length === 0 ? 'the table agrees' : `${changes.length} lines of the table would change`}`);
if (changes.length > 0) process.exitCode = 1;

async function find(name: string): Promise<string | undefined> {
  try {
    return (await releaseParts([name]))[name];
  } catch (error) {
    if (error instanceof RealPartsUnavailable) return undefined;
    throw error;
  }
}
