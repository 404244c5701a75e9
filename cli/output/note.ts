import type { Context, Exit } from '../command.ts';

/** A remark of a command on its own work. A warning is one that the person should act on. */
export interface Note {
  level: 'note' | 'warning';
  text: string;
}

/**
 * Ends a command that has something to remark on its own work. A line of its own beside exit 0; else part of the one line that says
 * what was found, since stderr has no more than that. A command that fails never comes here: what it would have remarked is no help.
 */
export function withNote({ stderr }: Pick<Context, 'stderr'>, exit: Exit, note: Note | undefined): Exit {
  if (note === undefined) return exit;
  if (exit.code === 1) return { ...exit, why: `${exit.why}; ${note.text}` };
  stderr.write(`dkc: ${note.level}: ${note.text}\n`);
  return exit;
}
