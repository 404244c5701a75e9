import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { kubeletConfig, kubeletStart, kubeletStarts } from '../inside/kubelet.ts';
import { run } from '../inside/program.ts';
import { bothUp, scenario } from '../inside/scenario.ts';
import { dropIn, settled, systemctl } from '../inside/systemctl.ts';

export interface NoCopyOptions {
  /** Why the kubelet's drop-in makes no copy of what the kubelet is started with. */
  cause: 'full' | 'no command';
}

export interface NoCopyResult {
  /** maxPods of every start of the kubelet since the copy failed; a bar where the agent was restarted, twice. */
  starts: string[];
  copy: boolean;
}

const STARTED = '/run/dkc/kubelet-started.yaml';

await scenario(async ({ cause }: NoCopyOptions): Promise<NoCopyResult> => {
  if (cause === 'full') run('sh', '-ec', 'mkdir -p /run/dkc; mount -t tmpfs -o size=64k,mode=0700 run-dkc /run/dkc');
  const agent = await bothUp();
  if (cause === 'full') run('sh', '-c', `rm ${STARTED}; cat /dev/zero > /run/dkc/ballast; true`);
  else dropIn('kubelet.service', `[Service]\nExecStartPre=\nExecStartPre=-/bin/false ${STARTED}\n`);

  const result: NoCopyResult = { starts: [], copy: false };
  let seen = kubeletStarts().length;
  const note = (): void => {
    const starts = kubeletStarts();
    result.starts.push(...starts.slice(seen).map(({ maxPods }) => String(maxPods)));
    seen = starts.length;
  };
  // There, and back to what the old copy says: each content that is new to the kubelet is one restart.
  for (const maxPods of [101, 100]) {
    const before = kubeletStarts().length;
    await agent.assign(kubeletConfig({ maxPods }));
    await kubeletStart(before + 1);
    await settled();
    note();
    for (let n = 0; n < 2; n++) {
      systemctl('restart', 'dkc-agent.service');
      await settled();
    }
    // Long enough for a restart too many to show up.
    await sleep(1000);
    await settled();
    result.starts.push('|');
    note();
  }
  return { ...result, copy: existsSync(STARTED) };
});
