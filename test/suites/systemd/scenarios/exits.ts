import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { EXITS, LOCAL, kubeletConfig, kubeletExits, kubeletPid, kubeletStart, kubeletStarts, sha256Of } from '../inside/kubelet.ts';
import { bothUp, scenario } from '../inside/scenario.ts';
import { dropIn, property, settled, systemctl } from '../inside/systemctl.ts';
import { eventually } from '../../../support/eventually.ts';

export interface ExitsResult {
  /** Each exit without its time, the hashes replaced by `local` and `bad`. */
  exits: string[];
  /** Every time is RFC 3339 in UTC, lies in this run, and none comes before the one above it. */
  timesFit: boolean;
  modes: string[];
  /** Bytes that a file of 3,000 lines is cut to, with the line that was appended then; all of them are whole lines. */
  cutTo: number;
  last: string;
  /** What is written where /run/dkc is gone and systemd says no more than a result. */
  bare: string;
  /** By hand, without systemd: the exit code. */
  byHand: number | null;
}

const KUBELET = 'kubelet.service';
const exits = (n: number) => eventually(`${n} lines of exits`, () => kubeletExits().length >= n);
const stopped = (env: Record<string, string>) => execFileSync('/usr/lib/dkc/kubelet-stopped', { env: { PATH: '/usr/bin:/bin', ...env } });

await scenario(async (): Promise<ExitsResult> => {
  // One that does not answer a stop with 0.
  dropIn(KUBELET, '[Service]\nRestartSec=100ms\nExecStop=/bin/kill -KILL $MAINPID\n');
  // So that it leaves the kubelet to die.
  const agent = await bothUp('maxKubeletExits: 100\n');
  const from = Date.now();

  systemctl('stop', KUBELET);
  await exits(1);
  dropIn(KUBELET, '[Service]\nRestartSec=100ms\n');
  systemctl('start', KUBELET);
  await kubeletStart(2);
  process.kill(Number(kubeletPid()), 'SIGKILL');
  await exits(2);
  await kubeletStart(3);
  await eventually('the kubelet to run', () => property(KUBELET, 'SubState') === 'running');
  await settled();

  // Ends the good one, and then three times a kubelet that cannot live with it.
  await agent.assign(kubeletConfig({ maxPods: 105, registryPullQPS: 4242 }));
  await exits(6);
  systemctl('stop', KUBELET);
  await settled();

  const seen = kubeletExits().slice(0, 6);
  const hashes = new Map([
    [sha256Of(LOCAL), 'local'],
    [kubeletStarts().find((start) => start.maxPods === 105)?.sha256 ?? '', 'bad'],
  ]);
  const times = seen.map(({ time }) => time);
  const modes = ['/run/dkc', EXITS].map((path) => (statSync(path).mode & 0o777).toString(8));

  const line = `${readFileSync(EXITS, 'utf8').split('\n')[0] ?? ''}\n`;
  writeFileSync(EXITS, line.repeat(3000));
  stopped({ SERVICE_RESULT: 'exit-code', EXIT_CODE: 'exited', EXIT_STATUS: '7' });
  const cut = kubeletExits();
  const cutTo = statSync(EXITS).size;
  rmSync('/run/dkc', { recursive: true });
  stopped({ SERVICE_RESULT: 'resources' });
  const bare = kubeletExits()[0];

  return {
    exits: seen.map((exit) => `${exit.result} ${exit.code} ${exit.status} ${hashes.get(exit.sha256) ?? exit.sha256}`),
    timesFit:
      times.every((time) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(time) && Date.parse(time) >= from - 1000) &&
      times.every((time, i) => i === 0 || Date.parse(time) >= Date.parse(times[i - 1] ?? '')),
    modes,
    cutTo,
    last: cut.at(-1)?.status ?? '',
    bare: `${bare?.result} ${bare?.code} ${bare?.status} ${bare?.sha256}`,
    byHand: spawned(),
  };
});

function spawned(): number | null {
  try {
    stopped({});
    return 0;
  } catch (error) {
    return (error as { status: number | null }).status;
  }
}
