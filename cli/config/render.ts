import { applyDefaults, mergeOverlay, renderYaml, resolvePaths } from '../../agent/config/config.ts';
import { ActionError } from '../../base/errors.ts';
import { fine, withNote, type Command, type Context } from '../command.ts';
import { nodeFlagsFor } from '../agent/flags.ts';
import { fileOptions, nodeOptions } from '../agent/node-options.ts';
import { formatFlag, formatOf, scriptText } from '../output/output.ts';
import { printableLines } from '../output/printable.ts';
import { decodeFile, isThere, kubeletOf } from './config-file.ts';
import { directoryOf } from './validate-file.ts';
import type { Args } from '../args/args.ts';
import type { JsonObject, KubeletVersion } from '../../agent/config/contract.ts';
import type { AgentOptions } from '../../agent/options.ts';

export const render: Command = {
  describe: `Prints a kubelet configuration with all defaults of the given kubelet version filled in: a good start for a ConfigMap that replaces the local config.

Without FILE it prints the configuration that this node uses now.`,
  examples: [
    { run: 'dkc render', what: 'what this node uses' },
    { run: 'dkc render kubelet.yaml --kubelet-version=1.30', what: 'a file' },
    { run: 'dkc render web.yaml --merge=overlay --local-config=/var/lib/kubelet/config.yaml', what: 'merged into the local config' },
  ],
  flags: [...nodeFlagsFor(['kubelet-version', 'merge', 'local-config', 'effective-config']), formatFlag],
  positionals: [{ name: 'file', text: 'the file, or - for standard input', completes: 'file' }],
  async run(context, args) {
    // Without FILE the command shows this node.
    const isOfNode = args.one('file') === undefined;
    const { options, note: without } = isOfNode ? { options: await nodeOptions(context, args) } : await fileOptions(context, args);
    const { version, note } = await kubeletOf(context, options);
    const config = applyDefaults(await written(context, args, options, version), version);
    context.stdout.write((formatOf(args) === 'yaml' ? undefined : await scriptText(args, config)) ?? printableLines(renderYaml(config)));
    return withNote(context, withNote(context, fine, without), note);
  },
};

async function written(context: Context, args: Args, options: AgentOptions, version: KubeletVersion): Promise<JsonObject> {
  const name = args.one('file');
  if (name === undefined) return await inUse(context, options, version);
  // Relative paths stay as written: they are relative to the directory where a node will use the file, not to its directory here.
  const dynamic = await decodeFile(context, name, version);
  if (options.merge !== 'overlay') return dynamic;
  const local = await decodeFile(context, options.localConfig, version);
  return mergeOverlay(resolvePaths(local, directoryOf(context, options.localConfig), version), dynamic);
}

/** The effective file; the local config if no agent has run yet. */
async function inUse(context: Context, options: AgentOptions, version: KubeletVersion): Promise<JsonObject> {
  for (const path of [options.effectiveConfig, options.localConfig])
    if (await isThere(context, path)) return await decodeFile(context, path, version);
  throw new ActionError('render', options.effectiveConfig, {
    hint: 'neither it nor the local config exists; name a FILE, or set --effective-config or --local-config',
  });
}
