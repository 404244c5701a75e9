import assert from 'node:assert/strict';
import { test } from 'node:test';
import { actionsOf, planned } from './notation.ts';
import { rows } from './rows.ts';

const cases = rows(`
  a b          | a@old b@old                       | create a@new               | makes a new one beside an old one
  a b c        | a@old b@old c@old maxSurge=2      | create a@new, create b@new | makes as many as the budget has
  a b c        | a@old b@old c@old maxSurge=34%    | create a@new, create b@new | rounds a share up
  c b a        | c@old b@old a@old                 | create a@new               | is sorted by node name
  a b          | a@old/60 a@new!/30 b@old          |                            | waits for a new one that is not ready
  a b          | a@old/60 a@new/9 b@old minReadySeconds=10
               |                            | waits for a new one that is not ready for long enough
  a b c        | a@old/60 a@new!/30 b@old c@old maxSurge=2
               | create b@new               | goes on beside it as far as the budget allows
  a b          | a@old/60 a@new/30 b@old           | delete a-old (surged)      | removes the old one when the new one is available, first
  a b          | a@old-/60 a@new/30 b@old          | create b@new               | goes on when an old one is going
  a b          | a@new! b@old                      | create b@new               | goes on while a new one that stands alone is not ready
  a b          | a@new b@new                       |                            | is done when all are new
  a b c        | a@old! b@old! c@old
               | create a@new, create b@new, create c@new | makes a new one at once beside one that is broken
  a b c        | a@old/60 a@new!/30 b@old! c@old   | create b@new               | makes one beside a broken one whatever the budget
  a b          | a@new! b@old=9 minReadySeconds=10 | create b@new               | takes one that is not ready for long enough as broken
  a b          | a@old# b@new backoff=5            |                            | makes nothing beside a failed one that has to stay
  a b          | a@old# b@new                      | delete a-old (failed)      | removes a failed one first, whose place the new one takes
  a            | a@old/60 a@old#/30 backoff=5      |                            | makes nothing beside a failed one and another old one

  a~ b         | a@old! b@new                      | delete a-old (update)      | removes a broken one where it should not be
  a~ b         | a@old b@new!                      |                            | leaves one where it should not be while it is needed
  a~ b         | a@old b@new
               | delete a-old (update)      | removes one where it should not be when there are enough without
  a~ b         | a@old b@old
               | create b@new, delete a-old (update) | counts old ones that are needed as enough
  a~ b~ c~ d e | a@old b@old c@old d@new e@new!
               | delete a-old (update), delete b-old (update) | removes only as many as there are too many
  a~ b         | a@old b@old/60 b@new!/30          | delete a-old (update)      | counts the old one of two as available
  a~ b         | a@new b@new                       |                            | leaves a new one where it should not be
  b            | x@old b@old                       | create b@new               | does not touch what is on a node that is gone
  b            | x@old! b@old                      | create b@new               | does not fail on a broken one on a node that is gone
  b            | x@new x@new b@old                 |                            | counts excess on a node that is gone
  b            | x@old/60 x@new/30 b@new           | delete x-old (surged)      | removes the old one of two on a node that is gone
  a~ b         | a@old b@new! x@new                | delete a-old (update)      | counts what is on a node that is gone as available
  a b          | b@old                             | create a@new               | makes missing ones first
  a b          | a@old b@old maxSurge=0%           | delete a-old (update)      | takes a share of nothing as no surge
`);

for (const { why, does, situation } of cases)
  test(`a surge ${why}`, () => assert.equal(actionsOf(planned({ maxUnavailable: 0, maxSurge: 1, ...situation })), does));
