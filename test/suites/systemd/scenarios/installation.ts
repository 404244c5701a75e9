import type { AgentName } from '../inside/agent.ts';
import { run } from '../inside/program.ts';
import { bothUp, scenario } from '../inside/scenario.ts';
import { property, systemctl } from '../inside/systemctl.ts';

export interface InstallationResult {
  /** systemd-analyze's exposure of dkc-agent.service, 0 to 10. */
  exposure: number;
  systemd: number;
  status: string;
  /** What systemd does not understand in the project's files, apart from OpenFile= where it is too old for that. */
  complaints: string[];
  tmpfiles: string[];
}

await scenario(async ({ agent }: { agent: AgentName }): Promise<InstallationResult> => {
  await bothUp(agent);
  const systemd = Number(systemctl('--version').split(' ')[1]);
  const security = run('systemd-analyze', 'security', 'dkc-agent.service', '--no-pager');
  const about = /dkc-agent\.service:|20-dkc\.conf:|dkc\.conf:/;
  const complaints = run('journalctl', '--no-pager', '-o', 'cat', '-p', 'warning', '_PID=1')
    .split('\n')
    .filter((line) => about.test(line) && !(systemd < 253 && line.includes("Unknown key 'OpenFile'")));
  return {
    exposure: Number(/exposure level[^:]*: ([\d.]+)/.exec(security)?.[1] ?? Number.NaN),
    systemd,
    status: property('dkc-agent.service', 'StatusText'),
    complaints: [...new Set(complaints)],
    tmpfiles: run('stat', '-c', '%a %U %n', '/run/dkc', '/var/lib/dkc', '/etc/dkc').split('\n'),
  };
});
