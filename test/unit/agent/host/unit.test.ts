import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isKubeletDown, isRunningOn, STARTED_FILE } from '../../../../agent/host/unit.ts';
import { sha256 } from '../../../../agent/checkpoint/payload.ts';
import { realClock } from '../../../../base/clock.ts';
import type { Ran } from '../../../../base/exec.ts';
import { memoryDisk } from '../../../support/memory-disk.ts';

interface Case {
  why: string;
  unit?: string;
  /** Text of the file the kubelet was started on; absent: the drop-in made no copy. */
  started?: string;
  answer?: Partial<Ran>;
  running: boolean;
}
const cases: Case[] = [
  { why: 'active on this file', started: 'now', answer: { stdout: 'active\n' }, running: true },
  { why: 'reloading', started: 'now', answer: { stdout: 'reloading\n' }, running: true },
  { why: 'active on an older file', started: 'before', answer: { stdout: 'active\n' }, running: false },
  { why: 'active on a file nobody copied', answer: { stdout: 'active\n' }, running: true },
  { why: 'waiting for its next start', started: 'now', answer: { stdout: 'activating\n' }, running: false },
  { why: 'failed', started: 'now', answer: { stdout: 'failed\n' }, running: false },
  { why: 'stopped, with no copy of its file', answer: { stdout: 'inactive\n' }, running: false },
  { why: 'not to be asked after: systemctl cannot run', started: 'now', answer: { code: null }, running: true },
  { why: 'not to be asked after: systemctl was cut off', started: 'now', answer: { code: null, stdout: 'act' }, running: true },
  { why: 'unknown: systemctl has no answer', started: 'now', answer: { code: 1 }, running: true },
  { why: 'nobody in particular', unit: '', started: 'before', answer: { stdout: 'failed\n' }, running: true },
];
for (const { why, unit = 'kubelet.service', started, answer, running } of cases) {
  test(`a kubelet ${running ? 'counts' : 'does not count'} as running when it is ${why}`, async () => {
    const asked: string[] = [];
    const exec = async (program: string, args: readonly string[]): Promise<Ran> => {
      asked.push([program, ...args].join(' '));
      return { code: 0, stdout: '', stderr: '', ...answer };
    };
    const disk = memoryDisk(started === undefined ? {} : { [`/run/dkc/${STARTED_FILE}`]: started });
    const options = { kubeletUnit: unit, kubeletExits: '/run/dkc/kubelet-exits' };
    assert.equal(await isRunningOn(sha256('now'), options, { disk, exec }), running);
    const asks = unit !== '' && started !== 'before';
    assert.deepEqual(asked, asks ? ['systemctl show -P ActiveState -- kubelet.service'] : []);
  });
}

/** A machine whose kubelet's unit and whose systemd answer these, one after the other; the last answer stays. */
function machine(states: string[], system: string) {
  const asked: string[] = [];
  const next = (): string => (states.length > 1 ? states.shift() : states[0]) ?? '';
  return {
    asked,
    world: {
      clock: { ...realClock, sleep: async () => void asked.push('wait') },
      exec: async (_program: string, args: readonly string[]) => ({ code: 0, stdout: `${args[0] === 'is-system-running' ? system : next()}\n`, stderr: '' }),
    },
  }; // prettier-ignore
}

// prettier-ignore
const ends = [
  { why: 'a kubelet that is stopped', states: ['inactive'], system: 'stopping', down: true },
  { why: 'a kubelet that failed', states: ['failed'], system: 'running', down: true },
  { why: 'a kubelet that runs, and a machine that goes on', states: ['active'], system: 'running', down: false },
  { why: 'a kubelet that systemd is about to start again', states: ['activating'], system: 'degraded', down: false },
  { why: 'a kubelet that goes down beside the agent', states: ['active', 'deactivating', 'inactive'], system: 'stopping', down: true },
  { why: 'a kubelet that outlives the agent', states: ['active'], system: 'stopping', down: false },
  { why: 'no answer at all', states: [''], system: '', down: false },
];
for (const { why, states, system, down } of ends)
  test(`the end of an agent beside ${why} is ${down ? '' : 'not '}a clean stop`, async () => {
    const { world } = machine([...states], system);
    assert.equal(await isKubeletDown({ kubeletUnit: 'kubelet.service' }, world, async () => true), down);
  });

test('without a unit the machine must be going down and the kubelet silent', async () => {
  for (const [system, silent, down] of [
    ['stopping', true, true],
    ['stopping', false, false],
    ['running', true, false],
  ] as const)
    // prettier-ignore
    assert.equal(await isKubeletDown({ kubeletUnit: '' }, machine([], system).world, async () => silent), down);
});
