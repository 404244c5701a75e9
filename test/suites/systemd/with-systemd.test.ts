import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { withSystemd } from './machine.ts';
import { machines } from './suite.ts';

const runner = join(import.meta.dirname, 'with-systemd');

/** Command lines of processes with `mark` in their environment: it is handed down to everything a run starts. */
function processesWith(mark: string): string[] {
  return globSync('/proc/[0-9]*/environ').flatMap((path) => {
    try {
      return readFileSync(path, 'utf8').includes(mark) ? [readFileSync(path.replace('environ', 'cmdline'), 'utf8')] : [];
    } catch {
      return []; // it has ended meanwhile
    }
  });
}

/** The cgroups of runs, as far as this machine has them mounted. */
const cgroups = (pid: number): string[] => globSync(`/sys/fs/cgroup/{,unified/}**/with-systemd.${pid}.*`);

await machines('with-systemd', () => {
  const cases: { why: string; args: string[]; code: number }[] = [
    { why: "COMMAND's own", args: ['sh', '-c', 'exit 7'], code: 7 },
    { why: '124 when time is up', args: ['-t', '1', 'sleep', '60'], code: 124 },
    { why: '125 for an unknown option', args: ['-x', 'true'], code: 125 },
    { why: '125 without a command', args: [], code: 125 },
  ];
  for (const { why, args, code } of cases) {
    test(`exit status: ${why}`, async () => assert.equal((await withSystemd(args)).code, code));
  }

  test('the machine is one of its own: empty loopback, systemd as process 1, nothing failed', async () => {
    const script = 'cat /proc/1/comm; ls /sys/class/net; systemctl is-system-running; ls /etc/systemd/system';
    assert.equal((await withSystemd(['sh', '-c', script])).stdout, 'systemd\nlo\nrunning\n');
  });

  for (const signal of ['SIGTERM', 'SIGINT', 'SIGKILL'] as const) {
    test(`${signal} at any moment leaves no process and no cgroup`, async () => {
      for (const ms of [20, 80, 140, 200, 260, 320, 500]) {
        const mark = `DKC_MACHINE_TEST=${process.pid}.${signal}.${ms}`;
        const [key = '', value = ''] = mark.split('=');
        const child = spawn(runner, ['sleep', '60'], { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, [key]: value } });
        await sleep(ms);
        child.kill(signal);
        // Its stderr is shared by all that it started, so its end is the end of them all.
        await new Promise((resolve) => child.on('close', resolve).stderr.resume());
        for (let tries = 0; tries < 1500 && processesWith(mark).length > 0; tries++) await sleep(20);
        assert.deepEqual([processesWith(mark), cgroups(child.pid ?? 0)], [[], []], `killed after ${ms} ms`);
      }
    });
  }
});
