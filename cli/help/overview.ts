import type { Entry } from '../commands.ts';

const groups: readonly Entry['group'][] = ['On a node', 'Configuration files', 'Fleet', 'Controllers', 'Scheduler', 'Other commands'];

/** What `dkc help` prints: every command under its section, or those that begin with `prefix`. */
export function overview(entries: readonly Entry[], prefix: string): string {
  const shown = entries.filter((entry) => entry.hidden !== true && (prefix === '' || entry.name.startsWith(`${prefix} `)));
  const width = Math.max(...shown.map((entry) => entry.name.length));
  const sections = groups.flatMap((group) => {
    const lines = shown.filter((entry) => entry.group === group).map((entry) => `  ${entry.name.padEnd(width)}   ${entry.summary}`);
    return lines.length === 0 ? [] : [[group.toUpperCase(), ...lines].join('\n')];
  });
  const title =
    prefix === ''
      ? 'dkc rolls out kubelet configuration to live nodes, and rolls back automatically when it breaks the kubelet.\n\nUsage: dkc COMMAND [flags]'
      : `Usage: dkc ${prefix} COMMAND [flags]`;
  const last = `EXAMPLES\n  dkc help ${shown[0]?.name ?? ''}\n  dkc demo\n\nExit codes: 0 success, 1 check failed, 2 usage error, 3 operation failed.`;
  return `${[title, ...sections, last].join('\n\n')}\n`;
}
