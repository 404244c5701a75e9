import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { seededRandom } from '../../../base/random.ts';
import { openValidator, realParts, RealPartsUnavailable, type Validator } from '../../support/real-parts/real-kubelet.ts';
import { gatesOf } from '../../../agent/config/gates/gates.ts';
import { ourVerdict, theirVerdict } from './compare.ts';
import { deliberate } from './deliberate.ts';
import { mutatedTexts } from './mutations.ts';
import { generatedTexts, HEADER } from './texts.ts';

// Decode, defaults and validation against the kubelet's own code (1.20.2), text by text.
const GENERATED = Number(process.env['DKC_DIFFERENTIAL_TEXTS'] ?? 20_000);
const MUTATED = Math.ceil(GENERATED / 4);
const SEED = Number(process.env['DKC_DIFFERENTIAL_SEED'] ?? 20);

let validator: Validator | undefined;
let unavailable = '';

before(async () => {
  try {
    const { dir } = await realParts(['kubelet-validate']);
    validator = openValidator(join(dir, 'kubelet-validate'));
  } catch (error) {
    if (!(error instanceof RealPartsUnavailable) || process.env['CI'] === 'true') throw error;
    unavailable = error.message;
  }
});
after(async () => validator?.close());

const fixtureDir = join(import.meta.dirname, '../../../fixtures/kubelet-config');
const fixtures = (): string[] =>
  readdirSync(fixtureDir, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:yaml|json)$/.test(name) && !name.endsWith('index.json'))
    .map((name) => readFileSync(join(fixtureDir, name), 'utf8'));

interface Tally {
  texts: number;
  stages: Record<string, number>;
  excused: Map<string, number>;
  differences: string[];
}

/** Asks both about every text; a thousand questions are under way at a time. */
async function compareAll(judge: Validator, texts: Iterable<string>): Promise<Tally> {
  const tally: Tally = { texts: 0, stages: {}, excused: new Map(), differences: [] };
  for (const some of batches(texts, 1000)) {
    const answers = await Promise.all(some.map((text) => judge.validate(text)));
    for (const [index, answer] of answers.entries()) note(tally, some[index] ?? '', answer);
  }
  return tally;
}

function* batches(texts: Iterable<string>, size: number): Generator<string[]> {
  let batch: string[] = [];
  for (const text of texts) {
    batch.push(text);
    if (batch.length === size) {
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}

function note(tally: Tally, text: string, answer: Parameters<typeof theirVerdict>[0]): void {
  const { why, ...ours } = ourVerdict(text);
  const theirs = theirVerdict(answer);
  tally.texts++;
  tally.stages[theirs.stage] = (tally.stages[theirs.stage] ?? 0) + 1;
  if (isDeepStrictEqual(ours, theirs)) return;
  const excuse = deliberate.find((difference) => difference.excuses(text, ours, theirs));
  if (excuse !== undefined) tally.excused.set(excuse.why, (tally.excused.get(excuse.why) ?? 0) + 1);
  else {
    tally.differences.push(
      `${JSON.stringify(text)}\n  kubelet: ${theirs.stage} [${theirs.fields.join(' ')}] ${answer.errors.join('; ')} ${answer.lenient.slice(-120)}\n  ours: ${ours.stage} [${ours.fields.join(' ')}] ${why}`,
    );
  }
}

function judged(name: string, texts: () => Iterable<string>, atLeast: number): void {
  test(name, async (t) => {
    if (validator === undefined) {
      t.skip(unavailable);
      return;
    }
    const tally = await compareAll(validator, texts());
    t.diagnostic(`${tally.texts} texts: ${JSON.stringify(tally.stages)}, ${tally.differences.length} unexplained differences`);
    for (const [why, count] of tally.excused) t.diagnostic(`deliberate, ${count} times: ${why}`);
    assert.ok(tally.texts >= atLeast, `only ${tally.texts} texts were compared`);
    assert.deepEqual(tally.differences.slice(0, 5), [], `${tally.differences.length} texts are judged differently`);
  });
}

function* first(texts: Iterable<string>, count: number): Generator<string> {
  let left = count;
  for (const text of texts) {
    if (left-- <= 0) return;
    yield text;
  }
}

judged('the fixtures are judged as the kubelet judges them', fixtures, 40);
judged('generated texts are judged as the kubelet judges them', () => first(generatedTexts(seededRandom(SEED)), GENERATED), GENERATED);
judged(
  'texts with a slip of the pen are judged as the kubelet judges them',
  () => first(mutatedTexts(seededRandom(SEED), fixtures()), MUTATED),
  MUTATED,
);

test('the gates of 1.20 are those of the kubelet, with their locks', async (t) => {
  if (validator === undefined) {
    t.skip(unavailable);
    return;
  }
  const judge = validator;
  const table = gatesOf(20);
  // Gates of all other versions too: 1.20 must not know them.
  const names = new Set(Array.from({ length: 15 }, (_, n) => [...gatesOf(20 + n).keys()]).flat());
  const wrong: string[] = [];
  for (const name of names) {
    const [on, off] = await Promise.all([true, false].map((value) => judge.validate(`${HEADER}featureGates: {${name}: ${value}}`)));
    const known = on?.stage !== 'gates' || off?.stage !== 'gates';
    const gate = table.get(name);
    if (known !== (gate !== undefined)) wrong.push(`${name}: the kubelet ${known ? 'knows' : 'does not know'} it`);
    else if (gate?.locked === true && (gate.default ? off : on)?.stage !== 'gates') wrong.push(`${name} is not locked`);
    else if (gate?.locked === false && (on?.stage === 'gates' || off?.stage === 'gates')) wrong.push(`${name} is locked`);
  }
  t.diagnostic(`${names.size} gates compared, of which 1.20 knows ${table.size}`);
  assert.deepEqual(wrong, []);
});
