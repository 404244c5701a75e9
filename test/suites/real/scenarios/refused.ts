import { copyFileSync, mkdirSync, renameSync, symlinkSync } from 'node:fs';
import { LOCAL } from '../../systemd/inside/kubelet.ts';
import { scenario } from '../../systemd/inside/scenario.ts';
import { settled } from '../../systemd/inside/systemctl.ts';
import { clientCa, config, killers, LOCAL_PODS, neverHealthy } from '../inside/configs.ts';
import { configz, healthyOn, journal, kubeletLife, nodeUp, since, type KubeletLife, type NodeStatus } from '../inside/node.ts';
import { eventually } from '../../../support/eventually.ts';

export interface RefusedResult {
  local: KubeletLife;
  refusals: { why: string; rule: string; ms: number; status: NodeStatus; events: string[]; kubelet: KubeletLife }[];
  /** It has a field that this kubelet is too old for, one that a flag beats, a file that is a link, and two that the agent cannot see. */
  accepted: { status: NodeStatus; eventQps: unknown; warnings: string[] };
  /** What the agent could not learn of the kubelet. */
  unknown: string[];
}

const invalid = [
  { why: 'a negative number of pods', fields: { maxPods: -1 }, rule: 'not-negative' },
  { why: 'a gate that no kubelet has', fields: { featureGates: { NoSuchGate: true } }, rule: 'unknown-gate' },
  { why: 'a gate that only newer kubelets have', fields: { featureGates: { SeccompDefault: true } }, rule: 'unknown-gate' },
  { why: 'a duration without a unit', fields: { syncFrequency: '10' }, rule: 'duration' },
];

const LINKED_CA = '/etc/kubernetes/linked-ca.crt';

/** Assigns what preflight is there to find, on the very node where it would go wrong. */
await scenario(async (): Promise<RefusedResult> => {
  // As distributions have it that keep /etc apart.
  mkdirSync('/etc/kubernetes', { recursive: true });
  renameSync(LOCAL, '/etc/kubernetes/kubelet.yaml');
  symlinkSync('/etc/kubernetes/kubelet.yaml', LOCAL);
  symlinkSync('/var/lib/kubelet/pki/kubelet.crt', LINKED_CA);
  const cluster = await nodeUp();
  const local = await healthyOn(LOCAL_PODS);
  // The agent's sandbox hides this folder, the kubelet has none.
  for (const name of ['kubelet.crt', 'kubelet.key']) copyFileSync(`/var/lib/kubelet/pki/${name}`, `/root/${name}`);
  await settled();
  const refusals: RefusedResult['refusals'] = [];
  for (const [n, { why, fields, rule }] of [...invalid, ...killers, neverHealthy].entries()) {
    const at = await cluster.assign(`refused-${n}`, config({ maxPods: 130 + n, ...fields }));
    const events = await eventually(`a refusal of ${why}`, async () => {
      const events = await cluster.events('KubeletConfigRefused', `refused-${n}`);
      return events.length > 0 ? events : undefined;
    });
    const ms = since(at);
    // The error of the one before stays until this one is reported: the two kinds differ, so wait for its own.
    const kind = rule === 'duration' ? 'load' : 'validate';
    const status = await cluster.until(`the error of ${why}`, ({ error }) => error?.includes(`failed to ${kind} config`) === true);
    refusals.push({ why, rule, ms, status, events, kubelet: kubeletLife() });
  }

  const hidden = { tlsCertFile: '/root/kubelet.crt', tlsPrivateKeyFile: '/root/kubelet.key' };
  const fields = { maxPods: 120, seccompDefault: true, eventRecordQPS: 9, ...clientCa(LINKED_CA), ...hidden };
  await cluster.assign('accepted', config(fields));
  await healthyOn(120);
  const status = await cluster.until('it in use', ({ active }) => active === 'accepted');
  const eventQps = (await eventually('the config of the kubelet', configz))['eventRecordQPS'];
  const log = journal('dkc-agent.service');
  const warnings = log.filter((line) => line.includes('config is accepted, but'));
  const unknown = log.filter((line) =>
    /^(?:the kubelet does not (?:list|tell)|(?:the )?version of the kubelet|systemd does not report)/.test(line),
  );
  return { local, refusals, accepted: { status, eventQps, warnings }, unknown };
});
