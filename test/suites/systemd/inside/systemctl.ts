import { mkdirSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { run } from './program.ts';

/** The answer of systemctl, without the last line break. @throws where systemctl does, with its stderr */
export const systemctl = (...args: string[]): string => run('systemctl', ...args);

export const property = (unit: string, name: string): string => systemctl('show', '-P', name, unit);

/** What an administrator would put there by `systemctl edit`. */
export function dropIn(unit: string, text: string): void {
  mkdirSync(`/etc/systemd/system/${unit}.d`, { recursive: true });
  writeFileSync(`/etc/systemd/system/${unit}.d/90-test.conf`, text);
  systemctl('daemon-reload');
}

/**
 * Waits until `look` has something to say.
 * @param within - ms; the default is far more than anything here takes, on a busy machine too
 */
export async function until<T>(what: string, look: () => T | undefined, within = 120_000): Promise<T> {
  const end = Date.now() + within;
  for (;;) {
    const seen = look();
    if (seen !== undefined) return seen;
    if (Date.now() > end) throw new Error(`Waited ${within} ms for ${what}`);
    await sleep(10);
  }
}

/** Waits until systemd has nothing more to do for the agent and the kubelet. */
export async function settled(): Promise<void> {
  await until('the agent to be up', () => (property('dkc-agent.service', 'SubState') === 'running' ? true : undefined));
  await until('an end of all jobs', () => (systemctl('list-jobs', '--no-legend') === '' ? true : undefined));
}
