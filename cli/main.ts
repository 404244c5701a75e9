// Only cheap imports: `dkc agent run` must load neither yargs nor any other command, as it stays in memory on every node.
import { describeError } from '../base/errors.ts';
import { completesForKubectl, nodeProblem, outliveReaders } from './program.ts';

const outputFailure = outliveReaders([process.stdout]);
outliveReaders([process.stderr]); // a failed write to stderr must not fail the command

// No top-level await: the built file is CommonJS, see docs/decisions/0006-commonjs-bundle.md.
void main(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
});

// At exit, since a stream reports an error after the write has returned.
process.once('exit', (code) => {
  const failure = outputFailure();
  if (failure === undefined) return;
  process.stderr.write(`dkc: Cannot write the output: ${describeError(failure)}\n`);
  if (code === 0) process.exitCode = 3;
});

async function main(argv: readonly string[]): Promise<number> {
  const tooOld = nodeProblem(process.versions.node);
  if (tooOld !== undefined) {
    process.stderr.write(`dkc: ${tooOld}\n`);
    return 3;
  }
  const [first, second, ...rest] = argv;
  const asksForHelp = rest.includes('--help') || rest.includes('-h');
  // kubectl asks to complete `kubectl dkc agent run`: do not run the agent.
  const completes = completesForKubectl(process.env, process.argv[1]);
  if (first === 'agent' && second === 'run' && !asksForHelp && !completes) return (await import('./agent/run.ts')).agentRun(rest);
  return (await import('./every-command.ts')).runCommand(argv);
}
