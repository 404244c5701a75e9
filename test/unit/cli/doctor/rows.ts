import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import type { Check, Result, Seen, Verdict } from '../../../../cli/doctor/check.ts';

/** A node or a cluster in which one thing is not as it should be, and what a check says of it. */
export interface Row {
  check: string;
  where: string;
  is: Result;
  says: string;
  todo?: string;
}

export const known = <T>(value: T): Seen<T> => ({ seen: value });

/** What the check of this name decides. @throws where there is none */
export function verdictOf<Facts>(checks: readonly Check<Facts>[], name: string, facts: Facts): Verdict {
  const check = checks.find((one) => one.name === name);
  if (check === undefined) throw new Error(`there is no check ${name}`);
  return check.decide(facts);
}

const page = await readFile(new URL('../../../../docs/doctor.md', import.meta.url), 'utf8');
/** Rows of the page, by the check. */
const onPage = new Map(
  page
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split(/ (?<!\\)\| /).map((cell) => cell.replace(/^\| | \|$/g, '')))
    .map((cells) => [(cells[0] ?? '').replaceAll('`', ''), cells] as const),
);
export const checksOnPage: readonly string[] = [...onPage.keys()];
const plain = (text: string): string =>
  text
    .replaceAll(/`|\\(?=\|)/g, '')
    .replaceAll(/dkc-agent\.service/g, 'dkc-agent')
    .replaceAll('kubelet.service', 'kubelet');

/** A test for each row, and one that no check is without a row. @param normal - the facts where all is fine */
export function check<Facts>(checks: readonly Check<Facts>[], normal: Facts, rows: readonly (Row & { facts: Partial<Facts> })[]): void {
  for (const { check, where, facts, is, says, todo } of rows)
    test(`${check} is ${is} where ${where}`, () => {
      const found = orSkipped(() => verdictOf(checks, check, { ...normal, ...facts }));
      assert.equal(found.result, is, found.detail);
      assert.ok(found.detail.includes(says), found.detail);
      if (todo === undefined) assert.equal(found.remedy, undefined);
      else assert.ok(found.remedy?.includes(todo), found.remedy ?? 'no remedy');
    });
  test(`docs/doctor.md has ${checks.map(({ name }) => name).join(', ')} and every remedy`, () => {
    for (const { name, wants } of checks) {
      const [, wanted, remedies = ''] = onPage.get(name) ?? [];
      assert.equal(wanted, wants, name);
      for (const { todo } of rows.filter((row) => row.check === name))
        if (todo !== undefined) assert.ok(plain(remedies).includes(plain(todo)), `${name}: ${todo}`);
    }
  });
  test(`each of ${checks.map(({ name }) => name).join(', ')} is in a row where all is fine and in one where it is not`, () => {
    for (const { name } of checks) {
      const results = new Set(rows.filter((row) => row.check === name).map((row) => row.is));
      assert.ok(results.has('ok'), name);
      assert.ok(results.has('failed') || results.has('warning'), name);
    }
  });
}

/** As the runner does with a fact that is not known. */
function orSkipped(decide: () => Verdict): Verdict {
  try {
    return decide();
  } catch (error) {
    return { result: 'skipped', detail: (error as Error).message };
  }
}
