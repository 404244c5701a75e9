import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { agentDefaults, type AgentOptions } from '../../../agent/options.ts';
import { agentOptions, checkSettings, parseAgentFile, readAgentFile, SettingError, settingsOf } from '../../../cli/agent/settings.ts';
import { agentFlags, nodeFlags, runFlags } from '../../../cli/agent/flags.ts';
import { nodeOptions } from '../../../cli/agent/node-options.ts';
import { parse } from '../../../cli/args/parse.ts';
import { plainFlags } from '../../../cli/args/args.ts';
import type { Command } from '../../../cli/command.ts';

const host = { hostName: 'Node-A', path: (text: string) => (text.startsWith('/') ? text : `/cwd/${text}`) };

function options(argv: string[], file = ''): AgentOptions {
  const flags = settingsOf(plainFlags('agent run', runFlags, argv), host);
  checkSettings(flags);
  return agentOptions(flags, parseAgentFile(file, '/etc/dkc/agent.yaml'), host);
}

test('systemd/agent.yaml has a line for every setting, with its default, which no file and no flags give as well', () => {
  const text = readFileSync('systemd/agent.yaml', 'utf8');
  const lines = new Map([...text.matchAll(/^# (([a-z]\w*): .*)$/gm)].map(([, line = '', key = '']) => [key, line]));
  const keys = agentFlags.map(({ key }) => key);
  assert.deepEqual(keys.filter((key) => !lines.has(key)), []); // prettier-ignore
  const shown = keys.filter((key) => key in agentDefaults).map((key) => lines.get(key));
  const defaults = { ...agentDefaults, nodeName: 'node-a' };
  assert.deepEqual([options([], shown.join('\n')), options([])], [defaults, defaults]);
});

test('the commands of a node take the flags that design 7 names', () => {
  const names = nodeFlags.filter((flag) => flag.name !== 'agent-config').map((flag) => flag.name);
  assert.equal(names.toSorted().join(' '), 'dynamic-config-dir effective-config kubeconfig kubelet-version local-config merge node-name policy'); // prettier-ignore
});

test('flags win over the file, the file over defaults', () => {
  const read = options(['--sync-interval=5s', '--preflight=false', '-vv'], 'syncInterval: 1m\nkeepCheckpoints: 9\nverbosity: 1\n');
  assert.deepEqual([read.syncInterval, read.keepCheckpoints, read.preflight, read.verbosity], [5_000, 9, false, 2]);
});

test('a flag that is not given leaves the setting to the file, also where yargs reads the line: dkc -o json agent run', async () => {
  const command = { flags: runFlags, positionals: [] } as unknown as Command;
  const read = await parse({ name: 'agent run', below: [] }, command, ['--once'], 80);
  assert.ok(read.want === 'run');
  const settings = settingsOf(read.args, host);
  assert.deepEqual(settings, {});
  assert.equal(agentOptions(settings, parseAgentFile('verbosity: 1', '/f'), host).verbosity, 1);
});

test('the effective file follows the directory, unless it is named', () => {
  assert.equal(options(['--dynamic-config-dir=/d']).effectiveConfig, '/d/kubelet.yaml');
  assert.equal(options([], 'dynamicConfigDir: /f').effectiveConfig, '/f/kubelet.yaml');
  assert.equal(options(['--dynamic-config-dir=/d'], 'effectiveConfig: /e.yaml').effectiveConfig, '/e.yaml');
});

test('paths of flags start at the working directory, and none is not a path', () => {
  const read = options(['--kubeconfig', 'kc', '--policy=none', '--local-config=a/b']);
  assert.deepEqual([read.kubeconfig, read.policy, read.localConfig], ['/cwd/kc', 'none', '/cwd/a/b']);
});

test('an empty value switches off: unit, health, metrics, namespace; an empty kubeconfig takes back the file', () => {
  const empty = ['--kubelet-unit=', '--kubelet-healthz=', '--metrics-bind-address=', '--configmap-namespace=', '--kubeconfig='];
  const read = options(empty, 'kubeconfig: /kc');
  assert.deepEqual([read.kubeletUnit, read.kubeletHealthz, read.metricsBindAddress, read.configmapNamespace], ['', '', '', '']);
  assert.equal('kubeconfig' in read, false);
});

const badFlags = [
  { argv: ['--nope'], says: /unknown flag --nope/ },
  { argv: ['--onc'], says: /did you mean --once\?/ },
  { argv: ['stray'], says: /unexpected argument "stray"/ },
  { argv: ['--merge=both'], says: /--merge must be one of replace, overlay/ },
  { argv: ['--merge'], says: /--merge needs a value/ },
];
for (const { argv, says } of badFlags) test(`agent run refuses ${argv.join(' ')}`, () => assert.throws(() => options(argv), says));

const badSettings = [
  { argv: ['--max-kubelet-exits=0'], key: 'maxKubeletExits' },
  { argv: ['--sync-interval=0s'], key: 'syncInterval' },
  { argv: ['--node-name=Upper'], key: 'nodeName' },
  { argv: ['--kubelet-healthz=ftp://x'], key: 'kubeletHealthz' },
  { argv: ['--kubelet-configz=https://127.0.0.1:102500/configz'], key: 'kubeletConfigz' },
  { argv: ['--kubelet-version=latest'], key: 'kubeletVersion' },
  { argv: ['--metrics-bind-address=10259'], key: 'metricsBindAddress' },
  { argv: ['--configmap-namespace=A_B'], key: 'configmapNamespace' },
];
for (const { argv, key } of badSettings)
  test(`agent run refuses ${argv.join(' ')} as a setting`, () => assert.throws(() => options(argv), { name: 'SettingError', key }));

test('a host without a usable name needs --node-name', () => {
  assert.throws(() => agentOptions({}, {}, { hostName: 'my_host' }), SettingError);
  assert.equal(agentOptions({ nodeName: 'a' }, {}, { hostName: 'my_host' }).nodeName, 'a');
});

const goodFiles = [
  { why: 'is empty', text: '', reads: {} },
  { why: 'writes a version as a number', text: 'kubeletVersion: 1.30', reads: { kubeletVersion: '1.30' } },
  { why: 'gives a zero duration', text: 'restartSpread: 0', reads: { restartSpread: 0 } },
  { why: 'quotes an empty unit', text: `kubeletUnit: ""`, reads: { kubeletUnit: '' } },
];
for (const { why, text, reads } of goodFiles) test(`agent.yaml that ${why}`, () => assert.deepEqual(parseAgentFile(text, '/f'), reads));

const badFiles = [
  { why: 'an unknown key', text: 'syncIntervall: 5s', says: /Cannot use \/f: unknown key syncIntervall; did you mean syncInterval\?/ },
  { why: "a flag's spelling", text: 'sync-interval: 5s', says: /unknown key sync-interval; did you mean syncInterval\?/ },
  { why: 'a wrong type', text: 'preflight: yes please', says: /preflight must be true or false/ },
  { why: 'an empty value', text: 'nodeName:', says: /nodeName must have a scalar value/ },
  { why: 'a relative path', text: 'localConfig: a/b', says: /localConfig must be an absolute path/ },
  { why: 'a key twice', text: 'merge: replace\nmerge: overlay', says: /Cannot use \/f: Map keys must be unique/ },
  { why: 'no mapping', text: '- a', says: /not a YAML mapping/ },
];
for (const { why, text, says } of badFiles)
  test(`agent.yaml is refused for ${why}`, () => assert.throws(() => parseAgentFile(text, '/f'), says));

test('a missing agent.yaml is fine by default, and an error when it was named', async () => {
  const disk = { readLinked: () => Promise.reject(Object.assign(new Error('gone'), { code: 'ENOENT' })) };
  assert.deepEqual(await readAgentFile(disk, '/etc/dkc/agent.yaml', false), {});
  await assert.rejects(readAgentFile(disk, '/x', true), /Cannot read \/x/);
  const unreadable = { readLinked: () => Promise.reject(Object.assign(new Error('no'), { code: 'EACCES' })) };
  await assert.rejects(readAgentFile(unreadable, '/etc/dkc/agent.yaml', false), /Cannot read/);
});

test('a bad flag is wrong usage, a bad file is not', async () => {
  const disk = { readLinked: async () => Buffer.from('merge: both') } as unknown as Parameters<typeof nodeOptions>[0]['disk'];
  const args = (argv: string[]) => plainFlags('status', nodeFlags, argv);
  await assert.rejects(nodeOptions({ disk, ...host }, args(['--node-name=A B'])), { name: 'UsageError', message: /^--node-name/ });
  await assert.rejects(nodeOptions({ disk, ...host }, args([])), { name: 'ActionError' });
});
