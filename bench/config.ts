import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { applyDefaults } from '../agent/config/defaults.ts';
import { decode } from '../agent/config/decode/decode.ts';
import { validate } from '../agent/config/rules/validate.ts';
import { parseKubeletVersion } from '../agent/config/version.ts';
import { openValidator, realParts, RealPartsUnavailable, type Validator } from '../test/support/real-parts/real-kubelet.ts';
import type { Figure } from './figure.ts';

const version = parseKubeletVersion('1.20.2');
const ROUND_MS = 1000;
const PAIRS = 7;

/**
 * Decoding, defaults and validation: ours against the kubelet's code, on the same texts. The kubelet's code runs behind a pipe with many
 * requests in flight; the cost of the pipe is counted against it.
 * @returns the reason if the kubelet's code is not available
 */
export async function configReading(): Promise<Figure[] | string> {
  const dir = join(import.meta.dirname, '../fixtures/kubelet-config/good');
  const texts = readdirSync(dir)
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => readFileSync(join(dir, name)));
  let parts: { dir: string };
  try {
    parts = await realParts(['kubelet-validate']);
  } catch (error) {
    if (error instanceof RealPartsUnavailable) return error.message;
    throw error;
  }
  const validator = openValidator(join(parts.dir, 'kubelet-validate'));
  try {
    const rates = { ours: [] as number[], theirs: [] as number[] };
    for (let n = 0; n <= PAIRS; n++) {
      const [ours, theirs] = [ourRate(texts), await theirRate(validator, texts)];
      if (n === 0) continue; // warms up
      rates.ours.push(ours);
      rates.theirs.push(theirs);
    }
    return [
      {
        what: `decode + validate, ${texts.length} real files`,
        ours: { name: 'dkc', unit: 'texts/s', values: rates.ours },
        against: { name: "the kubelet's code", unit: 'texts/s', values: rates.theirs },
        reach: { atLeast: 1 },
      },
    ];
  } finally {
    await validator.close();
  }
}

function ourRate(texts: readonly Uint8Array[]): number {
  let count = 0;
  const from = performance.now();
  while (performance.now() - from < ROUND_MS) {
    for (const text of texts) {
      const decoded = decode(text, version);
      if (decoded.ok) validate(applyDefaults(decoded.written, version), { version });
      count++;
    }
  }
  return (count / (performance.now() - from)) * 1000;
}

async function theirRate(validator: Validator, texts: readonly Uint8Array[]): Promise<number> {
  const questions = texts.map((text) => new TextDecoder().decode(text));
  let count = 0;
  const from = performance.now();
  while (performance.now() - from < ROUND_MS) {
    const round = Array.from({ length: 20 }, () => questions).flat();
    await Promise.all(round.map((text) => validator.validate(text)));
    count += round.length;
  }
  return (count / (performance.now() - from)) * 1000;
}
