import { isoNow, type NodeSide } from './node-side.ts';
import { peek } from './peek.ts';
import { agentRuns } from './vitals.ts';
import type { DrillReport } from '../../agent/admin/drill/plan.ts';
import { liveDrill } from '../../agent/admin/live-drill/execute.ts';
import { describeLive, planLiveDrill } from '../../agent/admin/live-drill/plan.ts';
import { ActionError } from '../../base/errors.ts';
import { wrong, type Context, type Exit } from '../command.ts';
import { UsageError } from '../failure.ts';
import { printable } from '../output/printable.ts';
import type { Args } from '../args/args.ts';

/** @returns the report, or exit 1 where this node is in no state to be drilled. @throws UsageError without --yes */
export async function liveDrillHere(context: Context, args: Args, node: NodeSide): Promise<DrillReport | Exit> {
  const plan = planLiveDrill(await node.observe(), isoNow(context));
  if (plan.at === 'refused') return wrong(`Cannot drill this node: ${plan.why}`);
  if (!args.on('yes')) throw new UsageError(`drill --live ${describeLive(plan)}; add --yes to do it`);
  if (!(await agentRuns(context, node))) {
    throw new ActionError('drill', `node ${node.options.nodeName}`, {
      hint: 'its agent is not running; start it: systemctl start dkc-agent',
    });
  }
  const before = await peek(context, node);
  if (before.healthy === false) {
    return wrong(`Cannot drill this node: its kubelet is not healthy (${node.options.kubeletHealthz})`);
  }
  return liveDrill(plan, {
    store: node.store,
    clock: context.clock,
    signal: context.signal,
    peek: () => peek(context, node),
    say: (text) => context.stderr.write(`dkc: ${printable(text)}\n`),
    timeoutMs: args.ms('timeout') ?? 180_000,
  });
}
