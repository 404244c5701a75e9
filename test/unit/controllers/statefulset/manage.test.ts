import { rows, testRows } from './rows.ts';

const places = rows(`
  0@new 1@new# 2@new           | delete 1 (ended)       | 1 Failed          | deletes one that failed
  0@new 1@new#- 2@new          |                        | 1 Terminating     | waits for a failed one to be gone

  none                         | create 0@new           | 0 creating        | makes the first
  0@new                        | create 1@new           | 1 creating        | makes the second when the first is available
  templates=data,log claims=log-0 | create 0@new +data-web-0 | 0 creating        | makes the claims first
  0@new templates=data whenScaled=Delete claims=data-0,data-1^ | | 1 stale-claim | makes nothing before a claim has gone with the pod before
  0@new templates=data claims=data-0,data-1^ | create 1@new | 1 creating | takes a claim of the pod before where claims stay

  0@new?                       |                        | 0 NotReady        | waits for a pending one
  0@new? templates=data,log claims=data-0 | storage 0 +log-web-0   | 0 NotReady        | makes the missing claims of a pending one
  0@new? templates=data claims=data-0 whenDeleted=Delete | owners 0 | 0 NotReady | puts the owners of the claims of a pending one right
  0@new! templates=data        |                        | 0 NotReady        | makes no claims of one that runs

  0@new-                       |                        | 0 Terminating     | never replaces one that is going
  0@new 1@new!                 |                        | 1 NotReady        | waits for one that is not ready
  0@new=9 minReady=10          |                        | 0 MinReadySeconds | waits until one is ready for long enough

  0@new~                       | repair 0; create 1@new | 1 creating        | puts a label right and goes on
  0@new* templates=data claims=data-0,data-1 | repair 0; create 1@new | 1 creating        | repairs volumes and goes on
`);

const leaving = rows(`
  0@new 1@new 2@new replicas=1         | delete 2 (scaled-down) | 2 scaling-down | begins with the highest
  0@new 1@new 2@new- replicas=1        |                        | 2 scaling-down | waits until it is gone
  0@new 1@new replicas=1               | delete 1 (scaled-down) | 1 scaling-down | takes the next then
  0@new 1@new! 2@new! replicas=1       |                        | 2 scaling-down | waits while a lower one is not well and it is not either
  0@new 1@new! 2@new replicas=1        | delete 2 (scaled-down) | 2 scaling-down | takes a well one though a lower one is not
  0@new 1@new 2@new! replicas=1        | delete 2 (scaled-down) | 2 scaling-down | takes one that is not ready when all others are
  0@new! 1@new! 2@new! replicas=0      |                        | 2 scaling-down | deletes none of three that are not ready
  0@old 1@old replicas=1               | delete 1 (scaled-down) | 1 scaling-down | comes before any update
  0@new 1@new 2@new start=2 replicas=1 | delete 1 (scaled-down) | 1 scaling-down | takes those below the first, the higher one first
  0@new 1@new 2@new 3@new +reserve-ordinals=1 | delete 1 (scaled-down) | 1 scaling-down | takes one whose place is reserved now
  0@new 1@new 2@new replicas=1 templates=data claims=data-0,data-1,data-2 whenScaled=Delete | owners 2, owners 1; delete 2 (scaled-down)
    | 2 scaling-down | names the owners of the claims of all before it deletes one
`);

testRows('in order, a place', places, { current: 'new' });

testRows('in order, scaling down', leaving, { current: 'new' });

const atOnce = rows(`
  none                    | create 0@new, create 1@new, create 2@new         | 0 creating    | makes all at once
  0@new# 1@new$           | delete 0 (ended), delete 1 (ended), create 2@new | 0 Failed      | deletes all that have ended
  2@new? templates=data claims=data-0-,data-1,data-2- | create 1@new; create 0@new (data-web-0 is going), storage 2 (data-web-2 is going)
    | 0 creating | makes all others when a claim is being deleted
  1@new taken=0 | create 2@new; create 0@new | 0 creating | makes all others when somebody else has the name of a place
  0@new* templates=data claims=data-0 replicas=2 | create 1@new +data-web-1; repair 0 | 1 creating
    | makes all others when a pod is without the volumes of its claims, since no server takes them later
  0@old* 1@new templates=data claims=data-0,data-1 replicas=2 | delete 0 (update) | 0 updating
    | puts nothing right at a pod that is replaced in the same look
  0@new~ 1@new~! 2@new    | repair 0, repair 1                               | 1 NotReady    | repairs what is wrong, ready or not
  0@new*- 1@new*- 2@new templates=data claims=data-0,data-1-,data-2 | | 0 Terminating
    | leaves what cannot be put right of one that is going
  0@new- 1@new 2@new templates=data claims=data-0,data-1,data-2 whenDeleted=Delete | owners 0, owners 1, owners 2 | 0 Terminating
    | puts the owners of the claims of one that is going right, since it may go on for long
  0@new 1@new! 2@new 3@new- 4@new# replicas=1 | delete 4 (scaled-down), delete 2 (scaled-down), delete 1 (scaled-down) | 4 scaling-down
    | deletes all that there is no place for, well or not
  0@new 1@new 2@new replicas=1 templates=data claims=data-0,data-1,data-2 whenScaled=Delete
    | owners 2, owners 1; delete 2 (scaled-down), delete 1 (scaled-down) | 2 scaling-down | names the owners of claims first
  0@old 1@old 2@old replicas=2 | delete 2 (scaled-down); delete 1 (update)        | 2 scaling-down | scales and updates in one look
`);

testRows('in parallel, a set', atOnce, { parallel: true });
