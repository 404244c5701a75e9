import { dirname } from 'node:path';
import { viewActive } from '../../agent/admin/facts.ts';
import { observeNode } from '../../agent/admin/observe.ts';
import { decode, readConfigz, resolvePaths } from '../../agent/config/config.ts';
import { type Explained, explainFields } from '../../agent/config/policy/explain.ts';
import { minimalConfig, problemText } from '../../agent/evaluate/local.ts';
import { readDropIns } from '../../agent/evaluate/node-inputs.ts';
import { FsStore } from '../../agent/store/fs-store.ts';
import { layout } from '../../agent/store/layout.ts';
import { ActionError, describeError, nearest } from '../../base/errors.ts';
import { type Command, type Context, fine, withNote, wrong } from '../command.ts';
import { nodeFlagsFor } from '../agent/flags.ts';
import { UsageError } from '../failure.ts';
import { nodeOptions } from '../agent/node-options.ts';
import { type Column, formatFlag, show, table } from '../output/output.ts';
import { printable } from '../output/printable.ts';
import { decodeFile, isThere, kubeletOf, readConfigFile } from './config-file.ts';
import { classPaint, valueText } from './diff.ts';
import type { JsonObject, KubeletVersion } from '../../agent/config/contract.ts';
import type { AgentOptions } from '../../agent/options.ts';

/** Value of `--configz` without a file. No file name ends in a slash. */
const API_SERVER = 'api-server/';
/** In ms. */
const CONFIGZ_TIMEOUT_MS = 10_000;

export const why: Command = {
  describe: `Shows for each field of this node's kubelet configuration the value in use and its origin: the kubelet's default, the local config, the ConfigMap in use (dynamic), a drop-in of the kubelet's --config-dir, which comes after these, or a flag of the kubelet, which overrides them all.

SHADOWED marks a value that a configuration sets without effect, because a flag overrides it.

With --configz, RUNNING shows the value that the kubelet itself reports, and DIFFERS marks a field whose value is another one: the kubelet was not restarted since a change, or was started with another file. Exits with 1 if any of the fields shown differs. DIFFERS does not mark values that the kubelet sets on its own: the paths of the certificate that it creates if none is set, and from 1.35 on the cgroup driver, which it gets from the container runtime.

--configz without a file asks the kubelet through the API server, with the credentials in --kubeconfig; it needs the right to get nodes/proxy, which administrators have. A file, or - for standard input, must contain the answer of /configz.`,
  examples: [
    { run: 'dkc why maxPods', what: 'one field' },
    { run: 'dkc why authentication', what: 'a field and all below it' },
    { run: 'dkc why -o json', what: 'all of them' },
    { run: 'dkc why --configz --kubeconfig=/root/admin.conf', what: 'also what the kubelet runs with, asked through the API server' },
    {
      run: 'dkc why --configz=configz.json',
      what: 'the same from a file: kubectl get --raw /api/v1/nodes/NODE/proxy/configz > configz.json',
    },
  ],
  flags: [
    {
      name: 'configz',
      type: 'string',
      value: 'FILE|-',
      implied: API_SERVER,
      completes: 'file',
      text: 'compare with what the kubelet runs with: an answer of its /configz; without a file, ask the kubelet through the API server',
    },
    ...nodeFlagsFor(['kubelet-version', 'merge', 'local-config', 'effective-config', 'dynamic-config-dir', 'kubeconfig', 'node-name']),
    formatFlag,
  ],
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
    if (broken !== undefined) throw new ActionError('explain the fields', 'of this kubelet', { hint: broken.message });
    const question = {
      local,
      dynamic,
      merge: options.merge,
      args: kubeletArgs,
      version,
      ...(dropIns ? { dropIns } : {}),
    };
    const explained = named(explainFields(question), asked, version);
    await expectNode(context, options);
    const configz = args.text('configz');
    const running = configz === undefined ? undefined : await runningConfig(context, configz, options, version);
    const found = running ? named(explainFields({ ...question, running }), asked, version) : explained;
    await show(context, args, {
      data: found.map(({ field, value, origin, file, class: of, shadowed, running: runs, differs }) => ({
        field,
        value,
        origin,
        ...(file === undefined ? {} : { file }),
        class: of,
        shadowed,
        ...(runs === undefined ? {} : { running: runs, differs }),
      })),
      people: (how) =>
        table(
          [
            { title: 'FIELD', value: ({ field }) => field },
            { title: 'VALUE', value: ({ value }) => valueText(value, how.wide) },
            { title: 'ORIGIN', value: ({ origin, file }) => (file === undefined ? origin : `${origin} ${printable(file)}`) },
            { title: 'CLASS', value: (one) => one.class, paint: (cell, one, paint) => classPaint(one.class, paint)(cell) },
            { title: 'SHADOWED', value: ({ shadowed }) => (shadowed ? 'by a flag' : '') },
            ...(running ? runningColumns(how.wide) : []),
          ],
          found,
          how,
        ),
    });
    const differing = found.flatMap(({ field, differs }) => (differs === true ? [field] : []));
    return withNote(context, differing.length === 0 ? fine : wrong(differenceText(differing)), note);
  },
};

/** Fields that the line on stderr names; the others are counted. */
const MAX_NAMED = 5;

function differenceText(fields: readonly string[]): string {
  const more = fields.length > MAX_NAMED ? ` and ${fields.length - MAX_NAMED} more` : '';
  return `the kubelet runs with values that differ from its configuration: ${fields.slice(0, MAX_NAMED).map(printable).join(', ')}${more}`;
}

const runningColumns = (wide: boolean): Column<Explained>[] => [
  { title: 'RUNNING', value: ({ running }) => valueText(running ?? null, wide) },
  { title: 'DIFFERS', value: ({ differs }) => (differs === true ? 'yes' : ''), paint: (cell, _, paint) => paint.red(cell) },
];

/** @throws ActionError if /configz cannot be read, or is not that of this kubelet */
async function runningConfig(context: Context, from: string, options: AgentOptions, version: KubeletVersion): Promise<JsonObject> {
  const [text, what] =
    from === API_SERVER
      ? [await configzThroughApiServer(context, options), `/configz of ${options.nodeName}`]
      : [new TextDecoder().decode(await readConfigFile(context, from)), from === '-' ? 'standard input' : context.path(from)];
  const read = readConfigz(text, version);
  if (!read.ok) throw new ActionError('read the answer of /configz in', what, { hint: `${read.problem}; is --kubelet-version right?` });
  return read.config;
}

async function configzThroughApiServer(context: Context, { kubeconfig, nodeName }: AgentOptions): Promise<string> {
  const path = `/api/v1/nodes/${encodeURIComponent(nodeName)}/proxy/configz`;
  if (kubeconfig === undefined) throw new UsageError('why: --configz without a file asks the API server: give --kubeconfig=FILE as well');
  try {
    const client = await context.connect({ kubeconfig });
    try {
      return JSON.stringify(await client.raw('GET', path, { signal: context.signal, timeoutMs: CONFIGZ_TIMEOUT_MS }));
    } finally {
      await client.close();
    }
  } catch (cause) {
    const hint = `${describeError(cause)}; this needs the right to get nodes/proxy, and the API server must reach the kubelet`;
    throw new ActionError('ask the API server for', path, { hint, cause });
  }
}

/** @throws ActionError if this machine has none of a node's files: the fields would all show defaults that no kubelet uses */
async function expectNode(context: Context, { localConfig, effectiveConfig, dynamicConfigDir }: AgentOptions): Promise<void> {
  const { store } = layout(dynamicConfigDir);
  for (const path of [localConfig, effectiveConfig, store]) if (await isThere(context, path)) return;
  throw new ActionError('explain the fields in', localConfig, {
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

/** The configuration of the active ConfigMap; null if the local config is active, or no agent has ever run here. */
async function dynamicConfig(context: Context, options: AgentOptions, version: KubeletVersion): Promise<JsonObject | null> {
  const { disk, locks, clock } = context;
  const { dynamicConfigDir, effectiveConfig, localConfig, kubeletExits } = options;
  const store = new FsStore({ disk, locks, root: dynamicConfigDir, clock });
  if (!(await isThere(context, store.paths.store))) return null;
  const { source } = viewActive(await observeNode({ store, disk, dynamicConfigDir, effectiveConfig, localConfig, kubeletExits }));
  if (source === null) return null;
  const path = store.paths.checkpoint(source);
  const state = await store.load(source);
  const bytes = state.at === 'intact' ? state.checkpoint.payload.files.get(source.kubeletConfigKey) : undefined;
  if (bytes === undefined) throw new ActionError('read the checkpoint in use', path, { hint: 'run `dkc checkpoints verify` for details' });
  const decoded = decode(bytes, version);
  if (!decoded.ok) throw new ActionError('read the checkpoint in use', path, { hint: problemText(decoded.errors) });
  return resolvePaths(decoded.written, path, version);
}
