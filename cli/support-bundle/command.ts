import { ActionError, describeError } from '../../base/errors.ts';
import { silentLog } from '../../base/log.ts';
import type { AgentOptions } from '../../agent/options.ts';
import { SYSTEM_NAMESPACE } from '../../deploy/rights.ts';
import { connectFlags, connectQueryOf } from '../connect/flags.ts';
import { nodeOptionsOrDefaults } from '../agent/node-options.ts';
import { nodeFlags } from '../agent/flags.ts';
import { type Build, type Command, type Context, fine, type Flag, withNote } from '../command.ts';
import { UsageError } from '../failure.ts';
import { type Column, type People, show, table } from '../output/output.ts';
import { nodeSideFlags } from '../node/node-side.ts';
import { archiveOf, writeNewFile } from './archive.ts';
import { clusterCollectors } from './cluster/collectors.ts';
import { type Bounds, collectAll, type Collector, type Contents, defaultBounds, MIB } from './collector.ts';
import { KnownValues } from './redact/known-values.ts';
import { nodeCollectors } from './node/collectors.ts';
import type { Args } from '../args/args.ts';
import { printable, jsonText } from '../output/printable.ts';

const DEFAULT_LINES = 5_000;

const flags: readonly Flag[] = [
  { name: 'cluster', type: 'boolean', text: 'collect data of the fleet from the API server instead of data of this node' },
  {
    name: 'output-file',
    type: 'string',
    value: 'FILE',
    completes: 'file',
    text: 'file to write; - is standard output',
    defaultText: 'dkc-support-NODE-TIME.tar.gz here',
  },
  { name: 'dry-run', type: 'boolean', text: 'list what the archive would contain, and write nothing' },
  { name: 'since', type: 'duration', value: 'TIME', default: '24h', text: 'how far back the journals of the units go' },
  { name: 'lines', type: 'number', default: DEFAULT_LINES, text: 'maximum number of lines of each journal, the newest' },
  {
    name: 'max-size',
    type: 'number',
    value: 'MIB',
    default: defaultBounds.total / MIB,
    text: 'maximum size of all files together before compression, in MiB',
  },
  {
    name: 'namespace',
    alias: 'n',
    type: 'string',
    value: 'NS',
    default: SYSTEM_NAMESPACE,
    text: 'with --cluster: namespace of the ConfigMaps and controllers',
  },
  ...connectFlags.filter(({ name }) => name !== 'kubeconfig'),
  ...nodeSideFlags(['node-name', 'kubeconfig', 'effective-config', 'local-config', 'policy'], {
    kubeconfig: 'kubeconfig of the agent; with --cluster, your own',
  }),
];

export const supportBundle: Command = {
  describe: [
    'Writes an archive with what a maintainer needs to understand this node, or with --cluster the fleet: versions, status, store, settings, units, ' +
      'journals, metrics. Values of fields that may hold a secret are redacted; credentials are described and never copied. Prints what the archive contains, what was left out, and why.',
    'The archive never replaces an existing file, is readable by its owner only, and exists only once it is complete. Parts that cannot be read are listed in errors.txt. Review the archive before you send it.',
  ].join('\n\n'),
  examples: [
    { run: 'dkc support-bundle', what: 'of this node, as root' },
    { run: 'dkc support-bundle --dry-run', what: 'what would be in it' },
    { run: 'dkc support-bundle --since=2h --output-file=/tmp/node-a.tar.gz', what: 'shorter journals, another output file' },
    { run: 'dkc support-bundle --cluster', what: 'of the fleet, from any machine with a kubeconfig' },
    { run: 'dkc support-bundle --output-file=- | ssh bastion "cat > node-a.tar.gz"', what: 'without a file on this node' },
  ],
  flags,
  positionals: [],
  async run(given, args) {
    // The collectors' errors already contain what they would log.
    const context = { ...given, log: silentLog };
    const known = new KnownValues();
    const isCluster = args.on('cluster');
    const { options, problem } = isCluster ? { options: undefined, problem: undefined } : await optionsOf(context, args);
    const of = options?.nodeName ?? 'cluster';
    const collectors: Collector[] = options
      ? nodeCollectors(context, { options, problem, flags: givenNodeFlags(args), settings: settingsFileOf(context, args), sinceMs: args.ms('since') ?? 0, journalLines: args.number('lines') ?? DEFAULT_LINES }, known) // prettier-ignore
      : clusterCollectors(
          context,
          { connect: connectQueryOf(context, args), namespace: args.text('namespace') ?? SYSTEM_NAMESPACE },
          known,
        );
    if (args.on('dry-run')) {
      const data = collectors.map(({ name, what }) => ({ name, what }));
      await show(context, args, { data, people: () => data.map(({ what }) => `${what}\n`).join('') });
      return fine;
    }
    const target = targetOf(context, args, of);
    const bounds: Bounds = { ...defaultBounds, total: (args.number('max-size') ?? 0) * MIB };
    const contents = await collectAll(context, collectors, known, bounds);
    const [failure] = contents.errors;
    if (contents.files.length === 0 && failure !== undefined)
      throw new ActionError('collect', 'a support bundle', { hint: `nothing could be read; ${failure.collector}: ${failure.why}` });
    const { stem } = target;
    const report = { of, made: new Date(context.clock.now()).toISOString(), dkc: context.build, ...contents };
    const own = [{ path: 'index.json', text: indexOf(report) }, { path: 'errors.txt', text: errorsText(contents) }]; // prettier-ignore
    const bytes = await archiveOf(stem, [...own, ...contents.files], new Date(context.clock.now()));
    context.signal.throwIfAborted();
    const made: Made = { ...report, archive: { path: target.path, bytes: bytes.length } };
    if (target.write === undefined) await writeNewFile(target.path, bytes, randomName(context));
    else target.write(bytes);
    const listing = target.write === undefined ? context : { ...context, stdout: context.stderr };
    await show(listing, args, { data: JSON.parse(indexOf(made)), people: (how) => contentsText(made, how) });
    const { length: failed } = contents.errors;
    return withNote(
      context,
      fine,
      failed === 0 ? undefined : { level: 'note', text: `${failed} of ${collectors.length} parts failed: see errors.txt in the bundle` },
    );
  },
};

/** If the settings cannot be read, the bundle contains the problem, and flags and defaults give the paths. */
async function optionsOf(context: Context, args: Args): Promise<{ options: AgentOptions; problem: string | undefined }> {
  const { options, problem } = await nodeOptionsOrDefaults(context, args);
  return { options, problem: problem === undefined ? undefined : describeError(problem) };
}

const settingsFileOf = (context: Context, args: Args): string | undefined => {
  const named = args.text('agent-config');
  return named === undefined ? undefined : context.path(named);
};

/** The node flags of this command line, except --kubeconfig: with it `dkc status` would send requests to the API server, which may be down. */
function givenNodeFlags(args: Args): string[] {
  return nodeFlags.flatMap(({ name }) => {
    const value = args.value(name);
    return value === undefined || name === 'kubeconfig' ? [] : [`--${name}=${value}`];
  });
}

interface Target {
  /** Name of the folder in the archive. */
  stem: string;
  path: string;
  write?: (bytes: Uint8Array) => void;
}

function targetOf(context: Context, args: Args, of: string): Target {
  const time = new Date(context.clock.now()).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const stem = `dkc-support-${of.replaceAll(/[^\w.-]/g, '_')}-${time}`;
  const asked = args.text('output-file');
  if (asked !== '-') return { stem, path: context.path(asked ?? `${stem}.tar.gz`) };
  const { stdout } = context;
  if (stdout.isTTY) throw new UsageError('support-bundle: --output-file=- writes an archive, and standard output is a terminal; redirect it to a file'); // prettier-ignore
  return { stem, path: '-', write: (bytes) => stdout.writeBytes?.(bytes) };
}

const randomName = ({ random }: Pick<Context, 'random'>): string => Math.floor(random() * 2 ** 32).toString(16).padStart(8, '0'); // prettier-ignore

interface Report extends Contents {
  /** Node name, or `cluster`. */
  of: string;
  /** RFC 3339. */
  made: string;
  dkc: Build;
}

interface Made extends Report {
  archive: { path: string; bytes: number };
}

/** index.json: every file with its size, what was left out and why, what failed. */
function indexOf({ files, ...report }: Report | Made): string {
  return jsonText({ ...report, files: files.map(({ path, bytes, note }) => ({ path, bytes, note: note ?? null })) });
}

function errorsText({ errors }: Pick<Contents, 'errors'>): string {
  return errors.length === 0 ? 'No errors.\n' : errors.map(({ collector, why }) => `${collector}: ${why}\n`).join('');
}

interface Row {
  path: string;
  bytes: string;
  note: string;
}

/** What is in the bundle, what was left out, and why. */
async function contentsText({ files, leftOut, errors, archive }: Made, how: People): Promise<string> {
  const rows: Row[] = files.map(({ path, bytes, note }) => ({ path, bytes: String(bytes), note: note ?? '' }));
  const columns: Column<Row>[] = [
    { title: 'FILE', value: ({ path }) => path },
    { title: 'BYTES', value: ({ bytes }) => bytes },
    { title: 'NOTE', value: ({ note }) => note },
  ];
  const section = (title: string, lines: readonly string[]): string =>
    lines.length === 0 ? '' : `\n${title}:\n${lines.map((line) => `  ${printable(line)}\n`).join('')}`;
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  return [
    await table(columns, rows, how),
    section('Left out', leftOut.map(({ path, why }) => `${path}: ${why}`)), // prettier-ignore
    section('Failed', errors.map(({ collector, why }) => `${collector}: ${why}`)), // prettier-ignore
    `\n${archive.path === '-' ? 'Written to standard output' : `Written to ${printable(archive.path)}`}: ${files.length} files of ${total} bytes, ${archive.bytes} compressed.\n`,
  ].join('');
}
