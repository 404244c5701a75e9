import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test, type TestContext } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { seededRandom } from '../../../base/random.ts';
import {
  openValidator,
  realParts,
  RealPartsUnavailable,
  type Validator,
  type ValidatorAnswer,
} from '../../support/real-parts/real-kubelet.ts';
import { releaseParts } from '../../support/real-parts/release.ts';
import { dependenciesOf, gateLines, gatesOf } from '../../../agent/config/gates/gates.ts';
import { NEWEST_MINOR, OLDEST_MINOR, parseKubeletVersion } from '../../../agent/config/version.ts';
import { changedGateLines, printedGates } from './gate-table.ts';
import { ourVerdict, theirVerdict } from './compare.ts';
import { deliberate } from './deliberate.ts';
import { mutatedTexts } from './mutations.ts';
import { generatedTexts, headerOf } from './texts.ts';

// Decode, defaults and validation against the kubelet's own code, text by text, for each kubelet whose code there is.
const GENERATED = Number(process.env['DKC_DIFFERENTIAL_TEXTS'] ?? 2000);
const MUTATED = Math.ceil(GENERATED / 4);
const SEED = Number(process.env['DKC_DIFFERENTIAL_SEED'] ?? 20);
/** Those that are built from source, or in the folder of DKC_REAL_KUBERNETES. */
const KUBELETS = [20, 32, 33, 34, 35, 36];
const ONLY = process.env['DKC_DIFFERENTIAL_MINOR'];

const fixtureDir = join(import.meta.dirname, '../../../fixtures/kubelet-config');
const ofFixtures = readdirSync(fixtureDir, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.(?:yaml|json)$/.test(name) && !name.endsWith('index.json'))
  .map((name) => readFileSync(join(fixtureDir, name), 'utf8'));

for (const minor of KUBELETS) if (ONLY === undefined || Number(ONLY) === minor) describe(`kubelet 1.${minor}`, () => compareWith(minor));

function compareWith(minor: number): void {
  let kubelet: Kubelet | undefined;
  let unavailable = '';
  before(async () => {
    try {
      kubelet = await openKubelet(minor);
    } catch (error) {
      if (!(error instanceof RealPartsUnavailable) || process.env['CI'] === 'true') throw error;
      unavailable = error.message;
    }
  });
  after(async () => kubelet?.validator.close());

  const asking = (name: string, ask: (t: TestContext, kubelet: Kubelet) => Promise<void>): Promise<void> =>
    test(name, async (t) => (kubelet === undefined ? t.skip(unavailable) : ask(t, kubelet)));
  const compared = (name: string, texts: () => Iterable<string>, atLeast: number): Promise<void> =>
    asking(name, async (t, { validator }) => {
      const tally = await compareAll(validator, texts(), minor);
      t.diagnostic(`${tally.texts} texts: ${JSON.stringify(tally.stages)}, ${tally.differences.length} unexplained differences`);
      for (const [why, count] of tally.excused) t.diagnostic(`deliberate, ${count} times: ${why}`);
      assert.ok(tally.texts >= atLeast, `only ${tally.texts} texts were compared`);
      assert.deepEqual(tally.differences.slice(0, 5), [], `${tally.differences.length} texts get another verdict`);
    });

  void compared('says the same of the fixtures', () => ofFixtures, 40);
  void compared('says the same of generated texts', () => first(generatedTexts(seededRandom(SEED), minor), GENERATED), GENERATED);
  void compared(
    'says the same of texts with a slip of the pen',
    () => first(mutatedTexts(seededRandom(SEED), startable(minor)), MUTATED),
    MUTATED,
  );

  void asking('has the gates of the table, with stages, defaults and locks', async (t, { validator, binary }) => {
    const wrong =
      minor < 32 ? await gatesNotAs(validator, minor) : changedGateLines(gateLines, new Map([[minor, gatesPrinted(binary, minor)]]));
    t.diagnostic(`${gatesOf(minor).size} gates`);
    assert.deepEqual(wrong, []);
  });
  void asking('asks for the dependencies of the table', async (t, { validator }) => {
    const theirs = await dependenciesAskedFor(validator, minor);
    const ours = dependenciesOf(minor).filter(({ gate, needs }) => gatesOf(minor).has(gate) && gatesOf(minor).get(needs)?.locked === false);
    t.diagnostic(`${theirs.length} dependencies`);
    assert.deepEqual(theirs.sort(), ours.map(({ gate, needs }) => `${gate} ${needs}`).sort());
  });
}

interface Kubelet {
  readonly validator: Validator;
  readonly binary: string;
}

/** @throws {RealPartsUnavailable} */
async function openKubelet(minor: number): Promise<Kubelet> {
  if (minor === OLDEST_MINOR) {
    const binary = join((await realParts(['kubelet-validate'])).dir, 'kubelet-validate');
    return { binary, validator: openValidator(binary) };
  }
  const name = `kubelet-validate-1.${minor}`;
  const { [name]: binary = '' } = await releaseParts([name]);
  return { binary, validator: openValidator(binary, ['-config']) };
}

/** Real configurations that a kubelet of `minor` accepts on a machine with cgroup v1. */
function startable(minor: number): string[] {
  const [, , more = ''] = headerOf(minor).split(/^/m);
  return ofFixtures.map((text) => (/^\s*\{/.test(text) ? text : text.replace(/^kind: KubeletConfiguration\n/m, (kind) => kind + more)));
}

interface Tally {
  texts: number;
  stages: Record<string, number>;
  excused: Map<string, number>;
  differences: string[];
}

/** Asks both about every text; a thousand questions are under way at a time. */
async function compareAll(validator: Validator, texts: Iterable<string>, minor: number): Promise<Tally> {
  const tally: Tally = { texts: 0, stages: {}, excused: new Map(), differences: [] };
  for (const some of batches(texts, 1000)) {
    const answers = await Promise.all(some.map((text) => validator.validate(text)));
    for (const [index, answer] of answers.entries()) note(tally, some[index] ?? '', answer, minor);
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

function note(tally: Tally, text: string, answer: ValidatorAnswer, minor: number): void {
  const { why, ...ours } = ourVerdict(text, parseKubeletVersion(`1.${minor}`));
  const theirs = theirVerdict(answer);
  tally.texts++;
  tally.stages[theirs.stage] = (tally.stages[theirs.stage] ?? 0) + 1;
  if (isDeepStrictEqual(ours, theirs)) return;
  const excuse = deliberate.find((difference) => difference.excuses(text, ours, theirs, answer));
  if (excuse !== undefined) tally.excused.set(excuse.why, (tally.excused.get(excuse.why) ?? 0) + 1);
  else {
    const { errors = [], lenient = '' } = answer;
    tally.differences.push(
      `${JSON.stringify(text)}\n  kubelet: ${theirs.stage} [${theirs.fields.join(' ')}] ${errors.join('; ')} ${lenient.slice(-120)}\n  ours: ${ours.stage} [${ours.fields.join(' ')}] ${why}`,
    );
  }
}

function* first(texts: Iterable<string>, count: number): Generator<string> {
  let left = count;
  for (const text of texts) {
    if (left-- <= 0) return;
    yield text;
  }
}

const gatesPrinted = (binary: string, minor: number): ReturnType<typeof printedGates> =>
  printedGates(execFileSync(binary, ['-gates'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }), minor);

/** The validation of 1.20 prints no gates: it is asked about every gate of every minor, on and off. */
async function gatesNotAs(validator: Validator, minor: number): Promise<string[]> {
  const table = gatesOf(minor);
  const names = new Set(Array.from({ length: NEWEST_MINOR - OLDEST_MINOR + 1 }, (_, n) => [...gatesOf(OLDEST_MINOR + n).keys()]).flat());
  const wrong: string[] = [];
  for (const name of names) {
    const [on, off] = await Promise.all(
      [true, false].map((value) => validator.validate(`${headerOf(minor)}featureGates: {${name}: ${value}}`)),
    );
    const known = on?.stage !== 'gates' || off?.stage !== 'gates';
    const gate = table.get(name);
    if (known !== (gate !== undefined)) wrong.push(`${name}: the kubelet ${known ? 'knows' : 'does not know'} it`);
    else if (gate?.locked === true && (gate.default ? off : on)?.stage !== 'gates') wrong.push(`${name} is not locked`);
    else if (gate?.locked === false && (on?.stage === 'gates' || off?.stage === 'gates')) wrong.push(`${name} is locked`);
  }
  return wrong;
}

/** Turns all gates on, and one after the other off: the kubelet names the gates that need it. `GATE NEEDED` each. */
async function dependenciesAskedFor(validator: Validator, minor: number): Promise<string[]> {
  const free = [...gatesOf(minor).values()].filter(({ name, locked }) => !locked && !/^All(?:Alpha|Beta)$/.test(name));
  const answers = await Promise.all(
    free.map(({ name: off }) =>
      validator.validate(`${headerOf(minor)}featureGates: {${free.map(({ name }) => `${name}: ${name !== off}`).join(', ')}}`),
    ),
  );
  const names = /(\w+) is enabled, but depends on features that are disabled: \[(\w+)\]/g;
  return answers.flatMap(({ errors = [] }) => [...errors.join('; ').matchAll(names)].map(([, gate, needs]) => `${gate} ${needs}`));
}
