import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
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
import { tempDir } from '../../../support/temp-dir.ts';

const never = new AbortController().signal;

test('of the configurations of the demo one is fatal, which decodes, and one does not validate', async () => {
  for (const [name, text] of Object.entries(payloads)) {
    const bytes = new TextEncoder().encode(text);
    const decoded = decode(bytes, parseKubeletVersion('1.30'));
    assert.equal(decoded.ok && fatalHere(decoded.written) !== undefined, name === 'deadly', name);
    const { code } = await runCli(['validate', '-', '--kubelet-version=1.30'], { stdin: async () => bytes });
    assert.equal(code, name === 'invalid' ? 1 : 0, name);
  }
});

test('the lines of the exits file are those that the agent reads', () => {
  const failed = exitLine({ result: 'exit-code', code: 'exited', status: '1' }, 0, 'a'.repeat(64));
  const stopped = exitLine({ result: 'success', code: 'killed', status: 'TERM' }, 1, '-');
  const { exits, bad } = readExits(new TextEncoder().encode(failed + stopped), 0);
  assert.deepEqual([bad, exits.map(({ serviceResult }) => serviceResult)], [0, ['exit-code', 'success']]);
});

/** A service that runs a shell script, until the test ends. */
async function service(t: TestContext, script: string, over: Partial<ServiceSpec> = {}) {
  const [lines, ended] = [new Eye<string>(realClock), new Eye<readonly Ended[]>(realClock)];
  const ends: Ended[] = [];
  const after = async (end: Ended): Promise<void> => {
    ends.push(end);
    ended.see(ends);
  };
  const logFile = join(await tempDir(t), 'log');
  const onLine = (line: string): void => lines.see(line);
  const made = new Service({ argv: ['/bin/sh', '-c', script], restartMs: 10, logFile, onLine, after, ...over }, realClock);
  t.after(() => made.stop());
  made.start();
  const next = (...seen: string[]): Promise<string> => lines.until('a line', (line) => !seen.includes(line), 60_000, never);
  return { made, next, logFile, twoEnds: () => ended.until('two ends', ({ length }) => length >= 2, 60_000, never) };
}

test('a service that ends is started again, and its end is told as systemd tells it', async (t) => {
  const { made, twoEnds, logFile } = await service(t, 'echo oops >&2; exit 3');
  assert.deepEqual((await twoEnds())[0], { result: 'exit-code', code: 'exited', status: '3' });
  assert.ok(made.starts >= 2);
  assert.match(await readFile(logFile, 'utf8'), /^oops\noops\n/);
});

test('an end that was asked for is a success, a kill from outside is not', async (t) => {
  const { made, next, twoEnds } = await service(t, 'echo $$; exec sleep 60');
  const first = await next();
  made.restart();
  const second = await next(first);
  made.crash();
  await next(first, second);
  const [asked, killed] = await twoEnds();
  assert.deepEqual(asked, { result: 'success', code: 'killed', status: 'TERM' });
  assert.deepEqual(killed, { result: 'signal', code: 'killed', status: 'KILL' });
});

test('a service says READY=1 through the descriptor that systemd would pass', async (t) => {
  const ready = Promise.withResolvers<void>();
  const script = 'test "$LISTEN_PID" = $$ && test "$LISTEN_FDNAMES" = notify && echo READY=1 >&3; exec sleep 60';
  await service(t, script, { onReady: async () => ready.resolve() });
  await ready.promise;
});

test("the demo's bar shows what is settled, in flight and failed", () => {
  const nodes = { selected: 400, updated: 0, settled: 0, inFlight: 0, failed: 0, refused: 0 };
  assert.match(barOf({ step: 3, nodes: { ...nodes, settled: 200, inFlight: 40 } }, 4), /^ *█{12}▒{2}·{10} {2}step 3 of 4 · 200 of 400 settled · 40 in flight$/); // prettier-ignore
  assert.match(barOf({ phase: 'RollingBack', nodes: { ...nodes, settled: 400, failed: 9 } }, 4), /^ *█{24} {2}rolling back · 400 of 400 settled · 9 failed$/); // prettier-ignore
});
