import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRunningOn, STARTED_FILE } from '../../../agent/host/unit.ts';
import { sha256 } from '../../../agent/store/content.ts';
import type { Ran } from '../../../base/exec.ts';
import { memoryDisk } from '../../helpers/memory-disk.ts';

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
