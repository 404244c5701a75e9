import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { kubeconfigText, startApiServer } from '../../../../apiserver/server.ts';
import { realClock } from '../../../../base/clock.ts';
import { silentLog } from '../../../../base/log.ts';
import { seededRandom } from '../../../../base/random.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { freePort } from './long-world.ts';
import { eventually } from '../../../support/eventually.ts';

const main = fileURLToPath(new URL('../../../../cli/main.ts', import.meta.url));
const admin = { token: 'of-the-test', user: 'admin', groups: ['system:masters'] };

interface Running {
  child: ChildProcess;
  /** Where it serves, whatever it waits for. */
  url: string;
  err: () => string;
  /** Resolves with the first line on stdout. */
  line: Promise<string>;
  ended: Promise<unknown>;
  startServer: () => Promise<void>;
}

/** A process of its own, whose API server is not there yet. */
async function start(t: TestContext, command: string): Promise<Running> {
  const [port, of] = [await freePort(), await freePort()];
  const kubeconfig = join(await tempDir(t), 'kubeconfig');
  await writeFile(kubeconfig, kubeconfigText({ url: `http://127.0.0.1:${port}`, caPem: '', ...admin }));
  const argv = [...command.split(' '), `--kubeconfig=${kubeconfig}`, `--metrics-bind-address=127.0.0.1:${of}`, '--verbosity'];
  const child = spawn(process.execPath, [main, ...argv], { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'exit').then(([code, signal]: unknown[]) => code ?? signal);
  t.after(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  let err = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  const line = new Promise<string>((resolve) => child.stdout.setEncoding('utf8').once('data', resolve));
  const startServer = async (): Promise<void> => {
    const options = { clock: realClock, random: seededRandom(1), log: silentLog, tls: false, tokens: [admin] };
    const server = await startApiServer({ ...options, listen: `127.0.0.1:${port}` });
    t.after(() => server.stop());
  };
  return { child, url: `http://127.0.0.1:${of}`, err: () => err, line, ended, startServer };
}

/** Only a failure takes as long. */
const PATIENCE_MS = 90_000;

/** Its answer once there is one that says what is looked for. */
async function asked(url: string, until = /(?:)/): Promise<string> {
  let last = 'no answer';
  for (const end = performance.now() + PATIENCE_MS; performance.now() < end; await realClock.sleep(50)) {
    const answer = await fetch(url, { headers: { connection: 'close' } }).catch(() => undefined);
    if (answer === undefined) continue;
    last = `${answer.status} ${await answer.text()}`;
    if (until.test(last)) return last;
  }
  throw new Error(`${url} does not say ${String(until)}: ${last}`);
}

const REFUSED = 'Cannot GET .* ECONNREFUSED';
const WARNINGS = / WARN +\b(?!check failed)/g;
const commands = [
  {
    command: 'scheduler run',
    waits: new RegExp(`^500 \\[\\+\\]ping ok\n\\[-\\]discovery failed: API discovery has not succeeded yet: ${REFUSED}`),
    again: 'API discovery is still failing, retrying',
    over: 'API discovery succeeded',
  },
  {
    command: 'controllers run',
    waits: new RegExp(`^500 \\[\\+\\]ping ok\n\\[-\\]caches failed: not synced: daemonsets\\.apps \\(${REFUSED}`),
    again: 'list or watch failed again',
    over: 'the API server is reachable again',
  },
];
for (const { command, waits, again, over } of commands) {
  test(
    `dkc ${command} is alive and says what it waits for while its API server is away, and goes on when that comes`,
    { timeout: 300_000 },
    async (t) => {
      const { url, err, line, child, ended, startServer } = await start(t, command);
      await asked(`${url}/readyz`, waits);
      for (const path of ['healthz', 'livez']) assert.equal(await asked(`${url}/${path}`), '200 ok');
      assert.match(await asked(`${url}/metrics`), /^200 [^]*^process_cpu_seconds_total /m);
      await eventually('it is tried again', () => err().includes(again));
      assert.equal(err().match(WARNINGS)?.length, 1, err());
      await startServer();
      assert.equal((JSON.parse(await line) as { metrics: string }).metrics, url);
      assert.equal(await asked(`${url}/readyz`), '200 ok');
      await eventually('its end is told', () => err().includes(over));
      child.kill('SIGTERM');
      assert.equal(await ended, 0);
    },
  );
}
