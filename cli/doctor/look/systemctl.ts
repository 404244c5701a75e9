import { propertiesOf } from '../../../agent/host/command-line.ts';
import { ActionError } from '../../../base/errors.ts';
import type { Ran } from '../../../base/exec.ts';
import type { Context } from '../../command.ts';

/** Properties of a unit by name, as `systemctl show` prints them. */
export type Properties = Readonly<Record<string, string>>;

const NAMES =
  'LoadState UnitFileState ActiveState SubState Result MainPID NRestarts Restart NeedDaemonReload StartLimitIntervalUSec StartLimitBurst ' +
  'ActiveEnterTimestampMonotonic FragmentPath DropInPaths ExecStart ExecStartPre Environment EnvironmentFiles';
const PROPERTIES = NAMES.split(' ');
const TIMEOUT_MS = 5000;

/** @throws ActionError where systemd does not answer */
export async function unitProperties(context: Pick<Context, 'exec' | 'signal'>, unit: string): Promise<Properties> {
  const stdout = await systemdSays(context, 'systemctl', ['show', ...PROPERTIES.flatMap((name) => ['-p', name]), '--', unit]);
  const property = propertiesOf(stdout);
  return Object.fromEntries(PROPERTIES.map((name) => [name, property(name)]));
}

/** What a program of systemd prints. @throws ActionError where there is none, where it does not answer in time, and where it fails */
export async function systemdSays(
  { exec, signal }: Pick<Context, 'exec' | 'signal'>,
  program: string,
  args: readonly string[],
): Promise<string> {
  const ran = await exec(program, args, { timeoutMs: TIMEOUT_MS, signal });
  if (ran.code === 0) return ran.stdout;
  throw new ActionError('ask', program, { hint: whyNot(ran) });
}

function whyNot({ code, stderr }: Ran): string {
  if (code !== null) return stderr.trim().split('\n')[0] || `it ended with ${code}`;
  return stderr.includes('ENOENT') ? 'it is not installed' : `no answer within ${TIMEOUT_MS / 1000} s`;
}
