import { readFile } from 'node:fs/promises';
import { check, known, type Row } from './rows.ts';
import { commandLineChecks, type CommandLineFacts, hostChecks, type HostFacts } from '../../../../cli/doctor/node/command-line.ts';
import {
  diskChecks,
  type DiskFacts,
  settingsChecks,
  type SettingsFacts,
  storeChecks,
  type StoreFacts,
} from '../../../../cli/doctor/node/files.ts';
import { dropInChecks, type DropInFacts } from '../../../../cli/doctor/node/drop-ins.ts';
import { unitChecks, type UnitFacts } from '../../../../cli/doctor/node/units.ts';
import { parseKubeletVersion } from '../../../../agent/config/version.ts';

const dropIn = await readFile(new URL('../../../../systemd/kubelet.service.d/20-dkc.conf', import.meta.url), 'utf8');
const kubeadm = `[Service]
Environment="KUBELET_CONFIG_ARGS=--config=/var/lib/kubelet/config.yaml"
ExecStart=
ExecStart=/usr/bin/kubelet $KUBELET_CONFIG_ARGS $KUBELET_EXTRA_ARGS
`;
const UNIT = '/usr/lib/systemd/system/kubelet.service';
const at = (name: string, text: string) => ({ path: `${UNIT}.d/${name}`, text });
const unitAsItIs = { path: UNIT, text: '[Service]\nExecStart=/usr/bin/kubelet\n' };
const files = (...more: { path: string; text: string }[]) =>
  known([unitAsItIs, at('10-kubeadm.conf', kubeadm), at('20-dkc.conf', dropIn), ...more]);
const EFFECTIVE = '/var/lib/dkc/kubelet.yaml';

const sync = (status: number, path = '/usr/lib/dkc/kubelet-sync') => ({ ExecStartPost: `{ path=${path} ; argv[]=${path} ; ignore_errors=yes ; pid=7 ; code=exited ; status=${status} }` }); // prettier-ignore
const up = { ...sync(0), LoadState: 'loaded', UnitFileState: 'enabled', ActiveState: 'active', SubState: 'running', Result: 'success', NRestarts: '0', Restart: 'always', StartLimitIntervalUSec: '0', StartLimitBurst: '5', NeedDaemonReload: 'no', ActiveEnterTimestampMonotonic: '1000000' }; // prettier-ignore
const units: UnitFacts = {
  systemd: known(252),
  agent: known(up),
  kubelet: known(up),
  kubeletUnit: 'kubelet.service',
  uptimeS: known(5000),
  hasSync: known(true),
};
const unit = (agent: Partial<typeof up>, kubelet: Partial<typeof up> = {}): Partial<UnitFacts> => ({ agent: known({ ...up, ...agent }), kubelet: known({ ...up, ...kubelet }) }); // prettier-ignore

const unitRows: (Row & { facts: Partial<UnitFacts> })[] = [
  { check: 'systemd-version', where: 'it is too old', facts: { systemd: known(249) }, is: 'failed', says: 'systemd 249 is older than 252', todo: 'upgrade the operating system' },
  { check: 'agent-unit', where: 'it is not installed', facts: unit({ LoadState: 'not-found' }), is: 'failed', says: 'there is no dkc-agent.service', todo: 'docs/install.md' },
  { check: 'agent-unit', where: 'it is masked', facts: unit({ LoadState: 'masked' }), is: 'failed', says: 'is masked', todo: 'systemctl unmask dkc-agent.service' },
  { check: 'agent-unit', where: 'it is disabled', facts: unit({ UnitFileState: 'disabled' }), is: 'warning', says: 'does not start at boot', todo: 'systemctl enable dkc-agent.service' },
  { check: 'agent-running', where: 'it starts again and again', facts: unit({ NRestarts: '10', ActiveEnterTimestampMonotonic: '4990000000' }), is: 'warning', says: 'restarted 10 times, the last time 10 s ago', todo: 'journalctl -u dkc-agent.service' },
  { check: 'agent-running', where: 'kubelet-sync fails', facts: unit(sync(1)), is: 'warning', says: 'kubelet-sync failed at its last start', todo: 'journalctl -u dkc-agent.service -e' },
  { check: 'agent-running', where: 'kubelet-sync is gone', facts: { hasSync: known(false) }, is: 'failed', says: 'does not start kubelet-sync', todo: 'install the package of dkc again' },
  { check: 'agent-running', where: 'another program has replaced it', facts: unit(sync(0, '/bin/true')), is: 'failed', says: 'does not start kubelet-sync', todo: 'remove what replaces ExecStartPost=' },
  { check: 'agent-running', where: 'it is stopped', facts: unit({ ActiveState: 'inactive' }), is: 'failed', says: 'is stopped', todo: 'systemctl start dkc-agent.service' },
  { check: 'agent-running', where: 'it dies', facts: unit({ ActiveState: 'activating', SubState: 'auto-restart', Result: 'exit-code', NRestarts: '7' }), is: 'failed', says: 'activating (auto-restart, exit-code), restarted 7 times', todo: 'journalctl' },
  { check: 'kubelet-unit', where: 'there is none', facts: unit({}, { LoadState: 'not-found' }), is: 'failed', says: 'there is no kubelet.service', todo: 'set kubeletUnit' },
  { check: 'kubelet-running', where: 'its start limit was hit', facts: unit({}, { ActiveState: 'failed', Result: 'start-limit-hit' }), is: 'failed', says: 'has reached its start limit', todo: 'systemctl reset-failed kubelet.service' },
  { check: 'kubelet-running', where: 'it is stopped', facts: unit({}, { ActiveState: 'inactive' }), is: 'failed', says: 'is stopped', todo: 'systemctl start kubelet.service' },
  { check: 'kubelet-running', where: 'it has failed', facts: unit({}, { ActiveState: 'failed', Result: 'exit-code' }), is: 'failed', says: 'has failed: exit-code', todo: 'journalctl -u kubelet.service' },
  { check: 'kubelet-running', where: 'it dies again and again', facts: unit({}, { ActiveState: 'activating', SubState: 'auto-restart', NRestarts: '3' }), is: 'failed', says: 'restarted 3 times', todo: 'dkc status' },
  { check: 'kubelet-restart', where: 'it is not restarted', facts: unit({}, { Restart: 'on-failure' }), is: 'warning', says: 'Restart=on-failure', todo: 'Restart=always' },
  { check: 'kubelet-restart', where: 'it has a limit', facts: unit({}, { StartLimitIntervalUSec: '10s' }), is: 'warning', says: 'after 5 starts in 10s', todo: 'StartLimitIntervalSec=0' },
  { check: 'daemon-reload', where: 'a file changed', facts: unit({}, { NeedDaemonReload: 'yes' }), is: 'warning', says: 'files of kubelet.service have changed', todo: 'systemctl daemon-reload' },
]; // prettier-ignore

const dropIns: DropInFacts = { files: files(), environmentFiles: known([]), isLoaded: known(true), packaged: known(undefined), onDisk: [], kubeletUnit: 'kubelet.service', effectiveConfig: EFFECTIVE }; // prettier-ignore
const later = (text: string): Partial<DropInFacts> => ({ files: files(at('90-mine.conf', text)) });
const environment = (text: string, path = '/var/lib/kubelet/kubeadm-flags.env'): Partial<DropInFacts> => ({ environmentFiles: known([{ path, text }]) }); // prettier-ignore
const without = { files: known([unitAsItIs, at('10-kubeadm.conf', kubeadm)]) };

const dropInRows: (Row & { facts: Partial<DropInFacts> })[] = [
  { check: 'drop-in', where: 'it is not loaded', facts: { ...without, onDisk: ['/etc/systemd/system/kubelet.service.d/20-dkc.conf'] }, is: 'failed', says: 'systemd has not loaded it', todo: 'systemctl daemon-reload' },
  { check: 'drop-in', where: 'it is missing', facts: without, is: 'failed', says: 'no drop-in 20-dkc.conf', todo: 'install the package' },
  { check: 'drop-in', where: 'a kubelet of another name has none', facts: { ...without, kubeletUnit: 'k.service' }, is: 'failed', says: 'k.service has no drop-in', todo: 'install -D -m 0644' },
  { check: 'drop-in', where: 'a copy in /etc is not that of the package', facts: { files: known([unitAsItIs, { path: '/etc/systemd/system/kubelet.service.d/20-dkc.conf', text: '[Service]' }]), packaged: known({ path: `${UNIT}.d/20-dkc.conf`, text: dropIn }) }, is: 'warning', says: 'overrides the drop-in of the package', todo: 'remove the copy in /etc' },
  { check: 'drop-in-order', where: 'one after it says the same', facts: later(`[Service]\nEnvironment=KUBELET_CONFIG_ARGS=--config=${EFFECTIVE}\n`), is: 'ok', says: 'do not change its settings' },
  { check: 'drop-in-order', where: 'one after it sets the variable', facts: later('[Service]\nEnvironment="A=b" \\\n  "KUBELET_CONFIG_ARGS=--config=/x"\n'), is: 'failed', says: '90-mine.conf sets KUBELET_CONFIG_ARGS', todo: 'sorts before 20-dkc.conf' },
  { check: 'drop-in-order', where: 'one after it empties the environment', facts: later('[Service]\nEnvironment=\n'), is: 'failed', says: 'empties Environment=', todo: 'systemctl daemon-reload' },
  { check: 'drop-in-order', where: 'one after it has a command of its own', facts: later('[Service]\nExecStart=\nExecStart=/usr/bin/kubelet --config=/x\n'), is: 'failed', says: 'ExecStart= without $KUBELET_CONFIG_ARGS', todo: 'sorts before 20-dkc.conf' },
  { check: 'drop-in-order', where: 'one after it takes the copy away', facts: later('[Service]\nExecStartPre=\n'), is: 'failed', says: 'empties ExecStartPre=', todo: 'sorts before 20-dkc.conf' },
  { check: 'environment-files', where: 'kubeadm has its own', facts: environment('KUBELET_KUBEADM_ARGS="--node-ip=10.0.0.1"\n'), is: 'ok', says: 'kubeadm-flags.env' },
  { check: 'environment-files', where: 'one sets the variable', facts: environment('KUBELET_CONFIG_ARGS=--config=/x\n'), is: 'failed', says: 'kubeadm-flags.env sets --config in KUBELET_CONFIG_ARGS', todo: 'systemctl restart kubelet.service' },
  { check: 'environment-files', where: 'one has the flag', facts: environment('KUBELET_EXTRA_ARGS="--v=2 --config=/x"\n', '/etc/default/kubelet'), is: 'failed', says: '/etc/default/kubelet sets --config in KUBELET_EXTRA_ARGS', todo: 'remove that from' },
]; // prettier-ignore

const right = { path: EFFECTIVE, isEffective: true };
const other = { path: '/var/lib/kubelet/config.yaml', isEffective: false };
const kubelet = (args: string[], version = '1.36') => known({ version: parseKubeletVersion(version), args });
const line: CommandLineFacts = { next: known(right), running: known(right), kubelet: kubelet(['--node-ip=10.0.0.1']), dropIns: known(undefined), sources: [], effectiveConfig: EFFECTIVE, kubeletUnit: 'kubelet.service' }; // prettier-ignore
const lineRows: (Row & { facts: Partial<CommandLineFacts> })[] = [
  { check: 'config-flag', where: 'there is none', facts: { next: known(null) }, is: 'failed', says: 'has no --config', todo: 'systemctl cat kubelet.service' },
  { check: 'kubelet-process', where: 'it was started before the drop-in', facts: { running: known(other) }, is: 'failed', says: 'has --config=/var/lib/kubelet/config.yaml', todo: 'systemctl restart kubelet.service' },
  { check: 'kubelet-flags', where: 'one does', facts: { kubelet: kubelet(['--max-pods=10']), sources: [{ path: '/etc/default/kubelet', text: 'KUBELET_EXTRA_ARGS=--max-pods=10' }, { path: '/x', text: '--max-pods-per-core' }] }, is: 'warning', says: '--max-pods sets maxPods', todo: 'and set the field in the configuration' },
  { check: 'kubelet-flags', where: 'one sets a feature gate', facts: { kubelet: kubelet(['--feature-gates=MemoryQoS=true']) }, is: 'warning', says: '--feature-gates sets featureGates.MemoryQoS', todo: 'and set the field in the configuration' },
  { check: 'kubelet-flags', where: 'one is gone from this version', facts: { kubelet: kubelet(['--pod-infra-container-image=x']) }, is: 'failed', says: 'would not start', todo: 'remove the flag' },
  { check: 'kubelet-flags', where: 'one has no value that it could have', facts: { kubelet: kubelet(['--max-pods=many']) }, is: 'failed', says: '--max-pods', todo: 'fix the flag' },
  { check: 'config-dir', where: 'it sets nothing', facts: { dropIns: known({ dir: '/d', files: [], problems: [] }) }, is: 'ok', says: 'no file in /d sets a field' },
  { check: 'config-dir', where: 'files in it win', facts: { dropIns: known({ dir: '/d', files: [{ path: '/d/1.conf', written: { kind: 'KubeletConfiguration', maxPods: 1, evictionHard: { 'memory.available': '1Mi' } } }], problems: [] }) }, is: 'warning', says: '/d/1.conf sets maxPods, evictionHard.memory.available', todo: 'remove the files' },
  { check: 'config-dir', where: 'a file in it is damaged', facts: { dropIns: known({ dir: '/d', files: [], problems: [{ field: '', rule: 'drop-in', message: 'drop-in /d/1.conf keeps the kubelet from starting' }] }) }, is: 'failed', says: '/d/1.conf', todo: 'fix or remove' },
]; // prettier-ignore

const host: HostFacts = { binary: known('v1.36.3'), configured: undefined, cgroup: known(2), failCgroupV1: known(true) };
const hostRows: (Row & { facts: Partial<HostFacts> })[] = [
  { check: 'kubelet-version', where: 'it is newer', facts: { binary: known('v1.39.0') }, is: 'warning', says: 'validated for 1.37', todo: 'upgrade dkc' },
  { check: 'kubelet-version', where: 'it is older', facts: { binary: known('v1.19.3') }, is: 'failed', says: '1.19', todo: 'upgrade the kubelet' },
  { check: 'kubelet-version', where: 'the settings say another', facts: { configured: '1.30' }, is: 'warning', says: 'kubeletVersion in /etc/dkc/agent.yaml is 1.30', todo: 'remove kubeletVersion' },
  { check: 'cgroup', where: 'the kubelet refuses v1', facts: { cgroup: known(1) }, is: 'failed', says: 'refuses to start', todo: 'failCgroupV1: false' },
  { check: 'cgroup', where: 'the kubelet runs on v1', facts: { cgroup: known(1), failCgroupV1: known(false) }, is: 'warning', says: 'cgroup v1', todo: 'systemd.unified_cgroup_hierarchy=1' },
]; // prettier-ignore

const free = (bytes: number, count: number | null): Partial<DiskFacts> => ({ free: [{ path: '/var/lib/dkc', is: known({ bytes, files: count }) }] }); // prettier-ignore
const MIB = 1024 * 1024;
const disk: DiskFacts = { free: [], ...free(4000 * MIB, 1e6), readOnly: known([]), isVolatile: known(false), effectiveConfig: EFFECTIVE };
const diskRows: (Row & { facts: Partial<DiskFacts> })[] = [
  { check: 'disk-space', where: 'bytes get short', facts: free(99 * MIB, 1e6), is: 'warning', says: '99 MiB', todo: 'free some space' },
  { check: 'disk-space', where: 'it is full', facts: free(15 * MIB, 1e6), is: 'failed', says: '15 MiB', todo: 'free some space' },
  { check: 'disk-writable', where: 'the mount is read-only', facts: { readOnly: known(['/var/lib/dkc']) }, is: 'failed', says: 'read-only', todo: 'remount,rw' },
  { check: 'disk-writable', where: 'the agent had to go to memory', facts: { isVolatile: known(true) }, is: 'warning', says: 'from /run', todo: 'systemctl restart dkc-agent' },
]; // prettier-ignore

const settings: SettingsFacts = { file: '/etc/dkc/agent.yaml', problem: known(undefined), isThere: known(true), policyProblem: known(undefined), policyFile: '/etc/dkc/policy.yaml', hasPolicy: known(true) }; // prettier-ignore
const settingsRows: (Row & { facts: Partial<SettingsFacts> })[] = [
  { check: 'settings', where: 'there are none', facts: { isThere: known(false) }, is: 'ok', says: 'all settings have their defaults' },
  { check: 'settings', where: 'a key is wrong', facts: { problem: known('unknown key x') }, is: 'failed', says: 'unknown key x', todo: 'fix /etc/dkc/agent.yaml' },
  { check: 'policy', where: 'it is damaged', facts: { policyProblem: known('/etc/dkc/policy.yaml: no YAML') }, is: 'failed', says: 'new configurations are rejected', todo: 'fix /etc/dkc/policy.yaml' },
]; // prettier-ignore

const source = { namespace: 'dkc-system', name: 'web', uid: 'u', resourceVersion: '7', kubeletConfigKey: 'kubelet' };
const store: StoreFacts = { store: known({ at: 'there', problems: [], checkpoints: 2 }), lastKnownGood: known({ at: 'none' }), local: known({ at: 'usable' }), localConfig: '/var/lib/kubelet/config.yaml', dir: '/var/lib/dkc' }; // prettier-ignore
const storeRows: (Row & { facts: Partial<StoreFacts> })[] = [
  { check: 'store', where: 'there is none', facts: { store: known({ at: 'absent' }) }, is: 'failed', says: 'the agent has never started on this node', todo: 'systemctl start dkc-agent' },
  { check: 'store', where: 'a file is damaged', facts: { store: known({ at: 'there', problems: [{ path: '/x', problem: 'cut' }], checkpoints: 1 }) }, is: 'failed', says: '/x: cut', todo: 'dkc checkpoints verify' },
  { check: 'last-known-good', where: 'it is usable', facts: { lastKnownGood: known({ at: 'usable', source, content: { contentSha256: '', kubeletConfigKey: 'kubelet' }, effective: new Uint8Array() }) }, is: 'ok', says: 'dkc-system/web:kubelet@7' },
  { check: 'last-known-good', where: 'it cannot be used', facts: { lastKnownGood: known({ at: 'unusable', source, stage: 'load', problem: 'no checkpoint for it' }) }, is: 'failed', says: 'no checkpoint for it', todo: 'dkc drill' },
  { check: 'last-known-good', where: 'somebody rolled it back', facts: { lastKnownGood: known({ at: 'condemned', source, by: 'admin', reason: 'pods fail' }) }, is: 'warning', says: 'is condemned: pods fail', todo: 'dkc retry last-known-good' },
  { check: 'store', where: 'a part is kept from the agent', facts: { store: known({ at: 'there', problems: [{ path: '/x', problem: 'it belongs to uid 1', isInaccessible: true }], checkpoints: 1 }) }, is: 'failed', says: '/x: it belongs to uid 1', todo: 'chown -R root: /var/lib/dkc/store' },
  { check: 'last-known-good', where: 'the store is damaged', facts: { store: known({ at: 'there', problems: [{ path: '/x', problem: 'cut' }], checkpoints: 1 }) }, is: 'skipped', says: 'the store is damaged' },
  { check: 'last-known-good', where: 'its record is missing', facts: { lastKnownGood: known({ at: 'unknown' }) }, is: 'failed', says: 'the record of the last known good config is missing', todo: 'systemctl restart dkc-agent' },
  { check: 'local-config', where: 'it is damaged', facts: { local: known({ at: 'broken', problem: 'too large' }) }, is: 'failed', says: 'too large', todo: 'dkc validate' },
  { check: 'local-config', where: 'it is missing', facts: { local: known({ at: 'missing' }) }, is: 'failed', says: 'no last fallback', todo: 'set localConfig' },
  { check: 'local-config', where: 'a kubelet would not start with it', facts: { local: known({ at: 'refused', findings: [{ field: 'maxPods', rule: 'least', message: 'must be 0 or more' }] }) }, is: 'failed', says: 'maxPods: must be 0 or more', todo: 'dkc validate' },
]; // prettier-ignore

check(unitChecks, units, unitRows);
check(dropInChecks, dropIns, dropInRows);
check(commandLineChecks, line, lineRows);
check(hostChecks, host, hostRows);
check(diskChecks, disk, diskRows);
check(settingsChecks, settings, settingsRows);
check(storeChecks, store, storeRows);
