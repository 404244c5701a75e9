import { newestKubeletVersion } from '../../agent/config/config.ts';
import { learnKubelet } from '../../agent/host/kubelet.ts';
import { silentLog } from '../../base/log.ts';
import type { KubeletFacts } from '../../agent/config/contract.ts';
import type { AgentOptions } from '../../agent/options.ts';
import type { Context } from '../command.ts';
import type { Note } from '../output/note.ts';

/** The kubelet that configurations are judged for, and what is to be remarked on that: see `withNote`. */
export interface JudgedFor extends KubeletFacts {
  note?: Note;
}

/** As flags and agent.yaml say, else as found on this machine, else the newest known, which the note then says. */
export async function kubeletOf(context: Context, options: AgentOptions): Promise<JudgedFor> {
  // Away from a node there is no kubelet to ask, and nothing wrong with that: only what follows from it is said.
  const kubelet = await learnKubelet({ options, disk: context.disk, exec: context.exec, log: silentLog });
  const { newer, version } = kubelet;
  if (newer !== undefined)
    return {
      ...kubelet,
      note: { level: 'warning', text: `kubelet ${newer} is newer than the latest known; validated as ${version.text}` },
    };
  if (version !== newestKubeletVersion) return kubelet;
  const text = `validated for kubelet ${version.text} (latest known); use --kubelet-version for another`;
  return { ...kubelet, note: { level: 'note', text } };
}
