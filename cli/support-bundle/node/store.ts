import { basename, join } from 'node:path';
import { parseDocument } from 'yaml';
import { describeError, errorCode } from '../../../base/errors.ts';
import { layout, manifestName } from '../../../agent/store/layout.ts';
import { MAX_JOURNAL_BYTES } from '../../../agent/store/journal.ts';
import { driftedName } from '../../../agent/store/layout.ts';
import { jsonText, yamlText } from '../../output/printable.ts';
import { redactKubeletConfig, type Withheld } from '../redact/configuration.ts';
import { redactObject } from '../redact/objects.ts';
import { redactText } from '../redact/text.ts';
import type { Clock } from '../../../base/clock.ts';
import type { Disk } from '../../../base/disk.ts';
import type { AgentOptions } from '../../../agent/options.ts';
import type { Found } from '../collector.ts';

/** Maximum number of files and folders listed. */
const MAX_LISTED = 5_000;
/** Maximum number of checkpoints whose files are read. */
const MAX_CHECKPOINTS = 200;
/** A configuration is at most a megabyte. */
const MAX_FILE_BYTES = 2 * 1024 * 1024;

type StoreDisk = Pick<Disk, 'list' | 'read' | 'readLinked' | 'readEnd' | 'stat'>;
type Options = Pick<AgentOptions, 'dynamicConfigDir' | 'effectiveConfig' | 'localConfig'>;

/** Maximum text of the store in memory, in characters, and time for reading files, in ms: shorter than the timeout of a collector. */
const MAX_TEXT = 32 * 1024 * 1024;
const READING_MS = 20_000;

/** All text files of the store that dkc wrote, redacted, and a list of everything in the store. Links are never followed. */
export async function storeFiles(
  { disk, clock }: { disk: StoreDisk; clock: Pick<Clock, 'monotonic'> },
  { dynamicConfigDir: root }: Options,
  withheld: Withheld,
): Promise<Found[]> {
  const until = clock.monotonic() + READING_MS;
  const paths = layout(root);
  const listed = await listTree(disk, root).catch(readProblem);
  if (typeof listed === 'string') return [{ path: 'store', leftOut: listed }];
  const found: Found[] = [
    { path: 'store/files.txt', text: listed.map(({ line }) => line).join(''), note: 'list of all files in the directory' },
  ];
  const checkpoints = new Set<string>();
  let kept = 0;
  const add = async (path: string, to: string, isRecord: boolean): Promise<void> => {
    if (kept > MAX_TEXT) return void found.push({ path: to, leftOut: `the store has more than ${MAX_TEXT} bytes of text` });
    if (clock.monotonic() > until) return void found.push({ path: to, leftOut: `reading the store took more than ${READING_MS / 1000} s` });
    const one = isRecord ? await recordAt(disk, path, to) : await configAt(disk, path, to, withheld);
    if ('text' in one) kept += one.text.length;
    found.push(one);
  };
  for (const { path, kind } of listed) {
    const to = `store/${path.slice(root.length + 1)}`;
    if (kind === 'other') found.push({ path: to, leftOut: 'not a regular file, such as a symbolic link: not followed' });
    if (kind !== 'file') continue;
    if (path.startsWith(`${paths.metaDir}/`) || /^[a-z-]+\.json$/.test(path.slice(root.length + 1))) await add(path, to, true);
    else if (path.startsWith(`${paths.checkpoints}/`)) {
      const [uid = '', version = ''] = path.slice(paths.checkpoints.length + 1).split('/');
      checkpoints.add(`${uid}/${version}`);
      if (checkpoints.size > MAX_CHECKPOINTS) found.push({ path: to, leftOut: `there are more than ${MAX_CHECKPOINTS} checkpoints` });
      else await add(path, to, basename(path) === manifestName);
    }
  }
  return found;
}

/** The last entries of the journal: whole lines that are JSON. @param lines - maximum number */
export async function journalEnd(disk: Pick<Disk, 'readEnd'>, root: string, lines: number): Promise<Found> {
  const path = 'store/store/journal.jsonl';
  const bytes = await disk.readEnd(layout(root).journal, MAX_JOURNAL_BYTES).catch(readProblem);
  if (typeof bytes === 'string') return { path, leftOut: bytes };
  const text = new TextDecoder().decode(bytes);
  const all = text.split('\n').filter((line) => line !== '');
  const last = all.slice(-lines);
  const read = last.map((line) => jsonLine(line)).filter((line) => line !== undefined);
  const odd = last.length - read.length;
  return {
    path,
    text: read.join(''),
    keep: 'end',
    note: `last ${read.length} of ${all.length} lines${odd === 0 ? '' : `; ${odd} that are not JSON are left out`}`,
  };
}

function jsonLine(line: string): string | undefined {
  try {
    return `${JSON.stringify(redactObject(JSON.parse(line)))}\n`;
  } catch {
    return undefined;
  }
}

/** The effective file, the local config and the file that the kubelet was started with. The local config may be a link set by the administrator. */
export async function configFiles(disk: StoreDisk, options: Options, started: string, withheld: Withheld): Promise<Found[]> {
  const { effectiveConfig, localConfig } = options;
  return [
    await configAt(disk, effectiveConfig, 'config/effective.yaml', withheld),
    await configAt(disk, driftedName(effectiveConfig), 'config/effective.drifted.yaml', withheld),
    await configAt({ read: disk.readLinked }, localConfig, 'config/local.yaml', withheld),
    await configAt(disk, started, 'config/kubelet-started.yaml', withheld),
  ];
}

async function configAt(disk: Pick<StoreDisk, 'read'>, path: string, to: string, withheld: Withheld): Promise<Found> {
  const text = await textAt(disk, path);
  if (typeof text !== 'string') return { path: to, leftOut: text.problem };
  const document = parsed(text);
  if (typeof document !== 'object' || document === null || (document as { kind?: unknown }).kind !== 'KubeletConfiguration')
    return { path: to, leftOut: `${Buffer.byteLength(text)} bytes that are not a KubeletConfiguration` };
  return { path: to, text: yamlText(redactKubeletConfig(document, withheld)), note: 'values of secret and unknown fields are redacted' };
}

async function recordAt(disk: StoreDisk, path: string, to: string): Promise<Found> {
  const text = await textAt(disk, path);
  if (typeof text !== 'string') return { path: to, leftOut: text.problem };
  if (text === '') return { path: to, text: '' };
  const document = parsed(text);
  if (typeof document !== 'object' || document === null)
    return { path: to, leftOut: `${Buffer.byteLength(text)} bytes that are neither JSON nor YAML` };
  const shown = redactObject(document);
  return { path: to, text: text.trimStart().startsWith('{') || text.trimStart().startsWith('[') ? jsonText(shown) : yamlText(shown) };
}

async function textAt(disk: Pick<StoreDisk, 'read'>, path: string): Promise<string | { problem: string }> {
  try {
    return new TextDecoder().decode(await disk.read(path, MAX_FILE_BYTES));
  } catch (error) {
    return { problem: readProblem(error) };
  }
}

/** undefined if the text is neither JSON nor YAML. Parser errors are not shown, since they quote the line. */
export function parsed(text: string): unknown {
  try {
    const document = parseDocument(text, { prettyErrors: false, logLevel: 'silent' });
    if (document.errors.length > 0) return undefined;
    return document.toJS({ maxAliasCount: 100 }) as unknown;
  } catch {
    return undefined;
  }
}

interface Listed {
  path: string;
  kind: 'file' | 'dir' | 'other';
  line: string;
}

async function listTree(disk: StoreDisk, root: string): Promise<Listed[]> {
  const listed: Listed[] = [];
  const walk = async (dir: string, depth: number): Promise<void> => {
    for (const name of await disk.list(dir)) {
      if (listed.length >= MAX_LISTED) return;
      const path = join(dir, name);
      const stat = await disk.stat(path);
      if (!stat) continue;
      const about = `${stat.kind.padEnd(5)} ${stat.mode.toString(8).padStart(4, '0')} ${String(stat.bytes).padStart(9)} ${new Date(stat.modifiedMs).toISOString()}`;
      listed.push({ path, kind: stat.kind, line: `${about} ${redactText(path)}\n` });
      if (stat.kind === 'dir' && depth < 5) await walk(path, depth + 1);
    }
  };
  await walk(root, 0);
  return listed;
}

/** Why a file is left out. */
export function readProblem(error: unknown): string {
  const code = errorCode(error);
  return code === 'ENOENT' ? 'no such file' : redactText(describeError(error));
}
