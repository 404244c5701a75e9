import assert from 'node:assert/strict';
import { test } from 'node:test';
import { actionsOf, planned, type Situation } from './notation.ts';

interface Case extends Situation {
  why: string;
  does: string;
}

const cases: Case[] = [
  { why: 'makes a new one beside an old one', nodes: 'a b', pods: 'a@old b@old', does: 'create a@new' },
  { why: 'makes as many as the budget has', nodes: 'a b c', pods: 'a@old b@old c@old', maxSurge: 2, does: 'create a@new, create b@new' },
  { why: 'rounds a share up', nodes: 'a b c', pods: 'a@old b@old c@old', maxSurge: '34%', does: 'create a@new, create b@new' },
  { why: 'goes by the names of nodes', nodes: 'c b a', pods: 'c@old b@old a@old', does: 'create a@new' },
  { why: 'waits for a new one that is not ready', nodes: 'a b', pods: 'a@old/60 a@new!/30 b@old', does: '' },
  {
    why: 'waits for a new one that is not ready for long enough',
    nodes: 'a b',
    pods: 'a@old/60 a@new/9 b@old',
    minReadySeconds: 10,
    does: '',
  },
  {
    why: 'goes on beside it as far as the budget allows',
    nodes: 'a b c',
    pods: 'a@old/60 a@new!/30 b@old c@old',
    maxSurge: 2,
    does: 'create b@new',
  },
  {
    why: 'removes the old one when the new one is available, first',
    nodes: 'a b',
    pods: 'a@old/60 a@new/30 b@old',
    does: 'delete a-old (surged)',
  },
  { why: 'goes on when an old one is going', nodes: 'a b', pods: 'a@old-/60 a@new/30 b@old', does: 'create b@new' },
  { why: 'goes on while a new one that stands alone is not ready', nodes: 'a b', pods: 'a@new! b@old', does: 'create b@new' },
  { why: 'is done when all are new', nodes: 'a b', pods: 'a@new b@new', does: '' },
  {
    why: 'makes a new one at once beside one that is broken',
    nodes: 'a b c',
    pods: 'a@old! b@old! c@old',
    does: 'create a@new, create b@new, create c@new',
  },
  {
    why: 'makes one beside a broken one whatever the budget',
    nodes: 'a b c',
    pods: 'a@old/60 a@new!/30 b@old! c@old',
    does: 'create b@new',
  },
  {
    why: 'takes one that is not ready for long enough as broken',
    nodes: 'a b',
    pods: 'a@new! b@old=9',
    minReadySeconds: 10,
    does: 'create b@new',
  },
  {
    why: 'makes nothing beside a failed one that has to stay',
    nodes: 'a b',
    pods: 'a@old# b@new',
    memory: { backoffMs: () => 5 },
    does: '',
  },
  { why: 'removes a failed one first, whose place the new one takes', nodes: 'a b', pods: 'a@old# b@new', does: 'delete a-old (failed)' },
  {
    why: 'makes nothing beside a failed one and another old one',
    nodes: 'a',
    pods: 'a@old/60 a@old#/30',
    memory: { backoffMs: () => 5 },
    does: '',
  },

  { why: 'removes a broken one where it should not be', nodes: 'a~ b', pods: 'a@old! b@new', does: 'delete a-old (update)' },
  { why: 'leaves one where it should not be while it is needed', nodes: 'a~ b', pods: 'a@old b@new!', does: '' },
  {
    why: 'removes one where it should not be when there are enough without',
    nodes: 'a~ b',
    pods: 'a@old b@new',
    does: 'delete a-old (update)',
  },
  { why: 'counts old ones that are needed as enough', nodes: 'a~ b', pods: 'a@old b@old', does: 'create b@new, delete a-old (update)' },
  {
    why: 'removes only as many as there are too many',
    nodes: 'a~ b~ c~ d e',
    pods: 'a@old b@old c@old d@new e@new!',
    does: 'delete a-old (update), delete b-old (update)',
  },
  { why: 'counts the old one of two as available', nodes: 'a~ b', pods: 'a@old b@old/60 b@new!/30', does: 'delete a-old (update)' },
  { why: 'leaves a new one where it should not be', nodes: 'a~ b', pods: 'a@new b@new', does: '' },
  { why: 'does not touch what is on a node that is gone', nodes: 'b', pods: 'x@old b@old', does: 'create b@new' },
  { why: 'does not fail on a broken one on a node that is gone', nodes: 'b', pods: 'x@old! b@old', does: 'create b@new' },
  { why: 'counts excess on a node that is gone', nodes: 'b', pods: 'x@new x@new b@old', does: '' },
  { why: 'removes the old one of two on a node that is gone', nodes: 'b', pods: 'x@old/60 x@new/30 b@new', does: 'delete x-old (surged)' },
  { why: 'counts what is on a node that is gone as available', nodes: 'a~ b', pods: 'a@old b@new! x@new', does: 'delete a-old (update)' },
  { why: 'makes missing ones first', nodes: 'a b', pods: 'b@old', does: 'create a@new' },
  { why: 'takes a share of nothing as no surge', nodes: 'a b', pods: 'a@old b@old', maxSurge: '0%', does: 'delete a-old (update)' },
];

for (const { why, does, ...situation } of cases)
  test(`a surge ${why}`, () => assert.equal(actionsOf(planned({ maxUnavailable: 0, maxSurge: 1, ...situation })), does));
