import { commands } from './commands.ts';
import { dispatch } from './dispatch.ts';
import { completesForKubectl } from './program.ts';
import { realContext } from './world.ts';

/** Every command but `agent run`. main.ts reaches this file by `import()` alone: the build packs what lies behind it. */
export async function runCommand(argv: readonly string[]): Promise<number> {
  const context = realContext();
  if (completesForKubectl(process.env, process.argv[1])) return (await import('./completion/command.ts')).completeForKubectl(context, argv);
  return dispatch(commands, argv, context);
}
