import { stripTypeScriptTypes } from 'node:module';

/** A possible mistake in the source: one literal piece of one file, and its replacement. */
export interface Fault {
  /** Unique over all rooms; stays the same when the file is moved or changed. */
  id: string;
  room: string;
  /** Path from the root. */
  file: string;
  /** Literal text that occurs exactly once in the file; the indentation of all lines but the first is ignored. */
  pattern: string;
  replacement: string;
  /** What a user would notice. */
  effect: string;
}

/**
 * Reads the faults of one room. Four kinds of line, a blank line between two faults, `#` for a comment:
 *
 *     @ ID FILE
 *     - the pattern; several such lines are joined by newlines
 *     + the replacement; without one the pattern is removed
 *     = the effect
 *
 * @throws {Error} if a fault lacks a part, with its first line
 */
export function parseFaults(room: string, text: string): Fault[] {
  const blocks = text.split(/\n{2,}/).map((block) => block.split('\n').filter((line) => line !== '' && !line.startsWith('#')));
  return blocks.filter((lines) => lines.length > 0).map((lines) => parseFault(room, lines));
}

function parseFault(room: string, lines: readonly string[]): Fault {
  const part = (mark: string): string =>
    lines
      .filter((line) => line.startsWith(mark))
      .map((line) => line.slice(2))
      .join('\n');
  const [id = '', file = ''] = part('@').split(' ');
  const fault = { id, room, file, pattern: part('-'), replacement: part('+'), effect: part('=') };
  if (!id || !file || !fault.pattern || !fault.effect || lines.some((line) => !'@-+='.includes(line.charAt(0))))
    throw new Error(`${room}: cannot read the fault that begins with ${lines[0]}`);
  return fault;
}

/** The text with the fault. @throws {Error} unless the pattern occurs exactly once and the result is TypeScript */
export function plant({ id, file, pattern, replacement }: Fault, text: string): string {
  const found = new RegExp(pattern.split('\n').map(literally).join('\\n[ \\t]*'), 'g');
  const count = text.match(found)?.length ?? 0;
  if (count !== 1) throw new Error(`${id}: the pattern occurs ${count} times in ${file}: ${pattern}`);
  if (pattern === replacement) throw new Error(`${id}: the replacement is the pattern`);
  const planted = text.replace(found, () => replacement);
  try {
    stripTypeScriptTypes(planted);
  } catch (error) {
    throw new Error(`${id}: ${file} does not parse with the fault`, { cause: error });
  }
  return planted;
}

const literally = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
