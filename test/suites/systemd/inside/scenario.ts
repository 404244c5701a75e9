import { Bundle } from './agent.ts';
import { kubeletStart } from './kubelet.ts';
import { settled, systemctl } from './systemctl.ts';

/** Runs as the one command of a throw-away machine; what it returns is printed as JSON and judged outside. */
export async function scenario<Options, Result>(run: (options: Options) => Promise<Result>): Promise<void> {
  const options = JSON.parse(process.argv[2] ?? '{}') as Options;
  console.log(JSON.stringify(await run(options)));
}

/** Agent and kubelet up, on the local configuration, as after the installation. @param settings - lines for agent.yaml */
export async function bothUp(settings = ''): Promise<Bundle> {
  const agent = new Bundle(settings);
  await agent.prepare();
  systemctl('start', 'kubelet.service');
  await kubeletStart(1);
  await settled();
  return agent;
}
