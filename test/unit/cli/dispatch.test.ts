import assert from 'node:assert/strict';
import { test } from 'node:test';
import { table } from '../../support/table.ts';
import { ActionError } from '../../../base/errors.ts';
import { dispatch } from '../../../cli/dispatch.ts';
import { fine, wrong, type Command, type Exit } from '../../../cli/command.ts';
import { Interrupted, UsageError } from '../../../cli/failure.ts';
import { formatFlag, show } from '../../../cli/output/output.ts';
import { programName } from '../../../cli/help/help.ts';
import { commands, type Entry } from '../../../cli/commands.ts';
import { cliContext, runCli } from '../../support/cli-context.ts';
import type { Args } from '../../../cli/args/args.ts';

function entry(name: string, run: (args: Args) => Promise<Exit>, over: Partial<Command> = {}): Entry {
  const command: Command = {
    describe: 'Does something.',
    examples: [{ run: `dkc ${name}`, what: 'do it' }],
    flags: [
      { name: 'count', type: 'number', text: 'how many', default: 3 },
      { name: 'word', type: 'string', text: 'a word' },
      { name: 'wait', type: 'duration', text: 'how long', default: '1m30s' },
      { name: 'yes', type: 'boolean', text: 'for sure' },
    ],
    positionals: [
      { name: 'first', text: 'the first', required: true },
      { name: 'more', text: 'others', many: true },
    ],
    run: (_, args) => run(args),
    ...over,
  };
  return { name, summary: 'Do something', group: 'Fleet', load: async () => command };
}

async function run(
  argv: string[],
  action: (args: Args) => Promise<Exit> = async () => fine,
): Promise<{ code: number; out: string; err: string }> {
  const { context, out, err } = cliContext();
  const code = await dispatch([entry('thing do', action), entry('thing list', action)], argv, context);
  return { code, out: out(), err: err() };
}

// `HELP` is where the help of the command is.
const usage = table('argv | says | why')(`
  thinx                     | unknown command "thinx"; see dkc help                          | an unknown command
  thing lisst               | unknown command "thing lisst"; did you mean dkc thing list?    | an unknown subcommand, with what was meant
  thing do a --colour       | thing do: unknown flag --colour; HELP                          | an unknown flag
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
    assert.deepEqual(await run(argv.split(' ')), { code: 2, out: '', err: `dkc: ${says.replace('HELP', 'see dkc thing do --help')}\n` });
  });

const field = { name: 'field', text: 'a field' };
const family = [
  entry('say', async () => wrong('say'), { positionals: [field] }),
  entry('say more', async (args) => wrong(`more ${args.one('field') ?? ''}`), { positionals: [field] }),
];
const families = [
  { why: 'gives it its argument', argv: ['say', 'maxPods'], code: 1, says: 'say' },
  { why: 'goes to the longer name', argv: ['say', 'more', 'x'], code: 1, says: 'more x' },
  { why: 'is told of the longer name that it meant', argv: ['say', 'mere', 'x'], code: 2, says: 'say: unexpected argument "x", did you mean dkc say more?; see dkc say --help' }, // prettier-ignore
];
for (const { why, argv, code, says } of families)
  test(`of a command and one that is named after it, ${argv.join(' ')} ${why}`, async () => {
    const { context, err } = cliContext();
    assert.deepEqual([await dispatch(family, argv, context), err()], [code, `dkc: ${says}\n`]);
  });

test('help shows commands that are named after one, everywhere it shows that one', async () => {
  const { stdout } = await runCli(['why', '--help']);
  assert.match(stdout, /\nSEE ALSO\n {2}dkc why daemonset {5}Explain, node by node, what a DaemonSet waits for\n {2}dkc why statefulset /);
  assert.match((await runCli(['help', 'controllers'])).stdout, /^Usage: dkc controllers COMMAND/);
});

test('a command gets its flags typed, defaulted and its positionals as text', async () => {
  let seen: unknown;
  const { code } = await run(['thing', 'do', '007', '--yes', '--word=', 'b', '--wait', '1s', '--word', '1e3', 'c'], async (args) => {
    seen = [args.number('count'), args.text('word'), args.ms('wait'), args.on('yes'), args.one('first'), args.many('more')];
    return fine;
  });
  assert.equal(code, 0);
  assert.deepEqual(seen, [3, '1e3', 1000, true, '007', ['b', 'c']]);
});

const written = [
  { why: 'a no that is taken back', argv: ['--yes=false', '--yes'], yes: true, verbose: undefined },
  { why: 'a number of times', argv: ['--verbose=2'], yes: false, verbose: 2 },
  { why: 'what comes after --', argv: ['--', '--yes=x'], yes: false, verbose: undefined },
];
for (const { why, argv, yes, verbose } of written)
  test(`flags without a value may have one: ${why}`, async () => {
    let seen: unknown;
    const { code } = await run(['thing', 'do', 'a', ...argv], async (args) => {
      seen = { yes: args.on('yes'), verbose: args.number('verbose') };
      return fine;
    });
    assert.deepEqual([code, seen], [0, { yes, verbose }]);
  });

const before = [
  { argv: ['-v', 'thing', 'do', 'a'], seen: { verbose: 1, output: 'table' } },
  { argv: ['--output=yaml', '-v', 'thing', 'do', 'a', '-o', 'wide'], seen: { verbose: 1, output: 'wide' } },
];
for (const { argv, seen } of before)
  test(`flags that many commands have may stand before the command: ${argv.join(' ')}`, async () => {
    let got: unknown;
    const command = entry('thing do', async (args) => {
      got = { verbose: args.number('verbose'), output: args.text('output') };
      return fine;
    }, { flags: [formatFlag] }); // prettier-ignore
    const { context, err } = cliContext();
    assert.deepEqual([await dispatch([command], argv, context), err(), got], [0, '', seen]);
  });

test('what many commands share is written once: -o brings its formats and --no-headers', async () => {
  const { code, stderr } = await runCli(['version', '-o', 'xml']);
  const says = 'dkc: version: --output must be one of table, wide, json, yaml, name, jsonpath=, custom-columns=; see dkc version --help\n';
  assert.deepEqual([code, stderr], [2, says]);
  assert.equal((await runCli(['version', '-o', 'jsonpath={.version}'])).stdout, '1.2.3');
  assert.equal((await runCli(['version', '-o', 'custom-columns=V:.version', '--no-headers'])).stdout, '1.2.3\n');
  const broken = await runCli(['nodes', '-o', 'jsonpath={.a']);
  assert.deepEqual([broken.code, /-o jsonpath: unclosed \{/.test(broken.stderr)], [2, true], 'before the API server is asked');
});

test('Ctrl-C ends with 130, whatever the command complains of then', async () => {
  const control = new AbortController();
  const { context, err } = cliContext({ signal: control.signal });
  const ended = async (): Promise<Exit> => {
    control.abort(new Interrupted());
    throw new ActionError('read', 'the answer', { hint: 'it was cut' });
  };
  assert.deepEqual([await dispatch([entry('thing do', ended)], ['thing', 'do', 'a'], context), err()], [130, 'dkc: interrupted\n']);
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
  const both = entry('thing do', async () => fine, {
    flags: [formatFlag],
    positionals: [],
    run: async (context, args) => {
      await show(context, args, { data: ['dkc thing do'], people: () => 'next: dkc thing do\n' });
      return wrong('see dkc thing do');
    },
  });
  const said = async (...argv: string[]): Promise<string[]> => {
    const { context, out, err } = cliContext({ program: 'kubectl dkc' });
    await dispatch([both], ['thing', 'do', ...argv], context);
    return [out(), err()];
  };
  assert.deepEqual(await said(), ['next: kubectl dkc thing do\n', 'dkc: see kubectl dkc thing do\n']);
  assert.equal((await said('-o', 'json'))[0], '[\n  "dkc thing do"\n]\n');
});

test('asking for a flag that a command does not declare is a bug that shows at once', async () => {
  const { code, err } = await run(['thing', 'do', 'a'], async (args) => (args.on('yess') ? fine : fine));
  assert.equal(code, 3);
  assert.match(err, /declares no flag --yess/);
});

test('what a command found wrong ends with 1 and says it on stderr', async () => {
  assert.deepEqual(await run(['thing', 'do', 'a'], async () => wrong('2 files differ')), {
    code: 1,
    out: '',
    err: 'dkc: 2 files differ\n',
  });
});

test('a command that could not do its work ends with 3 and names object, remedy and cause, without a stack', async () => {
  const failing = async (): Promise<Exit> => {
    throw new ActionError('read', '/x\u001b[31m', { hint: 'it is\ngone', cause: new Error('ENOENT') });
  };
  const err = 'dkc: Cannot read /x\\u001b[31m: it is gone (ENOENT)\n';
  assert.deepEqual(await run(['thing', 'do', 'a'], failing), { code: 3, out: '', err });
  const loud = await run(['thing', 'do', 'a', '-v'], failing);
  assert.match(loud.err, /\n\s+at /);
});

test('a usage error thrown by a command ends with 2', async () => {
  const { code } = await run(['thing', 'do', 'a'], async () => Promise.reject(new UsageError('no')));
  assert.equal(code, 2);
});

test('--help wins over everything else that is wrong, and exits 0', async () => {
  const { code, out, err } = await run(['thing', 'do', '--nonsense', '--help']);
  assert.equal(code, 0);
  assert.equal(err, '');
  assert.match(out, /^Usage: dkc thing do FIRST \[MORE\.\.\] \[flags\]\n/);
  assert.match(out, /--wait=TIME +how long \(default: 1m30s\)/);
  assert.match(out, /EXAMPLES\n {2}dkc thing do {3}# do it\n$/);
});

test('dkc alone and a group alone show what there is, and exit 2', async () => {
  const alone = await runCli([]);
  assert.equal(alone.code, 2);
  assert.match(alone.stderr, /FLEET\n {2}assign/);
});

test('dkc help and dkc help COMMAND print help on stdout', async () => {
  const all = await runCli(['help']);
  assert.equal(all.code, 0);
  assert.doesNotMatch(all.stdout, /__complete/);
  const one = await runCli(['help', 'version']);
  assert.deepEqual([one.code, one.stderr], [0, '']);
  assert.match(one.stdout, /^Usage: dkc version \[flags\]/);
});

test('every command has a summary, help with examples that name it, and flags that do not clash', async () => {
  for (const one of commands) {
    const command = await one.load();
    assert.match(one.summary, /^[A-Z].*[^.]$/, one.name);
    assert.ok(command.examples.some(({ run }) => run.includes(`dkc ${one.name}`)), `${one.name} has an example of itself`); // prettier-ignore
    const names = command.flags.flatMap((flag) => (flag.alias === undefined ? [flag.name] : [flag.name, flag.alias]));
    assert.equal(new Set(names).size, names.length, `${one.name}: ${names.join(' ')}`);
    const { code, stdout } = await runCli([...one.name.split(' '), '--help']);
    assert.equal(code, 0, one.name);
    const isNarrow = stdout.split('\n').every((line) => line.length <= 110 || line.includes('dkc '));
    assert.ok(isNarrow, `${one.name}: help is too wide`);
  }
});

test('examples in help use flags that exist', async () => {
  for (const one of commands) {
    const { examples, flags } = await one.load();
    const known = new Set(['--help', ...flags.map((flag) => `--${flag.name}`)]);
    for (const { run } of examples)
      for (const [flag] of run.split(/ [|>] /)[0]?.matchAll(/(?<= )--[a-z][a-z-]+/g) ?? [])
        assert.ok(known.has(flag), `${one.name}: ${run}`);
  }
});
