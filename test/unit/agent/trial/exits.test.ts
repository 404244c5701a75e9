import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countsAgainst, exitText, parseExit, readExits } from '../../../../agent/trial/exits.ts';

const HASH = 'a'.repeat(64);
const line = (n = 0, hash = HASH): string => `2026-03-01T00:00:0${n}Z exit-code exited 255 ${hash}`;
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

// prettier-ignore
const lines = [
  { why: 'five fields', text: line(), ok: true },
  { why: 'a kubelet that never ran', text: `2026-03-01T00:00:00Z exit-code - - -`, ok: true },
  { why: 'nothing', text: '', ok: false },
  { why: 'a short hash', text: line(0, 'a'.repeat(63)), ok: false },
  { why: 'a field too few', text: line().replace(' 255', ''), ok: false },
  { why: 'no time', text: line().replace('2026-03-01T00:00:00Z', 'yesterday'), ok: false },
  { why: 'a length that no line of kubelet-stopped has', text: line().replace(' 255', ` ${'9'.repeat(1_000_000)}`), ok: false },
];

for (const { why, text, ok } of lines) test(`a line with ${why} is ${ok ? 'an exit' : 'skipped'}`, () => assert.equal(parseExit(text) !== undefined, ok)); // prettier-ignore

// prettier-ignore
const results = [
  ...['success', 'timeout', 'oom-kill', 'protocol killed HUP', 'protocol killed TERM'].map((result) => ({ result, counts: false })),
  ...['exit-code', 'signal', 'core-dump', 'watchdog', 'protocol', 'protocol killed KILL', 'start-limit-hit'].map((result) => ({ result, counts: true })),
];

for (const { result, counts } of results) test(`an end with ${result} ${counts ? 'counts' : 'does not count'} against the config`, () => {
  const exit = parseExit(line().replace(result.includes(' ') ? 'exit-code exited 255' : 'exit-code', result));
  assert.ok(exit);
  assert.equal(countsAgainst(exit), counts);
}); // prettier-ignore

// prettier-ignore
const texts = [
  { how: 'exit-code exited 255', is: 'exited with status 255' },
  { how: 'signal killed KILL', is: 'killed by signal KILL' },
  { how: 'core-dump dumped ABRT', is: 'dumped core on signal ABRT' },
  { how: 'watchdog dumped ABRT', is: 'dumped core on signal ABRT (watchdog)' },
  { how: 'resources - -', is: '- - (resources)' },
];

test('evidence is what an admin finds again in the file', () => {
  for (const { how, is } of texts) {
    const exit = parseExit(line(7).replace('exit-code exited 255', how));
    assert.ok(exit);
    assert.equal(exitText(exit), `2026-03-01T00:00:07Z ${is}`);
  }
});

const [one, two] = [`${line(1)}\n`, `${line(2)}\n`];
const long = Array.from({ length: 300 }, (_, n) => `${line(n % 10)}\n`).join('');

// prettier-ignore
const files = [
  { why: 'nothing twice', text: one + two, from: one.length + two.length, seen: 0, bad: 0, to: one.length + two.length },
  { why: 'not the line that is still being written', text: one + two.slice(0, 30), from: 0, seen: 1, bad: 0, to: one.length },
  { why: 'past zeros of a lost write', text: `${one}${'\0'.repeat(40)}\n${two}`, from: 0, seen: 2, bad: 1, to: one.length + 41 + two.length },
  { why: 'a small new file from its start', text: one, from: 5000, seen: 1, bad: 0, to: one.length },
  { why: 'of a file that was cut to its newest lines the one that was added right after', text: long, from: long.length + 5000, seen: 1, bad: 0, to: long.length },
];

for (const { why, text, from, seen, bad, to } of files)
  test(`the exits file is read: ${why}`, () => {
    const read = readExits(bytes(text), from);
    assert.deepEqual({ seen: read.exits.length, bad: read.bad, to: read.offset }, { seen, bad, to });
  });
