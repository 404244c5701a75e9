import { randomUUID } from 'node:crypto';
import { join, dirname } from 'node:path';
import { stringify } from 'yaml';
import { kubeletCover } from '../../support/real-parts/real-kubelet.ts';
import { builtRelease, type Release } from '../../support/real-parts/release.ts';
import { onMachine } from '../systemd/machine.ts';
import { CRI, KUBECONFIG, KUBELET_KUBECONFIG, NODE, NODE_IP } from './inside/names.ts';
import { LOCAL_PODS, localConfig, releaseConfig } from './inside/configs.ts';
import { fakeRuntime, type Runtime } from './runtimes.ts';

const here = import.meta.dirname;
const DOCKER = '/run/fake-runtime/docker.sock';

/** By which a kubelet on the machine finds the fake runtime. */
export const runtimeFlags = ['--container-runtime=remote', `--container-runtime-endpoint=unix://${CRI}`, `--docker=unix://${DOCKER}`];

export interface NodeOptions {
  /** Keys of /etc/dkc/agent.yaml besides those that every node here has. `none`: dkc is still to be installed. */
  agent?: Readonly<Record<string, unknown>> | 'none';
  /** The kubelet is no standalone one: it registers its Node with the kubeconfig at KUBELET_KUBECONFIG, which the scenario writes. */
  registered?: boolean;
  /** Whose kubelet. @default 1.20.2 */
  release?: Release;
  /** What runs its pods. @default a fake one */
  runtime?: Runtime;
  /** Files put over everything else: path inside -> text. */
  files?: Readonly<Record<string, string>>;
  options?: object;
}

/** The kubelet of a release on a machine: its program, its flags, its local config, and a fake runtime for it. */
async function kubeletOf(release: Release): Promise<{ program: string; flags: string[]; local: string; fake: Runtime }> {
  if (release.minor < 26) {
    const { kubelet } = await release.programs(['kubelet']);
    const fake = fakeRuntime(['--protos', join(dirname(kubelet), 'protos'), '--docker-socket', DOCKER]);
    return { program: kubelet, flags: runtimeFlags, local: localConfig, fake };
  }
  const { kubelet, 'cri-v1.proto': proto } = await release.programs(['kubelet', 'cri-v1.proto']);
  return { program: kubelet, flags: [], local: releaseConfig({ maxPods: LOCAL_PODS }), fake: fakeRuntime(['--v1', proto]) };
}

/**
 * Boots a machine with the agent as built, unless it is to be without, and a real kubelet on a container runtime, runs `scenarios/NAME.ts` of this folder on it,
 * and returns what that printed. The kubelet's unit is kubeadm's with our drop-in; kubeadm's files beside it make it a standalone one.
 * @throws RealPartsUnavailable where there is no kubelet to be had
 */
export async function onNode<Result>(
  name: string,
  { agent = {}, registered = false, release = builtRelease, runtime, files, options }: NodeOptions = {},
): Promise<Result> {
  const { program, flags, local, fake } = await kubeletOf(release);
  const { unit, keep, files: ofRuntime } = runtime ?? fake;
  const kubeletFlags = [...flags, `--hostname-override=${NODE}`, ...(registered ? [`--node-ip=${NODE_IP}`] : [])];
  return onMachine<Result>(`../../real/scenarios/${name}`, {
    bare: agent === 'none',
    keep: { [join(here, 'node/kubelet')]: '/usr/bin/kubelet:ro', [program]: '/usr/lib/kubelet/kubelet:ro', ...keep },
    files: {
      '/var/lib/kubelet/config.yaml': local,
      '/var/lib/kubelet/kubeadm-flags.env': `KUBELET_KUBEADM_ARGS="${kubeletFlags.join(' ')}"\n`,
      '/etc/default/kubelet': `KUBELET_KUBECONFIG_ARGS=${registered ? `--kubeconfig=${KUBELET_KUBECONFIG}` : ''}\nKUBELET_EXTRA_ARGS=--event-qps=7\n`,
      ...(agent === 'none' ? {} : { '/etc/dkc/agent.yaml': stringify({ nodeName: NODE, kubeconfig: KUBECONFIG, ...agent }) }),
      ...ofRuntime,
      // The kernel's own is that of the machine outside, and so the same for every boot in here.
      '/etc/boot-id': `${randomUUID()}\n`,
      '/etc/systemd/system/dkc-agent.service.d/80-node.conf': `[Service]
BindReadOnlyPaths=/etc/boot-id:/proc/sys/kernel/random/boot_id
`,
      '/etc/systemd/system/kubelet.service.d/80-node.conf': `[Unit]
Wants=${unit}
After=${unit}
[Service]
Environment=KUBELET_COVER=${kubeletCover}
RestartSec=1
`,
      ...files,
    },
    options: options ?? {},
    timeout: 1_000,
  });
}
