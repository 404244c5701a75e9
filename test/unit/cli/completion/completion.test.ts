import assert from 'node:assert/strict';
import { test } from 'node:test';
import { spawnSync } from 'node:child_process';
import { commands } from '../../../../cli/commands.ts';
import { complete, splitLine, type LookUp } from '../../../../cli/completion/candidates.ts';
import { scripts, shells } from '../../../../cli/completion/command.ts';
import { runCli } from '../../../support/cli-context.ts';

const known = { ref: ['uid/1'], node: ['node-a', 'other'], daemonset: ['kube-system/proxy'], statefulset: ['shop/db'], pod: ['shop/db-0'], rollout: ['web'], configmap: ['dkc-system/web'], 'configmap-key': ['kubelet'], context: ['kind-a'], namespace: ['shop'], field: ['maxPods', 'podsPerCore'] } as const; // prettier-ignore
const ask: LookUp = async (what) => known[what].map((value) => ({ value, text: '' }));
async function offered(line: string): Promise<{ values: string[]; files?: string }> {
  const [, ...words] = splitLine(line);
  const { candidates, files } = await complete(commands, words, ask);
  return { values: candidates.map(({ value }) => value), ...(files ? { files } : {}) };
}

const lines = [
  { line: 'dkc checkpoints ve', values: ['verify'] },
  { line: 'dkc version -o ', values: ['table', 'wide', 'json', 'yaml', 'name', 'jsonpath=', 'custom-columns='] },
  { line: 'dkc agent run --preflight=', values: ['--preflight=true', '--preflight=false'] },
  { line: 'dkc completion ', values: ['bash', 'zsh', 'fish'] },
  { line: 'dkc assign nod', values: ['node-a'] },
  { line: 'dkc rollout approve ', values: ['web'] },
  { line: 'dkc checkpoints show u', values: ['uid/1'] },
  { line: 'dkc assign node-a --configmap ', values: ['dkc-system/web'] },
  { line: 'dkc assign node-a --configmap=dkc-system/web --key ', values: ['kubelet'] },
  { line: 'dkc --context ', values: ['kind-a'] },
  { line: 'dkc why pod -n ', values: ['shop'] },
  { line: 'dkc --context=kind-a -o json assign nod', values: ['node-a'] },
  { line: 'dkc -n shop why sts sh', values: ['shop/db'] },
  { line: 'dkc why maxP', values: ['maxPods'] },
  { line: 'dkc why ', values: ['daemonset', 'statefulset', 'pod', 'maxPods', 'podsPerCore'] },
  { line: 'dkc why daemonset kube', values: ['kube-system/proxy'] },
  { line: 'dkc why daemonset kube-system/proxy --node nod', values: ['node-a'] },
  { line: 'dkc controllers run --controllers=', values: ['--controllers=daemonset', '--controllers=statefulset', '--controllers=rollout'] },
  { line: 'dkc help why ', values: ['daemonset', 'statefulset', 'pod'] },
  { line: `dkc assign 'a b' "c\\"d" e\\ f nod`, values: ['node-a'] },
  { line: 'dkc nonsense x', values: [] },
  { line: 'dkc __', values: [] },
];
for (const { line, values } of lines)
  test(`completes ${JSON.stringify(line)}`, async () => assert.deepEqual((await offered(line)).values, values));

test('files and directories are left to the shell', async () => {
  assert.deepEqual(await offered('dkc validate '), { values: [], files: 'file' });
  assert.deepEqual(await offered('dkc apiserver --seed='), { values: [], files: 'dir' });
});

test('a completion never fails: without store and API server there is nothing to offer', async () => {
  for (const line of ['dkc nodes ', 'dkc checkpoints show --dynamic-config-dir=/nowhere x'])
    assert.deepEqual(await runCli(['__complete', '--', line]), { code: 0, stdout: '', stderr: '' });
});

test('each shell has its script', async () => {
  for (const shell of shells) assert.equal((await runCli(['completion', shell])).stdout, scripts[shell]);
  assert.equal((await runCli(['completion', 'csh'])).code, 2);
});

/** What `script` prints in a real shell, each line a candidate. */
function inShell(shell: string, args: readonly string[], script: string): string[] {
  const { stdout, stderr } = spawnSync(shell, [...args, '-c', script], { encoding: 'utf8' });
  assert.equal(stderr, '');
  return stdout.trimEnd().split('\n');
}
const missing = (shell: string): string | false => (spawnSync(shell, ['--version']).error ? `there is no ${shell} here` : false);

const inBash = [
  { words: 'dkc x --output = zzz', line: 'dkc x --output=zzz', offers: ['json', '--output=yaml', ':file'], values: ['json', 'yaml'] },
  { words: 'dkc x arn : aws : ek', line: 'dkc x arn:aws:ek', offers: ['arn:aws:eks/a'], values: ['eks/a'] },
  { words: 'dkc x --context = arn :', line: 'dkc x --context=arn:', offers: ['--context=arn:aws'], values: ['aws'] },
  { words: `dkc x \\'i`, line: "dkc x 'i", offers: ["it's mine"], values: ["'it'\\''s mine"] },
];
test('the bash script completes in a real bash', { skip: missing('bash') }, () => {
  for (const { words, line, offers, values } of inBash) {
    const dkc = `dkc() { cat <<'END'\n${offers.join('\n')}\nEND\n}`;
    const typed = `COMP_WORDS=(${words}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); COMP_LINE=$(cat <<'END'\n${line}\nEND\n); COMP_POINT=\${#COMP_LINE}`;
    const script = `${dkc}\n${scripts.bash}\n${typed}; _dkc; printf '%s\\n' "\${COMPREPLY[@]}"`;
    assert.deepEqual(inShell('bash', ['--norc'], script), values, line);
  }
});
