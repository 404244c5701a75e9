import { rows, testRows } from './rows.ts';

const cases = rows(`
  none                         | create 0@new, create 1@new, create 2@new         | 0 creating     | makes all at once
  1@new                        | create 0@new, create 2@new                       | 0 creating     | makes what is missing
  0@new! 1@new                 | create 2@new                                     | 0 NotReady     | does not wait for one that is not ready
  0@new- 1@new                 | create 2@new                                     | 0 Terminating  | does not wait for one that is going
  0@new? 1@new                 | create 2@new                                     | 0 NotReady     | does not wait for one that is pending
  0@new=5 1@new minReady=9
    | create 2@new | 0 MinReadySeconds | does not wait until one is ready for long enough
  0@new# 1@new$                | delete 0 (ended), delete 1 (ended), create 2@new | 0 Failed       | deletes all that have ended
  0@new#- 1@new$- 2@new        |                                                  | 0 Terminating  | waits for an ended one to be gone
  0@new templates=data whenScaled=Delete claims=data-0,data-1^,data-2
    | create 2@new | 1 stale-claim | leaves a place whose claim is about to go
  2@new? templates=data claims=data-0-,data-1,data-2-
    | create 1@new; create 0@new (data-web-0 is going), storage 2 (data-web-2 is going) | 0 creating | makes all others when a claim is being deleted
  0@new? 1@new? 2@new? templates=data claims=data-1
    | storage 0 +data-web-0, storage 2 +data-web-2 | 0 NotReady | makes the missing claims of pending ones
  0@new~ 1@new~! 2@new         | repair 0, repair 1                               | 1 NotReady     | repairs what is wrong, ready or not
  0@new~- 1@new 2@new          |                                                  | 0 Terminating  | leaves what is going as it is
  0@new 1@new! 2@new 3@new- 4@new# replicas=1
    | delete 4 (scaled-down), delete 2 (scaled-down), delete 1 (scaled-down) | 4 scaling-down | deletes all that there is no place for, well or not
  0@new! 1@new replicas=1      | delete 1 (scaled-down)                           | 0 NotReady     | scales down though a place is not well
  0@new 1@new 2@new replicas=1 templates=data claims=data-0,data-1,data-2 whenScaled=Delete
    | owners 2, owners 1; delete 2 (scaled-down), delete 1 (scaled-down) | 2 scaling-down | names the owners of claims first
  0@old 1@old 2@old replicas=2 | delete 2 (scaled-down); delete 1 (update)        | 2 scaling-down | scales and updates in one look
  0@old 1@new                  | create 2@new                                     | 2 creating     | makes new ones and updates in one look
  0@new 1@new 2@new            |                                                  |                | has nothing to do
`);

testRows('in parallel, a set', cases, { parallel: true });
