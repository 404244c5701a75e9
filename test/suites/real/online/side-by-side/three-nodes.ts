import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { kubeletCover } from '../../../../support/real-parts/real-kubelet.ts';
import { localConfig } from '../../inside/configs.ts';
import { runtimeFlags } from '../../machine.ts';
import { nativeDir, nodeIps, PLAIN_KUBECONFIG } from './places.ts';

const root = join(import.meta.dirname, '../../../../..');
const text = (path: string): string => readFileSync(join(root, path), 'utf8');

/** Flags beat a config, so that several kubelets of one machine can be given the very same. */
const ports = (first: number): string => `--port=${first} --healthz-port=${first - 2}`;

/** What stands beside the usual node: a kubelet with a dynamic configuration of its own, and a second installation of ours. */
export const moreNodes = (): Record<string, string> => ({ ...nativeNode(), ...secondInstallation() });

function nativeNode(): Record<string, string> {
  const flags = [
    '--config=/etc/kubernetes/native.yaml',
    '--kubeconfig=/etc/kubernetes/native.conf',
    '--hostname-override=native',
    `--node-ip=${nodeIps.native}`,
    // Inside of its cover.
    '--dynamic-config-dir=/var/lib/kubelet/dynamic',
    ports(10260),
    ...runtimeFlags,
  ];
  return {
    '/etc/kubernetes/native.yaml': localConfig,
    '/etc/systemd/system/kubelet-native.service': `[Unit]
StartLimitIntervalSec=0
Wants=fake-runtime.service
After=fake-runtime.service
[Service]
ExecStart=${kubeletCover} --kubelet-dir ${nativeDir} --pod-logs /var/log/pods-native -- /usr/lib/kubelet/kubelet ${flags.join(' ')}
Restart=always
RestartSec=1
`,
  };
}

/** Everything of the installation once more, with `-plain` behind the name of each place and unit; the program itself is shared. */
function moved(file: string): string {
  return file
    .replaceAll(/(\/(?:run|var\/lib|etc|usr\/lib)\/dkc)\b(?!\/(?:node|dkc\.js)\b)/g, '$1-plain')
    .replaceAll(/^((?:State|Configuration|Runtime)Directory=dkc)$/gm, '$1-plain')
    .replaceAll(/(?<=\b(?:kubelet|dkc-agent))(?=\.service\b)/g, '-plain')
    .replaceAll(
      /(?<=\/usr\/bin\/kubelet)(?= )|(?<=\/etc\/default\/kubelet)$|(?<=\/var\/lib\/kubelet)(?=\/kubeadm| --)|(?<=\/var\/log\/pods)(?= )/gm,
      '-plain',
    )
    .replaceAll('/etc/kubernetes/kubelet.conf', PLAIN_KUBECONFIG)
    .replace(/(?<=^ExecStart=.* agent run)$/m, ' --agent-config=/etc/dkc-plain/agent.yaml');
}

function secondInstallation(): Record<string, string> {
  const agent = {
    nodeName: 'plain',
    kubeconfig: PLAIN_KUBECONFIG,
    dynamicConfigDir: '/var/lib/dkc-plain',
    kubeletUnit: 'kubelet-plain.service',
    kubeletHealthz: 'http://127.0.0.1:10268/healthz',
    kubeletExits: '/run/dkc-plain/kubelet-exits',
    metricsBindAddress: '',
    preflight: false,
    policy: 'none',
  };
  const units = '/etc/systemd/system';
  return {
    '/etc/dkc-plain/agent.yaml': stringify(agent),
    '/usr/bin/kubelet-plain': moved(text('test/suites/real/node/kubelet')),
    '/usr/lib/dkc-plain/kubelet-sync': moved(text('systemd/kubelet-sync')),
    '/usr/lib/dkc-plain/kubelet-stopped': moved(text('systemd/kubelet-stopped')),
    [`${units}/dkc-agent-plain.service`]: moved(text('systemd/dkc-agent.service')),
    [`${units}/kubelet-plain.service`]: moved(text('test/suites/systemd/units/kubelet.service')),
    [`${units}/kubelet-plain.service.d/10-kubeadm.conf`]: moved(text('test/suites/systemd/units/kubelet.service.d/10-kubeadm.conf')),
    [`${units}/kubelet-plain.service.d/20-dkc.conf`]: moved(text('systemd/kubelet.service.d/20-dkc.conf')),
    [`${units}/kubelet-plain.service.d/80-node.conf`]: `[Unit]
Wants=fake-runtime.service
After=fake-runtime.service
[Service]
Environment=KUBELET_COVER=${kubeletCover}
RestartSec=1
`,
    '/var/lib/kubelet-plain/kubeadm-flags.env': `KUBELET_KUBEADM_ARGS="${runtimeFlags.join(' ')} --hostname-override=plain --node-ip=${nodeIps.plain} ${ports(10270)}"\n`,
    '/etc/default/kubelet-plain': `KUBELET_KUBECONFIG_ARGS=--kubeconfig=${PLAIN_KUBECONFIG}\n`,
  };
}
