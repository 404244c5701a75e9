// Decode + defaults + validation: ours against the kubelet's own code (kubelet-validate), on the same texts in one run.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { applyDefaults } from '../agent/config/defaults.ts';
import { decode } from '../agent/config/decode.ts';
import { validate } from '../agent/config/validate.ts';
import { parseKubeletVersion } from '../agent/config/version.ts';
import { openValidator, realParts, RealPartsUnavailable } from '../test/real-parts/real-kubelet.ts';

const dir = join(import.meta.dirname, '../fixtures/kubelet-config/good');
const texts = readdirSync(dir)
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => readFileSync(join(dir, name)));
const version = parseKubeletVersion('1.20.2');
const ROUND_MS = 2000;

function ours(): number {
  let count = 0;
  const start = performance.now();
  while (performance.now() - start < ROUND_MS) {
    for (const text of texts) {
      const decoded = decode(text, version);
      if (decoded.ok) validate(applyDefaults(decoded.written, version), { version });
      count++;
    }
  }
  return (count / (performance.now() - start)) * 1000;
}

async function theirs(): Promise<number | null> {
  try {
    const { dir } = await realParts(['kubelet-validate']);
    const validator = openValidator(join(dir, 'kubelet-validate'));
    const questions = texts.map((text) => text.toString('utf8'));
    let count = 0;
    const start = performance.now();
    while (performance.now() - start < ROUND_MS) {
      const round = Array.from({ length: 20 }, () => questions).flat();
      await Promise.all(round.map((text) => validator.validate(text)));
      count += round.length;
    }
    const rate = (count / (performance.now() - start)) * 1000;
    await validator.close();
    return rate;
  } catch (error) {
    if (!(error instanceof RealPartsUnavailable)) throw error;
    console.error(`no kubelet-validate here: ${error.message}`);
    return null;
  }
}

ours(); // warm up
// Turn by turn, so that a busy machine disturbs both alike; the best round of each counts.
const rounds: { ours: number; theirs: number | null }[] = [];
for (let n = 0; n < 3; n++) rounds.push({ ours: ours(), theirs: await theirs() });
const best = (rates: readonly (number | null)[]): number | null => (rates.includes(null) ? null : Math.max(...rates.map(Number)));
const [mine, kubelet] = [best(rounds.map((round) => round.ours)), best(rounds.map((round) => round.theirs))];
const whole = (rate: number | null): number | null => (rate === null ? null : Math.round(rate));
console.log(
  JSON.stringify({
    name: 'decode + validate, texts a second',
    texts: texts.length,
    ours: whole(mine),
    theirs: whole(kubelet),
    ratio: mine === null || kubelet === null ? null : Math.round((mine / kubelet) * 100) / 100,
  }),
);
