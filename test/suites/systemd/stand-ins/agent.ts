import { execFile } from 'node:child_process';
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, watch, write, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * The smallest agent that keeps to the hand-over: it proves units and scripts alone. Its API server is the file `WANTED`.
 * SIGUSR2 lets it end with 1.
 */
const WANTED = '/srv/api/wanted.yaml';
const ASSIGNED = '/var/lib/dkc/assigned.yaml';
const EFFECTIVE = '/var/lib/dkc/kubelet.yaml';
const LOCAL = '/var/lib/kubelet/config.yaml';

function replace(path: string, text: string): void {
  const fd = openSync(`${path}.new`, 'w', 0o600);
  writeFileSync(fd, text);
  fsyncSync(fd);
  closeSync(fd);
  renameSync(`${path}.new`, path);
  const dir = openSync(dirname(path), 'r');
  fsyncSync(dir);
  closeSync(dir);
}

const textOf = (path: string): string | undefined => (existsSync(path) ? readFileSync(path, 'utf8') : undefined);

/** First the open socket of OpenFile= (systemd 253 and later), else the program. */
function notify(...lines: string[]): void {
  const { LISTEN_PID, LISTEN_FDNAMES, NOTIFY_SOCKET } = process.env;
  if (LISTEN_PID === String(process.pid) && LISTEN_FDNAMES === 'notify') write(3, lines.join('\n'), () => {});
  else if (NOTIFY_SOCKET !== undefined) execFile('systemd-notify', lines, () => {});
}

process.on('SIGTERM', () => process.exit(0));
process.on('SIGUSR2', () => process.exit(1));

const assigned = textOf(ASSIGNED);
const effective = assigned ?? textOf(LOCAL);
if (effective !== undefined && effective !== textOf(EFFECTIVE)) replace(EFFECTIVE, effective);
notify('READY=1', 'STATUS=stand-in');
setInterval(() => notify('WATCHDOG=1'), Number(process.env['WATCHDOG_USEC'] ?? 30e6) / 3000);

function sync(): void {
  const wanted = textOf(WANTED);
  if (wanted === undefined || wanted === '' || wanted === assigned) return;
  replace(ASSIGNED, wanted);
  process.exit(0);
}
// Without an API server, as after a reboot, there is nothing to watch; and the sandbox lets nobody make it.
if (existsSync(dirname(WANTED))) watch(dirname(WANTED), sync);
sync();
