import { dirname } from 'node:path';
import { viewActive } from '../../agent/admin/facts.ts';
import { observeNode } from '../../agent/admin/observe.ts';
import { decode, resolvePaths } from '../../agent/config/config.ts';
import { explainFields, type Explained } from '../../agent/config/policy/explain.ts';
import { minimalConfig, problemText } from '../../agent/evaluate/local.ts';
import { readDropIns } from '../../agent/host/drop-ins.ts';
import { FsStore } from '../../agent/store/fs-store.ts';
import { layout } from '../../agent/store/layout.ts';
import { ActionError } from '../../base/errors.ts';
import { fine, withNote, type Command, type Context } from '../command.ts';
import { nodeFlagsFor } from '../agent/flags.ts';
import { UsageError } from '../failure.ts';
import { nearest } from '../../base/nearest.ts';
import { nodeOptions } from '../agent/node-options.ts';
import { formatFlag, show, table } from '../output/output.ts';
import { printable } from '../output/printable.ts';
import { decodeFile, isThere, kubeletOf } from './config-file.ts';
import { classPaint, valueText } from './differences.ts';
import type { JsonObject, KubeletVersion } from '../../agent/config/contract.ts';
import type { AgentOptions } from '../../agent/options.ts';

export const why: Command = {
  describe: `Shows for each field of this node's kubelet configuration the value in use and its origin: the kubelet's default, the local config, the ConfigMap in use (dynamic), a drop-in of the kubelet's --config-dir, which comes after these, or a flag of the kubelet, which overrides them all.

SHADOWED marks a value that a configuration sets without effect, because a flag overrides it.`,
  examples: [
    { run: 'dkc why maxPods', what: 'one field' },
    { run: 'dkc why authentication', what: 'a field and all below it' },
    { run: 'dkc why -o json', what: 'all of them' },
  ],
  flags: [...nodeFlagsFor(['kubelet-version', 'merge', 'local-config', 'effective-config', 'dynamic-config-dir']), formatFlag],
  positionals: [{ name: 'field', text: 'path of a field, such as authentication.x509.clientCAFile', completes: 'field' }],
  async run(context, args) {
    const asked = args.one('field');
    if (asked?.includes('/') === true)
      throw new UsageError(
        `why: ${JSON.stringify(asked)} is not a kubelet field; objects that can be explained: dkc why po/NAME, sts/NAME, ds/NAME`,
      );
    const options = await nodeOptions(context, args);
    const { version, args: kubeletArgs, note } = await kubeletOf(context, options);
    const [local, dynamic] = [await localConfig(context, options, version), await dynamicConfig(context, options, version)];
    const dropIns = await readDropIns(context.disk, { args: kubeletArgs, version });
    const [broken] = dropIns?.problems ?? [];
    if (broken !== undefined) throw new ActionError('explain fields', 'of this kubelet', { hint: broken.message });
    const explained = explainFields({ local, dynamic, merge: options.merge, args: kubeletArgs, version, ...(dropIns ? { dropIns } : {}) });
    const found = named(explained, asked, version);
    await expectNode(context, options);
    await show(context, args, {
      data: found.map(({ field, value, origin, file, class: of, shadowed }) => ({
        field,
        value,
        origin,
        ...(file === undefined ? {} : { file }),
        class: of,
        shadowed,
      })),
      people: (how) =>
        table(
          [
            { title: 'FIELD', value: ({ field }) => field },
            { title: 'VALUE', value: ({ value }) => valueText(value, how.wide) },
            { title: 'ORIGIN', value: ({ origin, file }) => (file === undefined ? origin : `${origin} ${printable(file)}`) },
            { title: 'CLASS', value: (one) => one.class, paint: (cell, one, paint) => classPaint(one.class, paint)(cell) },
            { title: 'SHADOWED', value: ({ shadowed }) => (shadowed ? 'by a flag' : '') },
          ],
          found,
          how,
        ),
    });
    return withNote(context, fine, note);
  },
};

/** @throws ActionError where nothing of a node is on this machine: the defaults are in force nowhere then */
async function expectNode(context: Context, { localConfig, effectiveConfig, dynamicConfigDir }: AgentOptions): Promise<void> {
  const { store } = layout(dynamicConfigDir);
  for (const path of [localConfig, effectiveConfig, store]) if (await isThere(context, path)) return;
  throw new ActionError('explain fields', localConfig, {
    hint: `neither it nor a store (${store}) exists on this machine; run the command on a node, or name a file: --local-config=FILE`,
  });
}

function named(explained: readonly Explained[], field: string | undefined, { text }: KubeletVersion): readonly Explained[] {
  if (field === undefined) return explained;
  const found = explained.filter((one) => one.field === field || one.field.startsWith(`${field}.`));
  if (found.length > 0) return found;
  const meant = nearest(field, explained.map((one) => one.field)); // prettier-ignore
  throw new UsageError(
    `why: kubelet ${text} has no field ${field}${meant === undefined ? '; dkc why lists all' : `; did you mean ${meant}?`}`,
  );
}

async function localConfig(context: Context, options: AgentOptions, version: KubeletVersion): Promise<JsonObject> {
  if (!(await isThere(context, options.localConfig))) return minimalConfig;
  return resolvePaths(await decodeFile(context, options.localConfig, version), dirname(options.localConfig), version);
}

/** The configuration of the ConfigMap in use; null where it is the local one, or no agent has ever run here. */
async function dynamicConfig(context: Context, options: AgentOptions, version: KubeletVersion): Promise<JsonObject | null> {
  const { disk, locks, clock } = context;
  const { dynamicConfigDir, effectiveConfig, localConfig } = options;
  const store = new FsStore({ disk, locks, root: dynamicConfigDir, clock });
  if (!(await isThere(context, store.paths.store))) return null;
  const { source } = viewActive(await observeNode({ store, disk, dynamicConfigDir, effectiveConfig, localConfig }));
  if (source === null) return null;
  const path = store.paths.checkpoint(source);
  const state = await store.load(source);
  const bytes = state.at === 'intact' ? state.checkpoint.payload.files.get(source.kubeletConfigKey) : undefined;
  if (bytes === undefined) throw new ActionError('read the checkpoint in use', path, { hint: 'run `dkc checkpoints verify` for details' });
  const decoded = decode(bytes, version);
  if (!decoded.ok) throw new ActionError('read the checkpoint in use', path, { hint: problemText(decoded.errors) });
  return resolvePaths(decoded.written, path, version);
}
