/** `dkc agent run`. */
export async function agentRun(argv: readonly string[]): Promise<number> {
  process.stderr.write(`dkc: Cannot run the agent with ${argv.length} flags: it is not wired yet\n`);
  return 1;
}
