import { readForKubelet } from './observe.ts';
import { decode, differingFields, newestKubeletVersion, readConfigz } from '../config/config.ts';
import { readDropIns } from '../host/drop-ins.ts';
import { learnKubelet, VersionRecord } from '../host/kubelet.ts';
import type { AgentOptions, AgentWorld } from '../options.ts';
import type { AgentContext } from '../run/agent-context.ts';
import { layout } from '../store/layout.ts';
import type { Millis } from '../../base/clock.ts';
import { describeError } from '../../base/errors.ts';
import { silentLog } from '../../base/log.ts';

export interface ConfigzDeps {
  options: Pick<
    AgentOptions,
    | 'dynamicConfigDir'
    | 'effectiveConfig'
    | 'kubeletExits'
    | 'kubeconfig'
    | 'kubeletArgs'
    | 'kubeletConfigz'
    | 'kubeletUnit'
    | 'kubeletVersion'
    | 'nodeName'
  >;
  world: Pick<AgentWorld, 'disk' | 'exec' | 'clock' | 'log' | 'askKubelet'>;
  activeRecord: Pick<AgentContext['activeRecord'], 'notice'>;
}

/** Between two questions, in ms. A difference that is not reported yet is asked for again before it is. */
const ASK_MS: Millis = 300_000;
/** Failures in a row, about a minute apart, after which somebody should know. */
const TOLD_AFTER = 2;

/** Compares what the kubelet says that it runs with (`--kubelet-configz`) with what the effective file gives. */
export class ConfigzCheck {
  readonly #deps: ConfigzDeps;
  #askedAt: Millis = Number.NEGATIVE_INFINITY;
  #fields: readonly string[] | undefined;
  /** In a row. */
  #failures = 0;

  constructor(deps: ConfigzDeps) {
    this.#deps = deps;
  }

  /** The kubelet was restarted, or is on another file: what it said before says nothing any more. */
  forget(): void {
    this.#fields = undefined;
    this.#askedAt = Number.NEGATIVE_INFINITY;
  }

  /**
   * Names of the fields that differ, by the last answer; undefined where there was none, or nobody asks.
   * @param again - asks, however short ago the last answer came
   */
  async fields(again: boolean): Promise<readonly string[] | undefined> {
    const { options, world, activeRecord } = this.#deps;
    if (options.kubeletConfigz === '' || options.kubeconfig === undefined || !world.askKubelet) return undefined;
    const now = world.clock.monotonic();
    if (!again && now - this.#askedAt < ASK_MS) return this.#fields;
    try {
      await this.#ask(world.askKubelet, options.kubeconfig);
      this.#askedAt = now;
      if (this.#failures >= TOLD_AFTER) activeRecord.notice('configz', null);
      this.#failures = 0;
    } catch (error) {
      // A kubelet that was just started does not listen yet.
      this.#failures += 1;
      if (this.#failures === TOLD_AFTER) {
        const problem = `the kubelet is not compared with the effective file: ${options.kubeletConfigz}: ${describeError(error)}`;
        activeRecord.notice('configz', problem);
        world.log.warn('failed to compare the kubelet with the effective file, retrying', { url: options.kubeletConfigz, error });
      }
    }
    return this.#fields;
  }

  async #ask(ask: NonNullable<AgentWorld['askKubelet']>, kubeconfig: string): Promise<void> {
    const { options, world } = this.#deps;
    const { disk, exec } = world;
    const memo = new VersionRecord(disk, layout(options.dynamicConfigDir).kubeletVersion, silentLog);
    // Learned afresh: a kubelet is upgraded while its agent runs.
    const kubelet = await learnKubelet({ options, disk, exec, log: silentLog, memo });
    if (kubelet.version === newestKubeletVersion || kubelet.newer !== undefined)
      throw new Error('the version of the kubelet is unknown, or newer than the versions that this agent supports');
    const { version, args } = kubelet;
    const decoded = decode(await readForKubelet(options, disk), version);
    if (!decoded.ok) throw new Error('the effective file is not a configuration of this kubelet version');
    const dropIns = await readDropIns(disk, kubelet);
    const answer = await ask(options.kubeletConfigz, { kubeconfig, nodeName: options.nodeName });
    const read = readConfigz(JSON.stringify(answer) ?? '', version);
    if (!read.ok) throw new Error(read.problem);
    const question = { local: decoded.written, dynamic: null, merge: 'replace', args, version, running: read.config } as const;
    this.#fields = differingFields(dropIns ? { ...question, dropIns } : question);
  }
}
