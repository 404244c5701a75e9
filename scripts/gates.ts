import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { REMOVED_GATE_LINES } from '../agent/config/gates/removed.ts';
import { GATE_LINES } from '../agent/config/gates/table.ts';
import { NEWEST_MINOR, OLDEST_MINOR } from '../agent/config/version.ts';
import { changedGateLines, printedGates } from './gate-table.ts';

/**
 * `npm run gates`: what the table of feature gates would have to say to agree with the kubelets in DKC_REAL_KUBERNETES.
 * Exits with 1 when that is anything, with 2 when there is none to ask.
 */
const dir = process.env['DKC_REAL_KUBERNETES'] ?? '';
const programs = Array.from({ length: NEWEST_MINOR - OLDEST_MINOR + 1 }, (_, n) => OLDEST_MINOR + n).flatMap((minor) => {
  const path = join(dir, `kubelet-validate-1.${minor}`);
  return dir !== '' && existsSync(path) ? [{ minor, path }] : [];
});
if (programs.length === 0) {
  console.error('There is no kubelet-validate-1.MINOR: set DKC_REAL_KUBERNETES to a folder that has some; see docs/testing.md');
  process.exit(2);
}
const measured = new Map(
  programs.map(({ minor, path }) => [
    minor,
    printedGates(execFileSync(path, ['-gates'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }), minor),
  ]),
);
const changes = changedGateLines(`${GATE_LINES.trim()}\n${REMOVED_GATE_LINES.trim()}`.split('\n'), measured);
for (const { from, to } of changes) console.log([...(from === '' ? [] : [`- ${from}`]), ...(to === '' ? [] : [`+ ${to}`])].join('\n'));
console.log(
  `${programs.map(({ minor }) => `1.${minor}`).join(', ')}: ${changes.length === 0 ? 'the table agrees' : `${changes.length} lines of the table would change`}`,
);
if (changes.length > 0) process.exitCode = 1;
