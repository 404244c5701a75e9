import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { table } from '../../support/table.ts';
import { ActionError } from '../../../base/errors.ts';
import { dispatch, withKindAlias } from '../../../cli/dispatch.ts';
import { takesNext } from '../../../cli/args/args.ts';
import { fine, wrong, type Command, type Exit } from '../../../cli/command.ts';
import { failureText, Interrupted, UsageError } from '../../../cli/failure.ts';
import { formatFlag, show } from '../../../cli/output/output.ts';
import { programName } from '../../../cli/help/help.ts';
import { commands, type Entry } from '../../../cli/commands.ts';
import { cliContext, runCli } from '../../support/cli-context.ts';

const flags: Command['flags'] = [
  { name: 'count', type: 'number', text: 'how many', default: 3 },
  { name: 'word', type: 'string', text: 'a word' },
  { name: 'wait', type: 'duration', text: 'how long', default: '1m30s' },
  { name: 'yes', type: 'boolean', text: 'for sure' },
  formatFlag,
];
const positionals = [{ name: 'first', text: 'the first', required: true }, { name: 'more', text: 'others', many: true }]; // prettier-ignore

function entry(name: string, run: Command['run'], over: Partial<Command> = {}): Entry {
  const examples = [{ run: `dkc ${name}`, what: 'do it' }];
  return { name, summary: 'Do something', group: 'Fleet', load: async () => ({ describe: 'Does something.', examples, flags, positionals, run, ...over }) }; // prettier-ignore
}

async function run(argv: string, action: Command['run'] = async () => fine, over: Parameters<typeof cliContext>[0] = {}) {
  const { context, out, err } = cliContext(over);
  const code = await dispatch([entry('thing do', action), entry('thing list', action)], argv.split(' '), context);
  return { code, out: out(), err: err() };
}

// `HELP` is where the help of the command is.
const usage = table('argv | says | why')(`
  nothing                   | unknown command "nothing"; see dkc help                        | an unknown command
  thinx list                | unknown command "thinx"; did you mean dkc thing?               | an unknown command, with what was meant
  thing dismiss             | unknown command "thing dismiss"; see dkc thing --help          | an unknown subcommand
  thing lisst               | unknown command "thing lisst"; did you mean dkc thing list?    | an unknown subcommand, with what was meant
  thing do a --colour       | thing do: unknown flag --colour; HELP                          | an unknown flag
  thing do a -c             | thing do: unknown flag -c; HELP                                | an unknown letter
  thing do a --wird=x       | thing do: unknown flag --wird, did you mean --word?; HELP      | an unknown flag, with what was meant
  --yes thing               | flags go after the command: dkc COMMAND --yes; see dkc help    | a flag before the command
  thing do                  | thing do: FIRST is missing; HELP                               | a missing positional
  thing do a --count=1e3    | thing do: --count must be an integer, 0 or more; HELP          | a number that is none
  thing do a --count=9999999999 | thing do: --count must be an integer, 0 or more; HELP      | a number of ten digits
  thing do a --yes=True     | thing do: --yes must be true or false; HELP                    | a yes or no that is "True"
  thing do a --wait=-5s     | thing do: --wait must be a duration such as 10s or 1m30s; HELP | a negative duration
  thing do a --word         | thing do: --word needs a value; HELP                           | a flag without its value
`);
for (const { why, argv, says } of usage)
  test(`wrong usage is ${why}: exit 2 and one line`, async () => {
    assert.deepEqual(await run(argv), { code: 2, out: '', err: `dkc: ${says.replace('HELP', 'see dkc thing do --help')}\n` });
  });

const calls = [
  { argv: 'thing do 007 --yes --word= b --wait 1s --word 1e3 c', gets: { count: 3, word: '1e3', wait: 1000, yes: true, first: '007', more: ['b', 'c'] } },
  { argv: 'thing do a --yes=false --yes', gets: { yes: true } },
  { argv: 'thing do a --verbose=2', gets: { verbose: 2 } },
  { argv: 'thing do a -- --yes=x', gets: { yes: false, more: ['--yes=x'] } },
  { argv: '-v thing do a', gets: { verbose: 1, output: 'table' } },
  { argv: '--output=yaml -v thing do a -o wide', gets: { verbose: 1, output: 'wide' } },
]; // prettier-ignore
for (const { argv, gets } of calls)
  test(`a command gets its flags typed and defaulted, wherever they stand, and its positionals as text: ${argv}`, async () => {
    let got: object = {};
    await run(argv, async (_, args) => {
      const [output, verbose] = [args.text('output'), args.number('verbose')];
      got = { count: args.number('count'), word: args.text('word'), wait: args.ms('wait'), yes: args.on('yes'), output, verbose, first: args.one('first'), more: args.many('more') }; // prettier-ignore
      return fine;
    });
    assert.partialDeepStrictEqual(got, gets);
  });

test('what many commands share is written once: -o brings its formats and --no-headers', async () => {
  const { code, stderr } = await runCli(['version', '-o', 'xml']);
  const says = 'dkc: version: --output must be one of table, wide, json, yaml, name, jsonpath=, custom-columns=; see dkc version --help\n';
  assert.deepEqual([code, stderr], [2, says]);
  assert.equal((await runCli(['version', '-o', 'jsonpath={.version}'])).stdout, '1.2.3');
  assert.equal((await runCli(['version', '-o', 'custom-columns=V:.version', '--no-headers'])).stdout, '1.2.3\n');
  const why = async (kind: string): Promise<string> => (await runCli(['why', kind, 'x'])).stderr;
  assert.match(await why('daemonst'), /^dkc: why: unexpected argument "x", did you mean dkc why daemonset\?; see /);
  assert.match(
    await why('deploy'),
    /^dkc: why: unexpected argument "x"; commands: dkc why daemonset, dkc why statefulset, dkc why pod; see /,
  );
  const broken = await runCli(['nodes', '-o', 'jsonpath={.a']);
  assert.deepEqual([broken.code, /-o jsonpath: unclosed \{/.test(broken.stderr)], [2, true], 'before the API server is asked');
});

const cut = new ActionError('read', '/x\u001b[31m', { hint: 'it is\ngone', cause: new Error('ENOENT') });
const ends: { why: string; action: Command['run']; argv?: string; code: number; err: RegExp }[] = [
  { why: 'what it found wrong', action: async () => wrong('2 files differ'), code: 1, err: /^dkc: 2 files differ\n$/ },
  { why: 'wrong usage that it found itself', action: () => Promise.reject(new UsageError('no')), code: 2, err: /^dkc: / },
  { why: 'work that it could not do, with object, remedy and cause, without a stack', action: () => Promise.reject(cut), code: 3, err: /^dkc: Cannot read \/x\\u001b\[31m: it is gone \(ENOENT\)\n$/ },
  { why: 'such work with a stack, where that is asked for', action: () => Promise.reject(cut), argv: ' -v', code: 3, err: /\n\s+at / },
  { why: 'a flag that it does not declare, which is a bug', action: async (_, args) => (args.on('yess') ? fine : fine), code: 3, err: /declares no flag --yess/ },
]; // prettier-ignore
for (const { why, action, argv = '', code, err } of ends)
  test(`a command ends with ${code} on ${why}`, async () => {
    const ran = await run(`thing do a${argv}`, action);
    assert.deepEqual([ran.code, ran.out], [code, '']);
    assert.match(ran.err, err);
  });

test('Ctrl-C ends with 130, whatever the command complains of then', async () => {
  const control = new AbortController();
  const interrupted = (): Promise<Exit> => {
    control.abort(new Interrupted());
    return Promise.reject(cut);
  };
  const ran = await run('thing do a', interrupted, { signal: control.signal });
  assert.deepEqual(ran, { code: 130, out: '', err: 'dkc: interrupted\n' });
});

test('as a plugin of kubectl, usage lines say what the person typed', async () => {
  const program = 'kubectl dkc' as const;
  const help = await runCli(['help', 'nodes'], { program });
  assert.match(help.stdout, /^Usage: kubectl dkc nodes \[NODE\.\.\] \[flags\]\n[^]*\n {2}kubectl dkc nodes -l pool=web -o wide /);
  assert.doesNotMatch(help.stdout, /kubectl kubectl/);
  const wrong = await runCli(['nodes', '--bogus'], { program });
  assert.equal(wrong.stderr, 'dkc: nodes: unknown flag --bogus; see kubectl dkc nodes --help\n');
  assert.equal(programName({}, '/usr/local/bin/kubectl-dkc'), 'kubectl dkc');
  assert.equal(programName({ DKC_CALLED_AS: '/usr/bin/kubectl-dkc' }, '/usr/lib/dkc/dkc.js'), 'kubectl dkc');
  assert.equal(programName({}, '/usr/lib/dkc/dkc.js'), 'dkc');
});

test('as a plugin of kubectl, errors and what people read name commands so, and data stays as it is', async () => {
  const action: Command['run'] = async (context, args) => {
    await show(context, args, { data: ['dkc thing do'], people: () => 'next: dkc thing do\n' });
    return wrong('see dkc thing do');
  };
  const { out, err } = await run('thing do a', action, { program: 'kubectl dkc' });
  assert.deepEqual([out, err], ['next: kubectl dkc thing do\n', 'dkc: see kubectl dkc thing do\n']);
  assert.equal((await run('thing do a -o json', action, { program: 'kubectl dkc' })).out, '[\n  "dkc thing do"\n]\n');
});

test('--help wins over everything else that is wrong, and exits 0', async () => {
  const { code, out, err } = await run('thing do --nonsense --help');
  assert.deepEqual([code, err], [0, '']);
  assert.match(out, /^Usage: dkc thing do FIRST \[MORE\.\.\] \[flags\]\n[^]*--wait=TIME +how long \(default: 1m30s\)[^]*EXAMPLES\n {2}dkc thing do {3}# do it\n$/); // prettier-ignore
});

test('dkc help prints help on stdout; dkc alone prints it on stderr, and exits 2', async () => {
  const [alone, all, one, why] = [await runCli([]), await runCli(['help']), await runCli(['help', 'version']), await runCli(['why', '--help'])]; // prettier-ignore
  assert.deepEqual([alone.code, all.code, one.code, one.stderr], [2, 0, 0, '']);
  assert.match(alone.stderr, /FLEET\n {2}assign/);
  assert.doesNotMatch(all.stdout, /__complete/);
  assert.match(one.stdout, /^Usage: dkc version \[flags\]/);
  assert.match((await runCli(['help', 'controllers'])).stdout, /^Usage: dkc controllers COMMAND/);
  assert.match(
    why.stdout,
    /\nSEE ALSO\n {2}dkc why daemonset {5}Explain, node by node, what a DaemonSet waits for\n {2}dkc why statefulset /,
  );
});

test('every command has a summary, help with examples that name it, and flags that do not clash', async () => {
  for (const one of commands) {
    const command = await one.load();
    assert.match(one.summary, /^[A-Z].*[^.]$/, one.name);
    assert.ok(command.examples.some(({ run }) => run.includes(`dkc ${one.name}`)), `${one.name} has an example of itself`); // prettier-ignore
    const names = command.flags.flatMap((flag) => (flag.alias === undefined ? [flag.name] : [flag.name, flag.alias]));
    assert.equal(new Set(names).size, names.length, `${one.name}: ${names.join(' ')}`);
    const { code, stdout } = await runCli([...one.name.split(' '), '--help']);
    const isNarrow = stdout.split('\n').every((line) => line.length <= 110 || line.includes('dkc '));
    assert.deepEqual([code, isNarrow], [0, true], `${one.name}: help is too wide`);
    const known = new Set(['--help', ...command.flags.map((flag) => `--${flag.name}`)]);
    for (const { run } of command.examples)
      for (const [flag] of run.split(/ [|>] /)[0]?.matchAll(/(?<= )--[a-z][a-z-]+/g) ?? [])
        assert.ok(known.has(flag), `${one.name}: ${run}`);
    if (!one.name.startsWith('why ')) continue;
    for (const { name, alias } of command.flags.filter(takesNext))
      for (const flag of [`--${name}`, ...(alias === undefined ? [] : [`-${alias}`])])
        assert.deepEqual(withKindAlias(['why', flag, 'x', 'ds/a']), ['why', 'daemonset', flag, 'x', 'a'], `${flag} takes the next word`);
  }
});

test('an error of the system about a file comes out as action, object and remedy, with its cause; a bug says how to see more', async () => {
  const error = await readFile('/dev/null/x').catch((error: unknown) => error);
  const says = "dkc: Cannot open /dev/null/x: a part of its path is not a directory (ENOTDIR: not a directory, open '/dev/null/x')\n";
  assert.equal(failureText(error, false), says);
  const bare = Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' });
  assert.equal(failureText(bare, false), 'dkc: Cannot use a file: the disk is full; free some space (ENOSPC: no space left)\n');
  assert.equal(failureText(new TypeError('x is not a function'), false), 'dkc: x is not a function; use -v for a stack trace\n');
});
