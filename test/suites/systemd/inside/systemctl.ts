import { eventually } from '../../../support/eventually.ts';
import { mkdirSync, writeFileSync } from 'node:fs';
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

/** Waits until systemd has nothing more to do for the agent and the kubelet. */
export async function settled(): Promise<void> {
  await eventually('the agent to be up', () => property('dkc-agent.service', 'SubState') === 'running');
  await eventually('an end of all jobs', () => systemctl('list-jobs', '--no-legend') === '');
}
