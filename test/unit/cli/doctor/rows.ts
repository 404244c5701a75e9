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

const page = await readFile(new URL('../../../../docs/doctor.md', import.meta.url), 'utf8');
/** Rows of the page, by the check. */
const onPage = new Map(
  page.split('\n').filter((line) => line.startsWith('| `')).map((line) => {
    const cells = line.split(/ (?<!\\)\| /).map((cell) => cell.replace(/^\| | \|$/g, ''));
    return [(cells[0] ?? '').replaceAll('`', ''), cells] as const;
  }),
); // prettier-ignore
export const checksOnPage: readonly string[] = [...onPage.keys()];
const plain = (text: string): string => text.replaceAll(/`|\\(?=\|)/g, '').replaceAll(/(dkc-agent|kubelet)\.service/g, '$1');

/** A test for each row, and one of the facts where all is fine. */
export function check<Facts>(checks: readonly Check<Facts>[], normal: Facts, rows: readonly (Row & { facts: Partial<Facts> })[]): void {
  /** As the runner does with a fact that is not known. */
  const verdictOf = (one: Check<Facts>, facts: Facts): Verdict => {
    try {
      return one.decide(facts);
    } catch (error) {
      return { result: 'skipped', detail: (error as Error).message };
    }
  };
  for (const one of checks) {
    const of = rows.filter(({ check }) => check === one.name);
    test(`${one.name} fails or warns in some row and not where all is fine, and docs/doctor.md has it with every remedy`, () => {
      assert.match(verdictOf(one, normal).result, /^(ok|skipped)$/);
      assert.ok(of.some(({ is }) => is === 'failed' || is === 'warning'));
      const [, wants, remedies = ''] = onPage.get(one.name) ?? [];
      assert.equal(wants, one.wants);
      for (const { todo } of of) if (todo !== undefined) assert.ok(plain(remedies).includes(plain(todo)), todo);
    });
    for (const { where, facts, is, says, todo } of of)
      test(`${one.name} is ${is} where ${where}`, () => {
        const found = verdictOf(one, { ...normal, ...facts });
        assert.equal(found.result, is, found.detail);
        assert.ok(found.detail.includes(says), found.detail);
        if (todo === undefined) assert.equal(found.remedy, undefined);
        else assert.ok(found.remedy?.includes(todo), found.remedy ?? 'no remedy');
      });
  }
}
