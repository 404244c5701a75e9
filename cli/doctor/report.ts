import type { Finding, Result } from './check.ts';
import { fine, wrong, type Exit } from '../command.ts';
import { table, type Column, type Paint, type People } from '../output/output.ts';
import { printable } from '../output/printable.ts';
import { ActionError } from '../../base/errors.ts';

/** A line for each check, and beneath what to do, in the same order. @param wants - by check, for -o wide */
export async function reportText(findings: readonly Finding[], wants: ReadonlyMap<string, string>, how: People): Promise<string> {
  const columns: Column<Finding>[] = [
    { title: 'CHECK', value: ({ check }) => check },
    { title: 'RESULT', value: ({ result }) => result, paint: (cell, { result }, paint) => paintOf(result, paint)(cell) },
    { title: 'WANTED', value: ({ check }) => wants.get(check) ?? '', wide: true },
    { title: 'DETAIL', value: ({ detail }) => detail },
  ];
  const remedies = findings.filter(({ remedy }) => remedy !== undefined);
  const lines = remedies.map(({ check, result, remedy }) => `  ${paintOf(result, how.paint)(check)}: ${printable(remedy ?? '')}\n`);
  return [await table(columns, findings, how), ...(lines.length > 0 ? [`\nWhat to do:\n${lines.join('')}`] : [])].join('');
}

/** What json and yaml say. */
export const reportData = (findings: readonly Finding[]): object[] =>
  findings.map(({ check, result, detail, remedy }) => ({ check, result, detail, remedy: remedy ?? null }));

/** 1 where a check failed. @throws ActionError (exit 3) where nothing could be looked at */
export function exitOf(findings: readonly Finding[], of: string): Exit {
  const [first] = findings;
  if (findings.every(({ result }) => result === 'skipped'))
    throw new ActionError('check', of, { hint: first === undefined ? 'no check applies here' : first.detail });
  const bad = findings.filter(({ result }) => result === 'failed').map(({ check }) => check);
  return bad.length === 0 ? fine : wrong(`${bad.length} of ${findings.length} checks failed: ${bad.join(', ')}`);
}

function paintOf(result: Result, paint: Paint): (text: string) => string {
  const paints: Readonly<Record<Result, (text: string) => string>> = {
    ok: paint.green,
    warning: paint.yellow,
    failed: paint.red,
    skipped: paint.dim,
  };
  return paints[result];
}
