import { failed, ok, skipped, the, warning, type Check, type Seen, type Verdict } from '../check.ts';
import type { Properties } from '../inspect/units.ts';

/** systemd's properties of the two units. */
export interface UnitFacts {
  /** From `systemctl --version`. */
  systemd: Seen<number>;
  agent: Seen<Properties>;
  kubelet: Seen<Properties>;
  kubeletUnit: string;
  /** Time since boot, in s. */
  uptimeS: Seen<number>;
  /** Whether kubelet-sync exists, which hands configurations over to the kubelet. */
  hasSync: Seen<boolean>;
}

/** Minimum version, as in docs/install.md. */
const OLDEST_SYSTEMD = 252;
const AGENT = 'dkc-agent.service';
/** With this many restarts and a shorter run time than YOUNG_S the agent is crash-looping; restarts for new assignments are further apart. */
const MANY_RESTARTS = 5;
const YOUNG_S = 60;

export const unitChecks: readonly Check<UnitFacts>[] = [
  {
    name: 'systemd-version',
    wants: `systemd ${OLDEST_SYSTEMD} or newer`,
    decide: ({ systemd }) =>
      the(systemd) >= OLDEST_SYSTEMD
        ? ok(`systemd ${the(systemd)}`)
        : failed(
            `systemd ${the(systemd)} is older than ${OLDEST_SYSTEMD}`,
            'upgrade the operating system of this node; see docs/install.md',
          ),
  },
  {
    name: 'agent-unit',
    wants: 'dkc-agent.service is installed, enabled and not masked',
    decide: ({ agent }) => installed(AGENT, the(agent), 'install the package of dkc on this node; see docs/install.md'),
  },
  { name: 'agent-running', wants: 'dkc-agent.service runs', decide: agentRuns },
  {
    name: 'kubelet-unit',
    wants: 'the unit of the kubelet exists, is enabled and not masked',
    decide: ({ kubelet, kubeletUnit }) =>
      installed(
        kubeletUnit,
        the(kubelet),
        'set kubeletUnit in /etc/dkc/agent.yaml to the unit of this kubelet: systemctl list-units | grep -i kubelet',
      ),
  },
  { name: 'kubelet-running', wants: 'the unit of the kubelet runs', decide: kubeletRuns },
  { name: 'kubelet-restart', wants: 'systemd restarts the kubelet whenever it exits, without a start limit', decide: kubeletRestarts },
  { name: 'daemon-reload', wants: 'systemd has loaded the current unit files', decide: reloaded },
];

function installed(unit: string, { LoadState, UnitFileState }: Properties, install: string): Verdict {
  if (LoadState === 'not-found') return failed(`there is no ${unit}`, install);
  if (LoadState === 'masked')
    return failed(`${unit} is masked: it does not start`, `systemctl unmask ${unit} && systemctl enable --now ${unit}`);
  if (LoadState !== 'loaded') return failed(`${unit} cannot be loaded: ${LoadState}`, `systemd-analyze verify ${unit}`);
  if (UnitFileState === 'disabled') return warning(`${unit} is disabled: it does not start at boot on its own`, `systemctl enable ${unit}`);
  return ok(`${unit} is ${UnitFileState || 'loaded'}`);
}

/** Path of kubelet-sync in the agent's ExecStartPost=; undefined if it is not there. */
export const syncPath = ({ ExecStartPost = '' }: Properties): string | undefined => /path=(\S*\/kubelet-sync) ;/.exec(ExecStartPost)?.[1];

function agentRuns(facts: UnitFacts): Verdict {
  const { agent, uptimeS, kubeletUnit, hasSync } = facts;
  const unit = the(agent);
  const { ActiveState = '', SubState = '', Result = '', NRestarts = '0', ActiveEnterTimestampMonotonic = '' } = unit;
  if (unit['LoadState'] !== 'loaded') return skipped(`${AGENT} is not installed`);
  if (ActiveState === 'inactive') return failed(`${AGENT} is stopped: this node applies no new configurations`, `systemctl start ${AGENT}`);
  if (ActiveState !== 'active')
    return failed(`${AGENT} is ${ActiveState} (${SubState}, ${Result}), restarted ${NRestarts} times`, `journalctl -u ${AGENT} -e`);
  const runsS = 'seen' in uptimeS ? uptimeS.seen - Number(ActiveEnterTimestampMonotonic) / 1e6 : Number.POSITIVE_INFINITY;
  if (Number(NRestarts) >= MANY_RESTARTS && runsS < YOUNG_S)
    return warning(`${AGENT} was restarted ${NRestarts} times, the last time ${Math.round(runsS)} s ago`, `journalctl -u ${AGENT} -e`);
  if (kubeletUnit === '') return ok(`${AGENT} is active`);
  // systemd ignores failures of this ExecStartPost=, so it does not report a missing program either.
  if (syncPath(unit) === undefined || ('seen' in hasSync && !hasSync.seen))
    return failed(
      `${AGENT} is active, but its ExecStartPost= does not start kubelet-sync: the kubelet is not restarted for new configurations`,
      `systemctl cat ${AGENT}: remove what replaces ExecStartPost=; if /usr/lib/dkc/kubelet-sync is missing, install the package of dkc again`,
    );
  if (/ code=exited ; status=[1-9]/.test(unit['ExecStartPost'] ?? ''))
    return warning(
      `${AGENT} is active, but kubelet-sync failed at its last start: the kubelet may not run the newest configuration`,
      `journalctl -u ${AGENT} -e; when the cause is gone: systemctl restart ${AGENT}`,
    );
  return ok(`${AGENT} is active`);
}

function kubeletRuns({ kubelet, kubeletUnit }: UnitFacts): Verdict {
  const unit = the(kubelet);
  const { ActiveState = '', SubState = '', Result = '', NRestarts = '0' } = unit;
  if (unit['LoadState'] !== 'loaded') return skipped(`${kubeletUnit} does not exist`);
  if (ActiveState === 'active' || ActiveState === 'reloading') return ok(`${kubeletUnit} is active`);
  const restart = `systemctl reset-failed ${kubeletUnit} && systemctl start ${kubeletUnit}`;
  if (Result === 'start-limit-hit')
    return failed(
      `${kubeletUnit} has reached its start limit, and systemd no longer restarts it`,
      `${restart}; StartLimitIntervalSec=0 in the unit turns the limit off`,
    );
  if (ActiveState === 'inactive') return failed(`${kubeletUnit} is stopped`, `systemctl start ${kubeletUnit}`);
  if (ActiveState === 'failed') return failed(`${kubeletUnit} has failed: ${Result}`, `journalctl -u ${kubeletUnit} -e; ${restart}`);
  return failed(
    `${kubeletUnit} is ${ActiveState} (${SubState}, ${Result}), restarted ${NRestarts} times`,
    `journalctl -u ${kubeletUnit} -e; dkc status`,
  );
}

/** Without Restart=always, or with a start limit, a failure of the agent or one bad configuration can leave the node without a kubelet. */
function kubeletRestarts({ kubelet, kubeletUnit }: UnitFacts): Verdict {
  const unit = the(kubelet);
  const { Restart = '', StartLimitIntervalUSec = '', StartLimitBurst = '' } = unit;
  if (unit['LoadState'] !== 'loaded') return skipped(`there is no ${kubeletUnit}`);
  const edit = `systemctl edit ${kubeletUnit}`;
  if (Restart !== 'always') return warning(`${kubeletUnit} has Restart=${Restart}`, `run ${edit} and set Restart=always in [Service]`);
  if (StartLimitIntervalUSec !== '0' && StartLimitBurst !== '0')
    return warning(
      `systemd stops restarting ${kubeletUnit} after ${StartLimitBurst} starts in ${StartLimitIntervalUSec}`,
      `run ${edit} and set StartLimitIntervalSec=0 in [Unit]`,
    );
  return ok('Restart=always, without a start limit');
}

function reloaded({ agent, kubelet, kubeletUnit }: UnitFacts): Verdict {
  const units = [{ name: AGENT, unit: agent }, { name: kubeletUnit, unit: kubelet }]; // prettier-ignore
  const known = units.filter(({ unit }) => 'seen' in unit);
  if (known.length === 0) the(agent);
  const stale = known.filter(({ unit }) => the(unit)['NeedDaemonReload'] === 'yes').map(({ name }) => name);
  if (stale.length === 0) return ok('no unit file has changed since systemd loaded it');
  return warning(`unit files of ${stale.join(' and ')} have changed since systemd loaded them`, 'systemctl daemon-reload');
}
