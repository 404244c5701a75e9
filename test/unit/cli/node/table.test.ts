import assert from 'node:assert/strict';
import { rm, writeFile, readdir } from 'node:fs/promises';
import { test } from 'node:test';
import { statusErrors } from '../../../../agent/status/node-config-state.ts';
import { kubeletYaml, nodeOnDisk } from '../../../support/node-on-disk.ts';
import { threeCheckpoints, type World } from './world.ts';
import { join } from 'node:path';
import { nodeCommands } from '../../../../cli/node/commands.ts';
import { tempDir } from '../../../support/temp-dir.ts';

interface Row {
  argv: string;
  /** What was done to the node before. */
  where?: [why: string, make: (node: World) => Promise<unknown>];
  code: number;
  /** It changes the store. */
  writes?: true;
  /** On stdout; nothing where it is not given. @default anything where the code is 0 */
  out?: RegExp;
  err?: RegExp;
}

const fellBack = async (node: World): Promise<void> => {
  await node.condemn(node.assigned);
  await node.runs('last-known-good', node.trusted, { error: statusErrors.failedTrial });
};
const damaged = async ({ paths }: World): Promise<unknown> =>
  Promise.all([paths.meta('assigned'), paths.active, paths.trial].map((path) => writeFile(path, 'a: [')));
const booted = async ({ store }: World): Promise<void> => {
  for (const n of [1, 2, 3])
    await store.addToJournal({ at: `2026-03-01T00:00:0${n}.000Z`, event: 'booted', source: null, detail: `boot ${n}` });
};
const rows: Row[] = [
  { argv: 'checkpoints show 8c1f', code: 2, err: /matches 3 checkpoints .* give more characters of it/ },
  { argv: 'checkpoints show assigned --file=__proto__', code: 3, err: /no such key; it has: kubelet/ },
  { argv: 'checkpoints show assigned', code: 1, where: ['it is damaged', (node) => writeFile(node.paths.file(node.assigned, 'kubelet'), 'torn')], err: /damaged/ },
  { argv: 'checkpoints show assigned', code: 3, where: ['it is gone', (node) => rm(node.paths.checkpoint(node.assigned), { recursive: true })] },
  { argv: 'checkpoints prune --keep=-1', code: 2, err: /must be an integer/ },
  { argv: 'checkpoints prune', code: 0, out: /^Nothing to remove\.\n$/ },
  { argv: 'checkpoints verify', code: 0, out: /^OK: 3 checkpoints and all records are intact\.\n$/ },
  { argv: 'checkpoints verify -o json', code: 0, out: /^\[\]\n$/ },
  { argv: 'checkpoints diff', code: 2, err: /OLD is missing/ },
  { argv: 'checkpoints diff zz', code: 3, err: /no checkpoint has that name/ },
  { argv: 'checkpoints diff assigned --key=nope', code: 1, err: /assigned has no key "nope"; its keys are kubelet/ },
  { argv: 'checkpoints diff assigned 8c1f2d34-0/2', code: 0, out: / are equivalent\.\n$/ },
  { argv: 'checkpoints diff 8c1f2d34-0/8', code: 1, where: ['it does not decode', (node) => node.save('8', { files: { kubelet: 'kind: KubeletConfiguration\nmaxPods: secret\n' } })], err: /\/8 is not a kubelet configuration: (?!.*secret)/ },
  { argv: 'checkpoints diff 8c1f2d34-0/9 assigned', code: 2, where: ['two keys may be meant', (node) => node.save('9', { files: { a: kubeletYaml(1), b: kubeletYaml(2) } })], err: /set --key to one of a, b/ },
  { argv: 'history', code: 0, out: /^No history\.\n$/ },
  { argv: 'history -w -o yaml', code: 2 },
  { argv: 'status -w -o yaml', code: 2 },
  { argv: 'rollback --dry-run', code: 0, err: /^dkc: dry run: this node goes to dkc-system\/web:kubelet@1\n$/ },
  { argv: 'rollback --to=zz', code: 3, err: /no checkpoint has that name/ },
  { argv: 'rollback --to=assigned', code: 1, err: /being rolled back/ },
  { argv: 'rollback --to=dkc-system/db', code: 1, err: /dkc-system\/db:kubelet@3 was never trusted on this node; --force uses it anyway, on trial like any other\n/ },
  { argv: 'rollback --to=8c1f2d34-0/8 --force', code: 1, where: ['a kubelet would refuse it', (node) => node.save('8', { files: { kubelet: kubeletYaml(-1) } })], err: /^dkc: Cannot roll back: --to 8c1f2d34-0\/8: .*maxPods(?!.*-1\b)/ },
  { argv: 'rollback', code: 1, where: ['nothing is assigned', (node) => node.assign(null)], err: /^dkc: Cannot roll back: nothing is assigned: this node already runs its local config\n$/ },
  { argv: 'retry', code: 0, err: /^dkc: Nothing to retry: no condemned configs\n/ },
  { argv: 'retry --all assigned', code: 2 },
  { argv: 'retry zz', code: 3, where: ['something is condemned', (node) => node.condemn(node.trusted)] },
  { argv: 'retry 8c1f', code: 2, where: ['something is condemned', (node) => node.condemn(node.trusted)], err: /^dkc: REF 8c1f: it matches \d checkpoints/ },
  { argv: 'drill --live', code: 2, err: /would condemn dkc-system\/web:kubelet@2, which restarts the kubelet with last-known-good .*; add --yes to do it/ },
  { argv: 'drill --yes', code: 2 },
  { argv: 'drill --live --yes -o name', code: 2, err: /^dkc: drill: -o name: a drill has no names; use -o json/ },
  { argv: 'drill --live --yes', code: 3, err: /its agent is not running; start it/ },
  { argv: 'drill', code: 1, where: ['boot cannot use what is assigned', async (node) => node.assign(await node.save('8', { files: { kubelet: 'kind: Nonsense\n' } }))], out: /assigned +last-known-good .* FAILED/, err: /^dkc: 1 of 5 drill steps failed\n$/ },
  { argv: 'status -o json', code: 0, where: ['all is well', (node) => node.trust(node.assigned)], out: /"state": "trusted"/, err: /^$/ },
  { argv: 'status -o json', code: 0, where: ['a config is on trial', async () => {}], out: /"state": "running"/, err: /^$/ },
  { argv: 'status -o json', code: 1, where: ['the node fell back from a condemned config', fellBack], out: /"state": "condemned"/, err: /^dkc: this node fell back: the assigned config is condemned\n$/ },
  { argv: 'status -o json', code: 1, where: ['the node fell back for another reason', (node) => node.runs('last-known-good', node.trusted, { error: statusErrors.validate })], out: /"state": "fell-back"/, err: /fell back: the assigned config cannot be used/ },
  { argv: 'status', code: 1, where: ['the store is damaged', (node) => writeFile(node.paths.file(node.trusted, 'kubelet'), 'torn')], out: /^Damaged/m, err: /^dkc: the store is damaged\n$/ },
  { argv: 'status', code: 1, where: ['there is no local config', (node) => rm(node.localConfig)], out: /Local config: .*missing: there is no last fallback/, err: /^dkc: the local config .*config.yaml is missing\n$/ },
  { argv: 'status', code: 1, where: ['the agent says that the local config is broken', (node) => node.runs('assigned', node.assigned, { notices: [{ about: 'local-config', text: 'it does not decode' }] })], out: /it does not decode/, err: /local config cannot be used/ },
  { argv: 'status -o json', code: 0, where: ['the ConfigMap cannot be had', (node) => node.runs('assigned', node.assigned, { error: statusErrors.download })], out: /"state": "error"/, err: /^$/ },
  { argv: 'status', code: 1, where: ['records are damaged', damaged], out: /^State: +unknown assignment \(record damaged\)$[^]*^Assigned: +unknown: its record is damaged$[^]*\/assigned: it is /m },
  { argv: 'status -o json', code: 1, where: ['records are damaged', damaged], out: /"assigned": null,[^]*"error": "internal failure/ },
  { argv: 'history -n 2', code: 0, where: ['there are three lines', booted], out: /^(?![^]*boot 1)[^]* boot 2\n[^]* boot 3\n$/ },
  { argv: 'history -n 0', code: 0, where: ['there are three lines', booted], out: /^None of 3 lines shown\.\n$/ },
  { argv: 'history --policy=none --merge=overlay --node-name=x', code: 0 },
  { argv: 'history --help', code: 0, out: /\nNODE FLAGS \(dkc help node-flags\)\n +--dynamic-config-dir=.*\n +--agent-config=.*\n\n/ },
  { argv: 'help node-flags', code: 0, out: /--dynamic-config-dir[^]*--policy/ },
  { argv: 'rollback', code: 0, where: ['there is no local config and nothing is trusted', async (node) => [await node.trust(null), await rm(node.localConfig)]], writes: true, err: /there is no last-known-good, so this node keeps its current effective file/ },
  { argv: 'checkpoints list', code: 0, where: ['the store is of an upstream kubelet', (node) => rm(node.paths.manifest(node.trusted))], out: /dkc-system\/web:kubelet@1 .* intact$/m },
  { argv: 'checkpoints diff last-known-good', code: 1, where: ['the role is the local config', async (node) => [await node.trust(null), await writeFile(node.localConfig, kubeletYaml(77))]], out: /^maxPods +\S+ +77 +102$/m },
  { argv: 'checkpoints diff last-known-good', code: 1, where: ['the role is a local config that is gone', async (node) => [await node.trust(null), await rm(node.localConfig)]], out: /^maxPods +\S+ +110 +102$/m },
]; // prettier-ignore
for (const { argv, where: [why, make] = ['', undefined], code, writes, out, err } of rows)
  test(`dkc ${argv}${why && `, where ${why},`} ends with ${code}`, async (t) => {
    const node = await threeCheckpoints(t);
    await make?.(node);
    const before = [await node.store.condemned(), await node.store.journal(), await node.store.record('assigned')];
    const ran = await node.dkc(...argv.split(' '));
    assert.equal(ran.code, code, ran.stderr);
    if (out !== undefined) assert.match(ran.stdout, out);
    else if (code !== 0) assert.equal(ran.stdout, '');
    if (err !== undefined) assert.match(ran.stderr, err);
    if (code > 1) assert.equal(ran.stderr.trimEnd().split('\n').length, 1);
    const after = [await node.store.condemned(), await node.store.journal(), await node.store.record('assigned')];
    if (writes === undefined) assert.deepEqual(after, before);
  });

// `doctor` says it in the row of a check, and `node-flags` is a page of help.
const commands = nodeCommands.filter(({ name, hidden }) => name !== 'doctor' && hidden !== true);

const notADirectory = '(\\S+/file) is not a directory; move it away .*--dynamic-config-dir';
for (const [why, below, says] of [
  ['that is a file', 'file', notADirectory],
  ['below a file', 'file/below', notADirectory],
  ['that is not there', 'nothing', '.*there is no store; start dkc-agent.*'],
] as const)
  test(`a dynamic config directory ${why} is named by every command, in one line, and not made`, async (t) => {
    const { dkc } = await nodeOnDisk(t);
    const dir = await tempDir(t);
    await writeFile(join(dir, 'file'), 'x');
    for (const entry of commands) {
      const { name } = entry;
      const refs = (await entry.load()).positionals.filter(({ required }) => required).map(() => 'assigned');
      const ran = await dkc(...name.split(' '), ...refs, `--dynamic-config-dir=${join(dir, below)}`);
      assert.deepEqual([ran.code, ran.stdout], [3, ''], name);
      assert.equal(ran.stderr.trimEnd().split('\n').length, 1);
      assert.match(ran.stderr, new RegExp(`^dkc: Cannot open store .*/store: ${says}\n$`), name);
    }
    assert.deepEqual(await readdir(dir), ['file']);
  });
