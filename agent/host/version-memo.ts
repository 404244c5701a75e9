import type { Disk } from '../../base/disk.ts';
import type { Log } from '../../base/log.ts';

/** `D/kubelet-version.json`: the version as last learned, and of which file, if it came from a binary. */
interface Remembered {
  version: string;
  /** Path, size and time of the binary that told; absent where the Node did. */
  binary?: string;
}

/**
 * Remembers what version this node's kubelet has. A start of the agent need not start a kubelet to ask it as long as its binary is the same, and
 * one that cannot ask judges by what was so before: an assumed version could refuse a config that runs well.
 */
export class VersionMemo {
  readonly #disk: Pick<Disk, 'read' | 'replace' | 'stat'>;
  readonly #path: string;
  readonly #log: Log;

  constructor(disk: Pick<Disk, 'read' | 'replace' | 'stat'>, path: string, log: Log) {
    this.#disk = disk;
    this.#path = path;
    this.#log = log;
  }

  /** The version that this very binary told before; undefined where it is another one, or a link, of which size and time say nothing. */
  async of(program: string): Promise<string | undefined> {
    const [known, binary] = await Promise.all([this.#read(), this.#identity(program)]);
    return binary !== undefined && known?.binary === binary ? known.version : undefined;
  }

  /** The version that was learned last, however. */
  async last(): Promise<string | undefined> {
    return (await this.#read())?.version;
  }

  /** @param program - the binary that told; absent where the Node did */
  async remember(version: string, program?: string): Promise<void> {
    const binary = program === undefined ? undefined : await this.#identity(program);
    const now: Remembered = { version, ...(binary === undefined ? {} : { binary }) };
    const before = await this.#read();
    if (before?.version === version && (binary === undefined || before.binary === binary)) return;
    await this.#disk
      .replace(this.#path, new TextEncoder().encode(`${JSON.stringify(now)}\n`))
      .catch((error: unknown) => this.#log.warn('the version of the kubelet cannot be remembered', { path: this.#path, error }));
  }

  async #read(): Promise<Remembered | undefined> {
    try {
      const { version, binary } = JSON.parse(new TextDecoder().decode(await this.#disk.read(this.#path))) as Record<string, unknown>;
      if (typeof version !== 'string') return undefined;
      return { version, ...(typeof binary === 'string' ? { binary } : {}) };
    } catch {
      return undefined; // never written, or damaged: then it is learned anew
    }
  }

  async #identity(program: string): Promise<string | undefined> {
    const stat = await this.#disk.stat(program).catch(() => undefined);
    return stat?.kind === 'file' ? `${program} ${stat.bytes} ${stat.modifiedMs}` : undefined;
  }
}
