import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { bothUp, scenario } from '../inside/scenario.ts';
import { run } from '../inside/program.ts';
import { EFFECTIVE, kubeletConfig, kubeletStart, kubeletStarts, sha256Of } from '../inside/kubelet.ts';
import { settled, systemctl } from '../inside/systemctl.ts';
import { eventually } from '../../../support/eventually.ts';

export interface PlacesOptions {
  /** Shell commands that make /var/lib/dkc what it is, before agent and kubelet start. */
  make: string;
  /** Where agent and kubelet cannot start on that: commands that set it right. */
  repair?: string;
}

export interface PlacesResult {
  starts: unknown[];
  same: boolean;
  isLink: boolean;
  store: string[];
  /** What the agent said before the repair, without the time. */
  says?: string;
}

/** /var/lib/dkc is something else than the directory that systemd would make. */
await scenario(async ({ make, repair }: PlacesOptions): Promise<PlacesResult> => {
  run('sh', '-ec', `rm -rf /var/lib/dkc /etc/dkc; ${make}`);
  let says: string | undefined;
  if (repair !== undefined) {
    systemctl('--no-block', 'start', 'dkc-agent.service');
    says = await eventually('word of the agent', () => {
      run('journalctl', '--sync');
      return run('journalctl', '-o', 'cat', '-u', 'dkc-agent').split('\n').find((line) => line.startsWith('the agent cannot start')); // prettier-ignore
    });
    run('sh', '-ec', repair);
  }
  const agent = await bothUp();
  await agent.assign(kubeletConfig({ maxPods: 142 }));
  const last = await kubeletStart(2);
  await settled();
  return {
    starts: kubeletStarts().map(({ maxPods }) => maxPods),
    same: last.sha256 === sha256Of(EFFECTIVE),
    isLink: lstatSync('/var/lib/dkc').isSymbolicLink(),
    store: existsSync('/var/lib/dkc/store') ? readdirSync('/var/lib/dkc/store') : [],
    ...(says === undefined ? {} : { says }),
  };
});
