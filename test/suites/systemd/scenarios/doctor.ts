import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { Bundle } from '../inside/agent.ts';
import { kubeletStart, kubeletStarts, LOCAL } from '../inside/kubelet.ts';
import { run } from '../inside/program.ts';
import { scenario } from '../inside/scenario.ts';
import { property, settled, systemctl } from '../inside/systemctl.ts';
import { eventually } from '../../../support/eventually.ts';

export interface DoctorResult {
  /** Of a node that is fine: what is not ok, `CHECK RESULT: DETAIL`. */
  fine: string[];
  /** What each kind of damage adds to that, `CHECK RESULT`, and the exit code. */
  broken: Record<string, { code: number | null; found: string[] }>;
  /** Details and remedies, for the log. */
  texts: string[];
  /** After all was repaired. */
  repaired: string[];
}

interface Line {
  check: string;
  result: string;
  detail: string;
  remedy: string | null;
}

function doctor(): { code: number | null; lines: Line[] } {
  const { status, stdout, stderr } = spawnSync('/usr/lib/dkc/node', ['/usr/lib/dkc/dkc.js', 'doctor', '-o', 'json'], { encoding: 'utf8' });
  if (stdout === '') throw new Error(stderr);
  return { code: status, lines: JSON.parse(stdout) as Line[] };
}

const unusual = (lines: readonly Line[]): Line[] => lines.filter(({ result }) => result !== 'ok');

/** Damage and its repair, by hand as an administrator would. */
interface Case {
  damage: () => unknown;
  repair: () => unknown;
}

const reload = (): string => systemctl('daemon-reload');
const LATER = '/etc/systemd/system/kubelet.service.d/90-mine.conf';
const FLAGS = '/var/lib/kubelet/kubeadm-flags.env';

async function restartKubelet(): Promise<void> {
  const before = kubeletStarts().length;
  systemctl('restart', 'kubelet.service');
  await kubeletStart(before + 1);
  await settled();
}

function cases(): Record<string, Case> {
  const taken = createServer();
  return {
    'a drop-in that comes later': {
      damage: () => {
        writeFileSync(LATER, `[Service]\nEnvironment="KUBELET_CONFIG_ARGS=--config=${LOCAL}"\n`);
        reload();
      },
      repair: () => {
        rmSync(LATER);
        reload();
      },
    },
    'an environment file of kubeadm': {
      damage: () => writeFileSync(FLAGS, `KUBELET_KUBEADM_ARGS="--max-pods=30 --config=${LOCAL}"\n`),
      repair: () => rmSync(FLAGS),
    },
    'a drop-in that systemd has not read': {
      damage: () => writeFileSync(LATER, '[Service]\nMemoryMin=1M\n'),
      repair: () => {
        rmSync(LATER);
        reload();
      },
    },
    'a masked agent': {
      damage: () => systemctl('mask', '--runtime', '--now', 'dkc-agent.service'),
      repair: async () => {
        systemctl('unmask', '--runtime', 'dkc-agent.service');
        systemctl('start', 'dkc-agent.service');
        await settled();
      },
    },
    'another program on the health port of a stopped kubelet': {
      damage: async () => {
        systemctl('stop', 'kubelet.service');
        await new Promise<void>((resolve, reject) => taken.once('error', reject).listen(10_248, '127.0.0.1', resolve));
      },
      repair: async () => {
        await new Promise((resolve) => taken.close(resolve));
        await restartKubelet();
      },
    },
  };
}

await scenario(async (): Promise<DoctorResult> => {
  const agent = new Bundle('', '1.36.3');
  await agent.prepare();
  run('chmod', '600', '/etc/dkc/agent.yaml', '/etc/dkc/kubeconfig');
  systemctl('enable', 'dkc-agent.service', 'kubelet.service');
  systemctl('start', 'kubelet.service');
  await kubeletStart(1);
  await settled();
  await eventually('a healthy kubelet', () => doctor().lines.some(({ check, result }) => check === 'kubelet-health' && result === 'ok'));
  const usual = unusual(doctor().lines);
  const says = ({ check, result }: Line): string => `${check} ${result}`;
  const result: DoctorResult = { fine: usual.map((line) => `${says(line)}: ${line.detail}`), broken: {}, texts: [], repaired: [] };
  for (const [name, { damage, repair }] of Object.entries(cases())) {
    await damage();
    const { code, lines } = doctor();
    const found = unusual(lines).filter((line) => !usual.some((other) => says(other) === says(line)));
    result.broken[name] = { code, found: found.map(says) };
    result.texts.push(...found.map((line) => `${name}: ${says(line)}: ${line.detail}\n    ${line.remedy ?? '-'}`));
    await repair();
  }
  result.repaired = unusual(doctor().lines).map(says);
  if (property('kubelet.service', 'ActiveState') !== 'active') throw new Error('the kubelet is down');
  return result;
});
