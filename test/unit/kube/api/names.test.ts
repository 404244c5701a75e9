import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  configMapKeyProblems,
  dnsLabelProblems,
  dnsSubdomainProblems,
  labelValueProblems,
  qualifiedNameProblems,
} from '../../../../kube/api/names.ts';

// prettier-ignore
const kinds: { what: string; problems: (value: string) => string[]; good: string[]; bad: string[] }[] = [
  { what: 'label', problems: dnsLabelProblems, good: ['0', 'kube-system', 'a'.repeat(63)], bad: ['', 'A', 'a.b', 'a-', 'a\n', 'a'.repeat(64)] },
  { what: 'subdomain', problems: dnsSubdomainProblems, good: ['node-1.example.com', 'a'.repeat(253)], bad: ['', 'a..b', 'a/b', 'a'.repeat(254), 'ü'] },
  { what: 'ConfigMap key', problems: configMapKeyProblems, good: ['.hidden', 'a..b', 'KEY_name.1'], bad: ['', '..', '..a', 'a/b', 'a\0', 'a'.repeat(254)] },
  { what: 'qualified name', problems: qualifiedNameProblems, good: ['A_b.c-d', 'example.com/name'], bad: ['', '/a', 'a/', 'EXAMPLE/a', 'a'.repeat(64)] },
  { what: 'label value', problems: labelValueProblems, good: ['', 'A_b.c-d'], bad: ['-a', 'a b', 'a/b', 'a'.repeat(64)] },
];
for (const { what, problems, good, bad } of kinds) {
  test(`a ${what} is judged as the API server does`, () => {
    for (const value of good) assert.deepEqual(problems(value), [], value);
    for (const value of bad) assert.notDeepEqual(problems(value), [], value);
  });
}

test("complaints are in the API server's words", () => {
  assert.deepEqual(configMapKeyProblems('..'), ["must not be '..'"]);
  assert.deepEqual(configMapKeyProblems('.'), ["must not be '.'"]);
  assert.deepEqual(configMapKeyProblems('..x'), ["must not start with '..'"]);
  assert.match(
    configMapKeyProblems('a b').join(),
    /^a valid config key must consist of alphanumeric characters, '-', '_' or '\.' \(e\.g\. 'key\.name', {2}or 'KEY_NAME', /,
  );
  assert.deepEqual(configMapKeyProblems('a'.repeat(254)), ['must be no more than 253 characters']);
  assert.match(
    dnsLabelProblems('A').join(),
    /^a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start/,
  );
});
