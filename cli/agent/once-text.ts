import { sourceText } from '../../agent/checkpoint/source.ts';
import { printable } from '../output/printable.ts';
import { jsonText, yamlText } from '../output/structured.ts';
import type { BootOutcome } from '../../agent/boot/plan.ts';

/** What `dkc agent run --once` prints. */
export function onceText({ used, source, error, effective }: BootOutcome, format: string): string {
  const { path, sha256, changed } = effective;
  const data = { used, source, error, effective: { path, sha256, changed } };
  if (format === 'json') return jsonText(data);
  if (format === 'yaml') return yamlText(data);
  const lines = [
    `used       ${used}`,
    `source     ${printable(sourceText(source))}`,
    `error      ${printable(error ?? '-')}`,
    `effective  ${printable(path)} ${effective.usable ? (changed ? 'written' : 'unchanged') : 'NOT USABLE'}`,
    `sha256     ${sha256 || '-'}`,
  ];
  return `${lines.join('\n')}\n`;
}
