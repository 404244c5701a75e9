import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { agentDefaults, type AgentOptions } from '../../../agent/options.ts';
import {
  agentOptions,
  checkSettings,
  libraryLines,
  parseAgentFile,
  plainLines,
  readAgentFile,
  SettingError,
  settingsOf,
} from '../../../cli/agent/settings.ts';
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

test('the commands of a node take their flags', () => {
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
  { argv: ['--merge'], says: /--merge needs a value/ },
  { argv: ['--merge=both'], says: /--merge must be one of replace, overlay/ },
];
for (const { argv, says } of badFlags) test(`agent run refuses ${argv.join(' ')}`, () => assert.throws(() => options(argv), says));

const badSettings = [
  { argv: ['--max-kubelet-exits=0'], key: 'maxKubeletExits' },
  { argv: ['--node-name=Upper'], key: 'nodeName' },
  { argv: ['--kubelet-healthz=ftp://x'], key: 'kubeletHealthz' },
  { argv: ['--kubelet-configz=https://127.0.0.1:102500/configz'], key: 'kubeletConfigz' },
  { argv: ['--kubelet-version=latest'], key: 'kubeletVersion' },
  { argv: ['--metrics-bind-address=10259'], key: 'metricsBindAddress' },
];
for (const { argv, key } of badSettings)
  test(`agent run refuses ${argv.join(' ')} as a setting`, () => assert.throws(() => options(argv), { name: 'SettingError', key }));

test('a host without a usable name needs --node-name', () => {
  assert.throws(() => agentOptions({}, {}, { hostName: 'my_host' }), SettingError);
  assert.equal(agentOptions({ nodeName: 'a' }, {}, { hostName: 'my_host' }).nodeName, 'a');
});

test('agent.yaml may be empty, and write a version as a number and a duration as 0', () => {
  assert.deepEqual(parseAgentFile('', '/f'), {});
  assert.deepEqual(parseAgentFile('kubeletVersion: 1.30\nrestartSpread: 0', '/f'), { kubeletVersion: '1.30', restartSpread: 0 });
});

const badFiles = [
  { why: 'an unknown key', text: 'syncIntervall: 5s', says: /Cannot use \/f: unknown key syncIntervall; did you mean syncInterval\?/ },
  { why: 'a wrong type', text: 'preflight: yes please', says: /preflight must be true or false/ },
  { why: 'an empty value', text: 'nodeName:', says: /nodeName must have a scalar value/ },
  { why: 'a relative path', text: 'localConfig: a/b', says: /localConfig must be an absolute path/ },
  { why: 'no mapping', text: '- a', says: /not a YAML mapping/ },
  { why: 'a key twice', text: 'merge: replace\nmerge: overlay', says: /Cannot use \/f: Map keys must be unique/ },
];
for (const { why, text, says } of badFiles)
  test(`agent.yaml is refused for ${why}`, () => assert.throws(() => parseAgentFile(text, '/f'), says));

test('a missing agent.yaml is fine by default, and an error when it was named', async () => {
  const disk = { readLinked: () => Promise.reject(Object.assign(new Error('gone'), { code: 'ENOENT' })) };
  assert.deepEqual(await readAgentFile(disk, '/etc/dkc/agent.yaml', false), {});
  await assert.rejects(readAgentFile(disk, '/x', true), /Cannot read \/x/);
});

test('a bad flag is wrong usage, a bad file is not', async () => {
  const disk = { readLinked: async () => Buffer.from('merge: both') } as unknown as Parameters<typeof nodeOptions>[0]['disk'];
  const args = (argv: string[]) => plainFlags('status', nodeFlags, argv);
  await assert.rejects(nodeOptions({ disk, ...host }, args(['--node-name=A B'])), { name: 'UsageError', message: /^--node-name/ });
  await assert.rejects(nodeOptions({ disk, ...host }, args([])), { name: 'ActionError' });
});

const words = `10m 1m30s 0 007 1.30 1e3 0x1f 0o7 1_000 .inf ~ null Null true True yes on "" '' "1.30" 'it''s' "a\\n" /etc/dkc
  http://127.0.0.1:10248/healthz 127.0.0.1:10460 [::1]:1 a: &a *a !!str {} - ? @a # : a nodeName \u00e9 --- 2026-01-01 12:30:45 | >`;

test('whatever is read without the YAML library is what the library reads', () => {
  const pieces = [...words.split(/\s+/), 'a b', 'a: b', '`', ' # x', ' ', ': ', '- ', '\t'];
  const keys = ['a:', 'a: ', 'nodeName:  ', 'true : ', ''];
  const texts = keys.flatMap((key) => pieces.flatMap((piece) => ['', ' ', ' # x', '#x', '\nb: 1'].map((end) => `${key}${piece}${end}`)));
  const values = (all: ReturnType<typeof libraryLines>): unknown[] =>
    all.map(({ name, scalar }) => [name, scalar?.value, typeof scalar?.value === 'number' ? scalar.source : undefined]);
  const simple = texts.flatMap((text) => {
    const read = plainLines(text);
    if (read !== undefined)
      assert.deepEqual(values(read), values(libraryLines(text, (problem) => new Error(problem))), JSON.stringify(text));
    return read ?? [];
  });
  assert.ok(simple.length > 100, `${simple.length} lines were simple`);
});
