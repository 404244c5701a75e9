import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hold } from '../../../../cli/deploy/install-node.ts';
import type { Args } from '../../../../cli/args/args.ts';
import { needsInstall, packageFiles } from '../../../../cli/deploy/install-plan.ts';
import { cliContext } from '../../../support/cli-context.ts';

const [a, b, c] = ['a', 'b', 'c'].map((letter) => letter.repeat(64));
const manifest = '0755 /usr/lib/dkc/node\n0777 /usr/bin/kubectl-dkc\n0600 /etc/dkc/agent.yaml\n';
const sums = `${a}  ./usr/lib/dkc/node\n${b}  ./etc/dkc/agent.yaml\n`;
const files = packageFiles(manifest, sums);

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
];
for (const { why, of, needed } of cases)
  test(`where ${why} there is ${needed ? 'something' : 'nothing'} to do`, () => assert.equal(needsInstall(files, of), needed));

test('dkc deploy hold goes on until it is asked to end, and ends with 0', async () => {
  const end = new AbortController();
  const { context, out } = cliContext({ signal: end.signal });
  const running = hold.run(context, {} as Args);
  const first = await Promise.race([running, new Promise((resolve) => setImmediate(resolve, 'it goes on'))]);
  end.abort();
  assert.deepEqual([first, await running, out()], ['it goes on', { code: 0 }, 'this node has the package; nothing is left to do\n']);
});
