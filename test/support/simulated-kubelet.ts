import type { FakeClock } from './fake-clock.ts';
import { rfc3339 } from '../../base/clock.ts';
import { sha256 } from '../../agent/checkpoint/payload.ts';

interface KubeletDeps {
  clock: FakeClock;
  readEffective: () => Promise<Uint8Array | undefined>;
  /** What the drop-in copies before each start. */
  writeStarted: (bytes: Uint8Array) => Promise<void>;
  /** What the drop-in notes after each end. */
  appendExit: (line: string) => Promise<void>;
  tell: (line: string) => void;
  onStart?: (kind: string) => void;
}

/** systemd waits this long before it starts a kubelet that died again. */
const RESTART_MS = 10_000;
const DIES_AFTER_MS = 2_000;

/**
 * A kubelet under systemd, as its agent sees it. `providerID` tells how it does under a config: `fatal` kills it 2 s after each start,
 * `sick` keeps it from ever being healthy, `unready` and `rejects` only show on the API server, anything else is good.
 */
export class SimulatedKubelet {
  /** Starts so far, by what the file said. */
  readonly starts: string[] = [];
  started: Uint8Array | undefined;
  startedAt = 0;
  active = false;
  healthy = false;
  /** Dies whatever the config says: the cause is elsewhere. */
  cursed = false;
  readonly #deps: KubeletDeps;
  #life = new AbortController();

  constructor(deps: KubeletDeps) {
    this.#deps = deps;
  }

  async start(): Promise<void> {
    const { clock, readEffective, writeStarted, tell } = this.#deps;
    const bytes = await readEffective();
    if (!bytes) return tell('kubelet cannot start: there is no file');
    this.#life.abort();
    this.#life = new AbortController();
    this.started = bytes;
    this.startedAt = clock.now();
    await writeStarted(bytes);
    const text = new TextDecoder().decode(bytes);
    const kind = this.cursed ? 'fatal' : (/^providerID: (\w+)/m.exec(text)?.[1] ?? '');
    this.starts.push(configText(text));
    tell(`kubelet starts with ${configText(text)}`);
    this.active = true;
    this.healthy = kind !== 'fatal' && kind !== 'sick';
    this.#deps.onStart?.(kind);
    const { signal } = this.#life;
    if (kind === 'fatal') void clock.sleep(DIES_AFTER_MS, signal).then(() => this.#die(signal), () => {}); // prettier-ignore
    return undefined;
  }

  async tryRestart(): Promise<void> {
    if (!this.started) return;
    if (this.active) await this.#note('success killed TERM');
    await this.start();
  }

  stop(): void {
    this.#life.abort();
    this.active = false;
    this.healthy = false;
    this.started = undefined;
  }

  async #die(signal: AbortSignal): Promise<void> {
    this.active = false;
    this.healthy = false;
    await this.#note('exit-code exited 1');
    this.#deps.tell('kubelet dies');
    await this.#deps.clock.sleep(RESTART_MS, signal).then(() => this.start(), () => {}); // prettier-ignore
  }

  async #note(how: string): Promise<void> {
    const at = rfc3339(this.#deps.clock.now());
    await this.#deps.appendExit(`${at} ${how} ${this.started ? sha256(this.started) : '-'}\n`);
  }
}

/** A KubeletConfiguration in short: `maxPods=40 providerID=fatal`. */
function configText(yaml: string): string {
  const fields = [...yaml.matchAll(/^(\w+): (\S.*)$/gm)].filter(([, name]) => name !== 'apiVersion' && name !== 'kind');
  return fields.map(([, name, value]) => `${name}=${value}`).join(' ') || 'all defaults';
}
