import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findDrift } from '../../../../agent/drift/plan.ts';
import { observeDrift } from '../../../../agent/drift/observe.ts';
import { sha256 } from '../../../../agent/store/content.ts';
import { memoryDisk } from '../../../support/memory-disk.ts';

const PATH = '/var/lib/dkc/kubelet.yaml';
const options = { effectiveConfig: PATH, kubeletUnit: 'kubelet.service', kubeletExits: '/run/dkc/kubelet-exits' };
const ENV = 'KUBELET_CONFIG_ARGS=--config=/var/lib/dkc/kubelet.yaml';
const start = '{ path=/usr/bin/kubelet ; argv[]=/usr/bin/kubelet $KUBELET_CONFIG_ARGS $KUBELET_EXTRA_ARGS ; ignore_errors=no ; pid=7 }';
const copy = '{ path=/bin/sh ; argv[]=/bin/sh -c cp -T "$$from" /run/dkc/kubelet-started.yaml ; ignore_errors=yes }';
/** What a unit prints where the drop-in is in place and its kubelet runs as process 7. */
const installed = { LoadState: 'loaded', MainPID: '7', ExecStartPre: copy, ExecStart: start, Environment: ENV, EnvironmentFiles: '/etc/default/kubelet (ignore_errors=yes)' }; // prettier-ignore
const files = { [PATH]: 'ours', '/run/dkc/kubelet-started.yaml': 'ours', '/proc/7/cmdline': `/usr/bin/kubelet\0--config=${PATH}\0` };

/** Kinds that a look finds, in order; `?` after those that it could not find out. */
async function seen(
  over: { unit?: Partial<typeof installed>; files?: Record<string, string | undefined>; links?: Record<string, string>; isOurs?: boolean; handsOver?: boolean },
): Promise<string> {
  const there = Object.entries({ ...files, ...over.files }).flatMap(([path, text]) => (text === undefined ? [] : [[path, text]]));
  const disk = { ...memoryDisk(Object.fromEntries(there) as Record<string, string>), realPath: async (path: string) => over.links?.[path] ?? path };
  const shown = Object.entries({ ...installed, ...over.unit }).map(([name, value]) => `${name}=${value}\n`);
  const exec = async (_program: string, [verb, flag]: readonly string[]) => ({ code: 0, stderr: '', stdout: verb === 'show' && flag === '-p' ? shown.join('') : 'active\n' }); // prettier-ignore
  const given = { ...options, ...(over.handsOver === false ? { kubeletUnit: '' } : {}) };
  const found = findDrift(await observeDrift({ options: given, world: { disk, exec }, wroteSha256: sha256('ours'), isOurs: over.isOurs ?? true }));
  const kinds = ['EffectiveFileChanged', 'NotUsed', 'KubeletDiffers'] as const;
  return kinds.flatMap((kind) => (found[kind] === undefined ? [`${kind}?`] : found[kind] === null ? [] : [kind])).join(' ');
} // prettier-ignore

const looks: (Parameters<typeof seen>[0] & { why: string; is: string })[] = [
  { why: 'a node as installed', is: '' },
  { why: 'a file that was edited', files: { [PATH]: 'theirs' }, is: 'EffectiveFileChanged' },
  { why: 'a file that was removed', files: { [PATH]: undefined }, is: 'EffectiveFileChanged' },
  { why: 'a file that the agent found and keeps', files: { [PATH]: 'theirs' }, isOurs: false, is: 'EffectiveFileChanged?' },
  { why: 'the file in /run while the disk takes no writes', files: { [PATH]: 'before', '/run/dkc/kubelet.env': 'x', '/run/dkc/kubelet.yaml': 'ours', '/proc/7/cmdline': '/usr/bin/kubelet\0--config=/run/dkc/kubelet.yaml\0' }, is: '' },
  { why: 'a kubelet that was started without the drop-in', files: { '/proc/7/cmdline': '/usr/bin/kubelet\0--config\0/etc/other.yaml\0' }, is: 'NotUsed' },
  { why: 'a process that may not be looked at', files: { '/proc/7/cmdline': undefined }, is: '' },
  { why: 'a unit without the drop-in', unit: { ExecStartPre: '', Environment: 'KUBELET_CONFIG_ARGS=--config=/var/lib/kubelet/config.yaml' }, is: 'NotUsed' },
  { why: 'an environment file that wins', files: { '/etc/default/kubelet': 'KUBELET_EXTRA_ARGS=--config=/etc/other.yaml' }, is: 'NotUsed' },
  { why: 'a directory that is a link', links: { '/srv/dkc': '/var/lib/dkc' }, unit: { Environment: 'KUBELET_CONFIG_ARGS=--config=/srv/dkc/kubelet.yaml' }, files: { '/proc/7/cmdline': '/usr/bin/kubelet\0--config=/srv/dkc/kubelet.yaml\0' }, is: '' },
  { why: 'a unit that systemd does not know', unit: { LoadState: 'not-found' }, is: 'NotUsed?' },
  { why: 'a kubelet on another file', files: { '/run/dkc/kubelet-started.yaml': 'before' }, is: 'KubeletDiffers' },
  { why: 'a kubelet of which nobody knows', files: { '/run/dkc/kubelet-started.yaml': undefined }, is: 'KubeletDiffers?' },
  { why: 'an agent that hands nothing over', files: { [PATH]: 'theirs' }, handsOver: false, is: 'EffectiveFileChanged NotUsed? KubeletDiffers?' },
]; // prettier-ignore
for (const { why, is, ...over } of looks) test(`a look at ${why} finds ${is || 'nothing'}`, async () => assert.equal(await seen(over), is));
