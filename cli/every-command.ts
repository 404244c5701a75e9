import { commands } from './commands.ts';
import { completeForKubectl } from './completion/for-kubectl.ts';
import { dispatch } from './dispatch.ts';
import { completesForKubectl } from './called-as.ts';
import { realContext } from './world.ts';

/** Every command but `agent run`. main.ts reaches this file by `import()` alone: the build packs what lies behind it. */
export function runCommand(argv: readonly string[]): Promise<number> {
  const context = realContext();
  if (completesForKubectl(process.env, process.argv[1])) return completeForKubectl(context, argv);
  return dispatch(commands, argv, context);
}
