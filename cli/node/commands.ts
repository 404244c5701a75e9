import type { Entry } from '../commands.ts';

/** Commands on the store of this node. */
export const nodeCommands: readonly Entry[] = [];
