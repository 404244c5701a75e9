import { commands } from './commands.ts';
import { dispatch } from './dispatch.ts';
import { realContext } from './world.ts';

/** Every command but `agent run`. main.ts reaches this file by `import()` alone: the build packs what lies behind it. */
export function runCommand(argv: readonly string[]): Promise<number> {
  return dispatch(commands, argv, realContext());
}
