import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hold } from '../../../../cli/deploy/install-node.ts';
import { realClock } from '../../../../base/clock.ts';
import type { Args } from '../../../../cli/args/args.ts';
import type { Context } from '../../../../cli/command.ts';
import { differing, needsInstall, packageFiles } from '../../../../cli/deploy/install-plan.ts';

const [a, b, c] = ['a', 'b', 'c'].map((letter) => letter.repeat(64));
const manifest = '0755 /usr/lib/dkc/node\n0777 /usr/bin/kubectl-dkc\n0600 /etc/dkc/agent.yaml\n';
const sums = `${a}  ./usr/lib/dkc/node\n${b}  ./etc/dkc/agent.yaml\n`;
const files = packageFiles(manifest, sums);

test('the lists of a package are read: a link has no hash', () =>
  assert.deepEqual(files, [
    { path: '/usr/lib/dkc/node', sha256: a },
    { path: '/usr/bin/kubectl-dkc', sha256: undefined },
    { path: '/etc/dkc/agent.yaml', sha256: b },
  ]));

const wrong = [
  { why: 'a path outside of the node', manifest: '0755 /usr/../../etc/passwd\n', says: /names "\/usr\/\.\.\/\.\.\/etc\/passwd"/ },
  { why: 'a file without a hash', manifest: '0755 /usr/bin/dkc\n', says: /no SHA-256 of \/usr\/bin\/dkc/ },
];
for (const { why, manifest, says } of wrong)
  test(`a package is refused for ${why}`, () => assert.throws(() => packageFiles(manifest, sums), says));

const there = new Map([['/usr/lib/dkc/node', a ?? ''], ['/etc/dkc/agent.yaml', c ?? '']]); // prettier-ignore
const done = { found: there, manifest, record: manifest, isUnfinished: false };
const cases = [
  { why: 'all is there, with settings of the administrator', of: done, needed: false },
  { why: 'nothing was installed', of: { ...done, found: new Map<string, string>(), record: undefined }, needed: true },
  { why: 'a file has other bytes', of: { ...done, found: new Map([['/usr/lib/dkc/node', b ?? '']]) }, needed: true },
  { why: 'an installation was cut short', of: { ...done, isUnfinished: true }, needed: true },
  { why: 'another version has other files', of: { ...done, record: '0755 /usr/lib/dkc/node\n' }, needed: true },
];
for (const { why, of, needed } of cases)
  test(`where ${why} there is ${needed ? 'something' : 'nothing'} to do`, () => assert.equal(needsInstall(files, of), needed));

test('files are named that differ', () => assert.deepEqual(differing(files, new Map()), ['/usr/lib/dkc/node']));

test('dkc deploy hold goes on until it is asked to end, and ends with 0', async () => {
  const end = new AbortController();
  const said: string[] = [];
  const context = { clock: realClock, signal: end.signal, stdout: { write: (text: string) => said.push(text) } } as unknown as Context;
  let isOver = false;
  const running = hold.run(context, {} as Args).then((exit) => ((isOver = true), exit));
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(isOver, false);
  end.abort();
  assert.deepEqual(await running, { code: 0 });
  assert.deepEqual(said, ['this node has the package; nothing is left to do\n']);
});
