import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { agentUnderTest, type AgentName } from '../inside/agent.ts';
import { EFFECTIVE, kubeletConfig, kubeletStart, kubeletStarts, LOCAL, sha256Of } from '../inside/kubelet.ts';
import { run } from '../inside/program.ts';
import { scenario } from '../inside/scenario.ts';
import { settled, systemctl } from '../inside/systemctl.ts';

export interface QuickStartResult {
  /** `--config` and maxPods of each start of the kubelet. */
  starts: string[];
  same: boolean;
}

/** A kubelet whose unit nobody made for dkc, and the commands that an administrator is told to type there. */
await scenario(async ({ agent: name, commands }: { agent: AgentName; commands: string }): Promise<QuickStartResult> => {
  renameSync(LOCAL, '/etc/kubelet.yaml');
  rmSync('/etc/systemd/system/kubelet.service.d/10-kubeadm.conf');
  writeFileSync(
    '/etc/systemd/system/kubelet.service',
    '[Service]\nExecStart=/usr/bin/kubelet --config=/etc/kubelet.yaml\nRestart=always\n',
  );
  systemctl('daemon-reload');
  const agent = agentUnderTest(name);
  await agent.prepare();
  systemctl('start', 'kubelet.service');
  await kubeletStart(1);
  await settled();
  run('sh', '-ec', commands);
  const before = await kubeletStart(2);
  await settled();
  // The agent may have asked for the restart already that the last command asks for.
  const count = kubeletStarts().length;
  await agent.assign(kubeletConfig({ maxPods: 142 }));
  const last = await kubeletStart(count + 1);
  await settled();
  return {
    starts: [kubeletStarts()[0] ?? before, before, last].map(({ config, maxPods }) => `${config} ${String(maxPods)}`),
    same: last.sha256 === sha256Of(EFFECTIVE),
  };
});
