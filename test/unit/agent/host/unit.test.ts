import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isKubeletDown, isRunningOn, STARTED_FILE } from '../../../../agent/host/unit.ts';
import { sha256 } from '../../../../agent/checkpoint/payload.ts';
import { realClock } from '../../../../base/clock.ts';
import type { Ran } from '../../../../base/exec.ts';
import { memoryDisk } from '../../../support/memory-disk.ts';
import * as line from '../../../../agent/host/unit.ts';

/** `started` is the text of the file that the kubelet was started on, and `sub` what is asked for where it is activating. */
type Case = { why: string; unit?: string; started?: string; answer?: Partial<Ran>; sub?: string; running: line.Running };
const cases: Case[] = [
  { why: 'active on this file', started: 'now', answer: { stdout: 'active\n' }, running: true },
  { why: 'active on an older file', started: 'before', answer: { stdout: 'active\n' }, running: false },
  { why: 'waiting for its next start', started: 'now', answer: { stdout: 'activating\n' }, sub: 'auto-restart', running: false },
  { why: 'not READY=1 yet, as Type=notify asks', started: 'now', answer: { stdout: 'activating\n' }, sub: 'start', running: 'starting' },
  { why: 'failed', started: 'now', answer: { stdout: 'failed\n' }, running: false },
  { why: 'not to be asked after: systemctl cannot run', started: 'now', answer: { code: null }, running: true },
  { why: 'nobody in particular', unit: '', started: 'before', answer: { stdout: 'failed\n' }, running: true },
];
for (const { why, unit = 'kubelet.service', started, answer, sub, running } of cases)
  test(`a kubelet ${running === 'starting' ? 'starts' : running ? 'counts as running' : 'does not count as running'} when it is ${why}`, async () => {
    const asked: string[] = [];
    const exec = async (program: string, args: readonly string[]): Promise<Ran> => {
      asked.push([program, ...args].join(' '));
      return { code: 0, stdout: '', stderr: '', ...(args.includes('SubState') ? { stdout: `${sub}\n` } : answer) };
    };
    const disk = memoryDisk(started === undefined ? {} : { [`/run/dkc/${STARTED_FILE}`]: started });
    const options = { kubeletUnit: unit, kubeletExits: '/run/dkc/kubelet-exits' };
    assert.equal(await isRunningOn(sha256('now'), options, { disk, exec }), running);
    const asks = unit !== '' && started !== 'before' ? (sub === undefined ? ['ActiveState'] : ['ActiveState', 'SubState']) : [];
    assert.deepEqual(asked, asks.map((name) => `systemctl show -P ${name} -- kubelet.service`)); // prettier-ignore
  });

/** A machine whose kubelet's unit and whose systemd answer these, one after the other; the last answer stays. */
function machine(states: string[], system: string) {
  const next = (): string => (states.length > 1 ? states.shift() : states[0]) ?? '';
  const said = (verb = ''): string => (verb === 'is-system-running' ? system : next());
  const exec = async (_program: string, [verb]: readonly string[]) => ({ code: 0, stdout: `${said(verb)}\n`, stderr: '' });
  return { clock: { ...realClock, sleep: async () => {} }, exec };
}

// prettier-ignore
const ends = [
  { why: 'a kubelet that is stopped', states: ['inactive'], system: 'stopping', down: true },
  { why: 'a kubelet that runs, and a machine that goes on', states: ['active'], system: 'running', down: false },
  { why: 'a kubelet that goes down beside the agent', states: ['active', 'deactivating', 'inactive'], system: 'stopping', down: true },
];
for (const { why, states, system, down } of ends)
  test(`the end of an agent beside ${why} is ${down ? '' : 'not '}a clean stop`, async () => {
    const world = machine([...states], system);
    assert.equal(await isKubeletDown({ kubeletUnit: 'kubelet.service' }, world, async () => true), down);
  });

// prettier-ignore
const words: { why: string; text: string; are: string[] }[] = [
  { why: 'words at blanks', text: ' a  b\tc ', are: ['a', 'b', 'c'] },
  { why: 'a backslash before a blank', text: 'a\\ b', are: ['a b'] },
  { why: 'a quote that never ends', text: '"a b', are: ['a b'] },
];
for (const { why, text, are } of words) test(`words: ${why}`, () => assert.deepEqual(line.splitWords(text), are));

// prettier-ignore
const commandLines: { why: string; argv: string; env: Record<string, string>; is: string[] }[] = [
  { why: 'kubeadm’s, where a variable holds many flags', argv: '/usr/bin/kubelet $KUBELET_CONFIG_ARGS $KUBELET_KUBEADM_ARGS $KUBELET_EXTRA_ARGS', env: { KUBELET_CONFIG_ARGS: '--config=/var/lib/dkc/kubelet.yaml', KUBELET_KUBEADM_ARGS: '--a=1 --b=2' }, is: ['/usr/bin/kubelet', '--config=/var/lib/dkc/kubelet.yaml', '--a=1', '--b=2'] },
  { why: 'braces keep blanks together', argv: 'kubelet --x=${X} ${X}', env: { X: 'a b' }, is: ['kubelet', '--x=a b', 'a b'] },
  { why: 'an unset variable in braces is empty', argv: 'kubelet --x=${NONE}', env: {}, is: ['kubelet', '--x='] },
  { why: 'a dollar inside a word is only text', argv: 'kubelet --x=$X', env: { X: 'a' }, is: ['kubelet', '--x=$X'] },
];
for (const { why, argv, env, is } of commandLines)
  test(`command line: ${why}`, () => assert.deepEqual(line.expandCommandLine(argv, env), is));

test('of several ExecStart= the last one counts, since an empty one resets', () => {
  const one = (argv: string) => `{ path=/usr/bin/kubelet ; argv[]=${argv} ; ignore_errors=no ; start_time=[n/a] ; pid=0 }`;
  assert.equal(line.execStartOf(one('/usr/bin/kubelet --old')), '/usr/bin/kubelet --old');
  assert.equal(line.execStartOf(`${one('/usr/bin/kubelet --old')}\n${one('/usr/bin/kubelet $A ; --b')}`), '/usr/bin/kubelet $A ; --b');
  assert.equal(line.execStartOf(''), undefined);
});

test('an EnvironmentFile holds a line each, with comments, quotes and an equals sign in the value', () => {
  const text = '# comment\n; another\n\nKUBELET_KUBEADM_ARGS="--a=1 --b=2"\n  X=y  \nnonsense\n';
  assert.deepEqual(line.parseEnvironmentFile(text), { KUBELET_KUBEADM_ARGS: '--a=1 --b=2', X: 'y' });
});

const flags: { why: string; args: string[]; value: string | undefined }[] = [
  { why: 'with an equals sign', args: ['--v=2', '--root-dir=/data/kubelet'], value: '/data/kubelet' },
  { why: 'from the last one', args: ['--root-dir=/a', '--root-dir=/b'], value: '/b' },
  { why: 'not where it has none', args: ['--root-dir'], value: undefined },
];
for (const { why, args, value } of flags)
  test(`a flag's value is read ${why}`, () => assert.equal(line.flagInArgs('--root-dir', args), value));
