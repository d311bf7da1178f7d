import { group, offered, told } from './background-drafts.ts'
import { failFastLog, groupLog, orphansLog } from './background-logs.ts'
import { child } from './drafts.ts'
import { after, altered, describePlanted, without } from './plant.ts'

describePlanted('groups', {
  'INV-02': [
    ['members that did not join', altered(groupLog, ['group.sealed'], { members: ['B1'] }), ['group.sealed']],
    [
      'a group that is sealed twice',
      after(groupLog, ['group.sealed'], group('group.sealed', 'G1')),
      ['group.sealed', 1],
    ],
    [
      'a member of a group that fired',
      after(groupLog, ['group.resolved'], child('B9', { group: 'G1' })),
      ['task.created', 3],
    ],
    ['a member of no group', altered(groupLog, ['task.created', 1], { group: 'G9' }), ['task.created', 1]],
    [
      'a group that does not resolve with its last member',
      without(groupLog, ['group.resolved']),
      ['task.completed', 1],
    ],
    [
      'an empty group that does not resolve',
      [...groupLog.slice(0, 2), [group('group.sealed', 'G1')]],
      ['group.sealed'],
    ],
    ['a group that resolves unsealed', without(groupLog, ['group.sealed']), ['group.resolved']],
    [
      'a group that is cancelled after it resolved',
      after(groupLog, ['group.resolved'], group('group.cancelled', 'G1')),
      ['group.cancelled'],
    ],
    [
      'results of others',
      altered(groupLog, ['group.resolved'], { results: told(['B1', 'completed']) }),
      ['group.resolved'],
    ],
    [
      'results with another status',
      altered(groupLog, ['group.resolved'], { results: told(['B1', 'completed'], ['B2', 'failed']) }),
      ['group.resolved'],
    ],
    ['a group created anew', after(groupLog, ['group.resolved'], group('group.created', 'G1')), ['group.created', 1]],
  ],
  'INV-19': [
    [
      'a failure that leaves the rest running',
      [...failFastLog.slice(0, 6), (failFastLog[6] ?? []).slice(0, 2)],
      ['task.failed'],
    ],
    [
      'a group that does not fail fast',
      altered(failFastLog, ['group.created'], { failFast: false }),
      ['task.cancelling'],
    ],
    [
      'a group that is cancelled with a living member',
      [...failFastLog.slice(0, 9), [group('group.cancelled', 'G2')]],
      ['group.cancelled'],
    ],
  ],
})

describePlanted('results that are offered', {
  'INV-02': [
    ['to nobody', without(orphansLog, ['result.offered']), ['task.started', 4]],
    ['once more', after(orphansLog, ['result.offered', 1], offered('T3', 'B1')), ['result.offered', 2]],
    [
      'of a task that ended before its parent',
      after(orphansLog, ['result.offered'], offered('T2', 'B3')),
      ['result.offered', 1],
    ],
    ['of a turn', after(orphansLog, ['result.offered'], offered('T2', 'T1')), ['result.offered', 1]],
    ['to a background task', after(orphansLog, ['task.completed', 2], offered('B2', 'B1')), ['result.offered']],
    ['to a turn that had begun', after(orphansLog, ['task.failed'], offered('T2', 'B2')), ['result.offered', 1]],
  ],
})
