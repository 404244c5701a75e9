import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { decode, parseKubeletVersion } from '../../../../agent/config/config.ts';
import { readExits } from '../../../../agent/trial/exits.ts';
import { realClock } from '../../../../base/clock.ts';
import { payloads } from '../../../../cli/demo/stage.ts';
import { Eye } from '../../../../cli/demo/eye.ts';
import { fatalHere } from '../../../../cli/demo/kubelet.ts';
import { Service, type Ended, type ServiceSpec } from '../../../../cli/demo/service.ts';
import { barOf } from '../../../../cli/demo/fleet/fleet-story.ts';
import { exitLine } from '../../../../cli/demo/supervisor.ts';
import { runCli } from '../../../support/cli-context.ts';

const version = parseKubeletVersion('1.30');
const never = new AbortController().signal;

test('of the configurations of the demo just one is fatal, and it decodes', () => {
  const fatal = Object.entries(payloads).flatMap(([name, text]) => {
    const decoded = decode(new TextEncoder().encode(text), version);
    return decoded.ok && fatalHere(decoded.written) !== undefined ? [name] : [];
  });
  assert.deepEqual(fatal, ['deadly']);
});

test('all but one of them validate', async () => {
  for (const [name, text] of Object.entries(payloads)) {
    const { code } = await runCli(['validate', '-', '--kubelet-version=1.30'], { stdin: async () => new TextEncoder().encode(text) });
    assert.equal(code, name === 'invalid' ? 1 : 0, name);
  }
});

test('the lines of the exits file are those that the agent reads', () => {
  const hash = 'a'.repeat(64);
  const lines =
    exitLine({ result: 'exit-code', code: 'exited', status: '1' }, 0, hash) +
    exitLine({ result: 'success', code: 'killed', status: 'TERM' }, 1, '-');
  const { exits, bad } = readExits(new TextEncoder().encode(lines), 0);
  assert.equal(bad, 0);
  assert.deepEqual(exits.map(({ serviceResult }) => serviceResult), ['exit-code', 'success']); // prettier-ignore
});

/** A service that runs a shell script, until the test ends. */
async function service(
  t: TestContext,
  script: string,
  over: Partial<ServiceSpec> = {},
): Promise<{ service: Service; lines: Eye<string>; ends: Ended[]; ended: Eye<number>; log: string }> {
  const dir = await mkdtemp(join(tmpdir(), 'dkc-test-'));
  const lines = new Eye<string>(realClock);
  const ended = new Eye<number>(realClock);
  const ends: Ended[] = [];
  const log = join(dir, 'log');
  const made = new Service(
    {
      argv: ['/bin/sh', '-c', script],
      restartMs: 10,
      logFile: log,
      onLine: (line) => lines.see(line),
      after: async (end) => {
        ends.push(end);
        ended.see(ends.length);
      },
      ...over,
    },
    realClock,
  );
  t.after(async () => {
    await made.stop();
    await rm(dir, { recursive: true });
  });
  made.start();
  return { service: made, lines, ends, ended, log };
}

test('a service that ends is started again, and its end is told as systemd tells it', async (t) => {
  const { service: one, ends, ended, log } = await service(t, 'echo oops >&2; exit 3');
  await ended.until('two ends', (count) => count >= 2, 60_000, never);
  assert.deepEqual(ends[0], { result: 'exit-code', code: 'exited', status: '3' });
  assert.ok(one.starts >= 2);
  assert.match(await readFile(log, 'utf8'), /^oops\noops\n/);
});

test('an end that was asked for is a success, a kill from outside is not', async (t) => {
  const { service: one, lines, ends, ended } = await service(t, 'echo $$; exec sleep 60');
  const first = await lines.until('the first', () => true, 60_000, never);
  one.restart();
  const second = await lines.until('the second', (line) => line !== first, 60_000, never);
  one.crash();
  await lines.until('the third', (line) => line !== first && line !== second, 60_000, never);
  await ended.until('both ends', (count) => count >= 2, 60_000, never);
  assert.deepEqual(ends, [
    { result: 'success', code: 'killed', status: 'TERM' },
    { result: 'signal', code: 'killed', status: 'KILL' },
  ]);
});

test('a service says READY=1 through the descriptor that systemd would pass', async (t) => {
  const ready = new Eye<true>(realClock);
  await service(t, 'test "$LISTEN_PID" = $$ && test "$LISTEN_FDNAMES" = notify && echo READY=1 >&3; exec sleep 60', {
    onReady: async () => ready.see(true),
  });
  assert.equal(await ready.until('ready', () => true, 60_000, never), true);
});

const nodes = { selected: 400, updated: 0, settled: 0, inFlight: 0, failed: 0, refused: 0 };
const cases = [
  { why: 'half way', status: { step: 3, nodes: { ...nodes, settled: 200, inFlight: 40 } }, bar: /^ *█{12}▒{2}·{10} {2}step 3 of 4 · 200 of 400 settled · 40 in flight$/ }, // prettier-ignore
  { why: 'on the way back', status: { phase: 'RollingBack' as const, nodes: { ...nodes, settled: 400, failed: 9 } }, bar: /^ *█{24} {2}rolling back · 400 of 400 settled · 9 failed$/ }, // prettier-ignore
];
for (const { why, status, bar } of cases) test(`the demo's bar ${why}`, () => assert.match(barOf(status, 4), bar));
