import type { Disk } from '../../base/disk.ts';
import { defaultReadLimit } from '../../base/durable-disk.ts';
import { type JournalLine, onPath } from './store.ts';
import { journalText, parseJournal } from './records.ts';
import type { Locked } from './record-files.ts';

const KEPT = 1000;
/** The journal is rewritten at this many lines, not at every line past `KEPT`: that would write a thousand lines to add one. */
const REWRITE_AT = 1100;
const NEWLINE = 0x0a;

export interface JournalParts {
  disk: Pick<Disk, 'stat' | 'append' | 'replace'>;
  path: string;
  locked: Locked;
  /** The end of the file, at most {@link MAX_JOURNAL_BYTES}; undefined where the file is missing, or was damaged and set aside. */
  readEnd: () => Promise<Uint8Array | undefined>;
}

/** Most bytes that are read, from the end of the file. The agent never writes a larger journal. */
export const MAX_JOURNAL_BYTES = defaultReadLimit;

/** `journal.jsonl`: one line per transition of this node. */
export class Journal {
  readonly #parts: JournalParts;

  constructor(parts: JournalParts) {
    this.#parts = parts;
  }

  /** Oldest first. */
  async lines(): Promise<JournalLine[]> {
    return parseJournal((await this.#parts.readEnd()) ?? new Uint8Array()).slice(-KEPT);
  }

  async add(line: JournalLine): Promise<void> {
    const { disk, path, locked, readEnd } = this.#parts;
    await locked(() =>
      onPath('write', path, async () => {
        const before = (await readEnd()) ?? new Uint8Array();
        const added = journalText(line);
        const lineCount = before.reduce((sum, byte) => sum + (byte === NEWLINE ? 1 : 0), 0);
        if (lineCount >= REWRITE_AT || before.length >= MAX_JOURNAL_BYTES) {
          const kept = parseJournal(before).slice(1 - KEPT);
          await disk.replace(path, new TextEncoder().encode(kept.map(journalText).join('') + added));
        } else {
          // A crash may have cut the last line: start a new line.
          const cut = before.length > 0 && before.at(-1) !== NEWLINE;
          await disk.append(path, new TextEncoder().encode(cut ? `\n${added}` : added));
        }
      }),
    );
  }
}
