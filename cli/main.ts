// Only what costs nothing: `dkc agent run` must load neither yargs nor any other command (design 1).

/** Ends quietly when the reader of our output has gone (`dkc history | head -1`). */
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit();
  });

// No top-level await: the built file is CommonJS, see docs/decisions/0006-commonjs-bundle.md.
void main(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
});

async function main(argv: readonly string[]): Promise<number> {
  const [first, second, ...rest] = argv;
  const asksForHelp = rest.includes('--help') || rest.includes('-h');
  if (first === 'agent' && second === 'run' && !asksForHelp) return (await import('./agent-run.ts')).agentRun(rest);
  return (await import('./every-command.ts')).runCommand(argv);
}
