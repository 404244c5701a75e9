import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeProblem } from '../../../cli/program.ts';

const cases = [
  { version: '20.20.2', does: 'is refused' },
  { version: '9.11.2', does: 'is refused' },
  { version: '24.0.0', does: 'will do' },
  { version: '100.0.0', does: 'will do' },
];
for (const { version, does } of cases)
  test(`Node ${version} ${does}`, () => {
    const problem = nodeProblem(version);
    if (does === 'will do') assert.equal(problem, undefined);
    else assert.match(problem ?? '', new RegExp(`^Node.js 24 or newer is required, but this is ${version}; `));
  });
