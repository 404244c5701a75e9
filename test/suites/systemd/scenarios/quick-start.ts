import { copyFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Bundle } from '../inside/agent.ts';
import { EFFECTIVE, kubeletConfig, kubeletStart, kubeletStarts, LOCAL, sha256Of } from '../inside/kubelet.ts';
import { run } from '../inside/program.ts';
import { scenario } from '../inside/scenario.ts';
import { settled, systemctl } from '../inside/systemctl.ts';

export interface QuickStartResult {
  /** `--config` and maxPods of each start of the kubelet. */
  starts: string[];
  same: boolean;
}

const K3S = '/usr/local/bin/k3s';

/** What is there before dkc: where it has its kubelet's configuration, its unit, and what else it takes. */
const places = {
  plain: {
    config: '/etc/kubelet.yaml',
    unit: 'kubelet.service',
    prepare: () => {
      writeUnit('kubelet.service', '/usr/bin/kubelet --config=/etc/kubelet.yaml');
    },
  },
  // In the place of k3s a program that gives its kubelet the file of kubelet-arg, else its defaults.
  k3s: {
    config: '/var/lib/k3s-defaults.yaml',
    unit: 'k3s-agent.service',
    prepare: () => {
      const script = `file=$(sed -n 's/^kubelet-arg: \\[config=\\(.*\\)\\]$/\\1/p' /etc/rancher/k3s/config.yaml)
exec /usr/bin/kubelet --config="\${file:-/var/lib/k3s-defaults.yaml}"`;
      mkdirSync(dirname(K3S), { recursive: true });
      writeFileSync(K3S, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
      writeUnit('k3s-agent.service', K3S);
      mkdirSync('/usr/lib/systemd/system/kubelet.service.d', { recursive: true });
      renameSync('/etc/systemd/system/kubelet.service.d/20-dkc.conf', '/usr/lib/systemd/system/kubelet.service.d/20-dkc.conf');
      mkdirSync('/var/lib/rancher/k3s/agent', { recursive: true });
      copyFileSync('/etc/dkc/kubeconfig', '/var/lib/rancher/k3s/agent/kubelet.kubeconfig');
    },
  },
};
export type Place = keyof typeof places;

const writeUnit = (name: string, command: string): void =>
  writeFileSync(`/etc/systemd/system/${name}`, `[Service]\nExecStart=${command}\nRestart=always\n`);

/** A kubelet whose unit nobody made for dkc, and the commands that an administrator is told to type there. */
await scenario(async ({ place, commands }: { place: Place; commands: string }): Promise<QuickStartResult> => {
  const { config, unit, prepare } = places[place];
  renameSync(LOCAL, config);
  rmSync('/etc/systemd/system/kubelet.service.d/10-kubeadm.conf');
  const agent = new Bundle();
  await agent.prepare();
  prepare();
  systemctl('daemon-reload');
  systemctl('start', unit);
  await kubeletStart(1);
  if (place === 'plain') await settled();
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
