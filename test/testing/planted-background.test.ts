import { progressed, spawned, walked, walkedOver } from './background-drafts.ts'
import { groupLog, orphansLog, slowChildLog, walkLog } from './background-logs.ts'
import { answered, asks, child, ended, requested, said, started } from './drafts.ts'
import type { Steps, TestDraft } from './log-builder.ts'
import { after, altered, before, describePlanted, without } from './plant.ts'
import { finish } from './valid-logs.ts'

const restrained = { 'tool:pay': { level: 'execute', confirm: 'each' } } as const
const freed = { 'tool:pay': { level: 'execute', confirm: 'none' } } as const
const grown = {
  'tool:pay': { level: 'load', confirm: 'none' },
  'tool:new': { level: 'discover', confirm: 'none' },
} as const

describePlanted('spawned tasks', {
  'INV-02': [
    ['a background task that waits', without(orphansLog, ['task.started', 1]), ['task.created', 1]],
    ['progress after the terminal', after(orphansLog, ['task.failed'], progressed('B2')), ['task.progress', 1]],
    ['progress before the start', before(orphansLog, ['task.started', 1], progressed('B1')), ['task.progress']],
    [
      'a background task that is superseded',
      altered(walkLog, ['task.cancelling', 1], { status: 'superseded' }),
      ['task.cancelling', 1],
    ],
  ],
  'INV-01': [
    ['a turn of origin spawn', altered(orphansLog, ['task.created', 1], { kind: 'foreground' }), ['task.created', 1]],
  ],
  'INV-06': [
    ['steering of a background task that does not expire', without(orphansLog, ['steering.expired']), ['task.failed']],
    [
      'steering of a background task that a turn inherits',
      after(orphansLog, ['task.started', 5], {
        type: 'steering.inherited',
        task: 'T3',
        data: { messages: ['M1'], from: 'B2' },
      }),
      ['steering.inherited'],
    ],
  ],
  'INV-10': [
    [
      'a child that needs no confirmation where its parent does',
      altered(altered(orphansLog, ['task.started'], { grants: restrained }), ['task.started', 1], { grants: freed }),
      ['task.started', 1],
    ],
    [
      'a child that may discover what its parent may not',
      altered(altered(orphansLog, ['task.started'], { grants: freed }), ['task.started', 1], { grants: grown }),
      ['task.started', 1],
    ],
  ],
  'INV-13': [
    [
      'a request with the messages of another lane',
      altered(orphansLog, ['model.requested', 1], { messages: 3 }),
      ['model.requested', 1],
    ],
    ['a turn that sees a lane', altered(orphansLog, ['model.requested', 4], { messages: 6 }), ['model.requested', 4]],
    [
      'a hand-off to a background task',
      altered(orphansLog, ['task.started', 1], { handoff: 'hmac-sha256:00' }),
      ['task.started', 1],
    ],
  ],
  'INV-15': [
    [
      'a background request beyond the shared budget',
      [...orphansLog.slice(0, 1), [...spawned('B1', {}).slice(0, 3), ...over()]],
      ['model.requested', 1],
    ],
    [
      'a background charge that the next account forgets',
      altered(orphansLog, ['context.accounted', 4], { used: 10 }),
      ['context.accounted', 4],
    ],
    [
      'a reservation that is not its request',
      altered(orphansLog, ['model.requested', 1], { reserved: 60 }),
      ['model.requested', 1],
    ],
  ],
  'INV-16': [
    [
      'a key used twice, after its task ended and with another owner',
      [
        ...groupLog,
        [{ ...child('B9', { idempotencyKey: 'S1' }), owner: { id: 'instance-2', epoch: 2 } }, started('B9')],
      ],
      ['task.created', 3],
    ],
    ['a turn with a key', altered(orphansLog, ['task.created', 4], { idempotencyKey: 'k' }), ['task.created', 4]],
  ],
  'INV-18': [
    [
      'a background task with a requirement',
      altered(orphansLog, ['task.created', 1], { requires: 'success' }),
      ['task.created', 1],
    ],
    [
      'a background task with a predecessor',
      altered(orphansLog, ['task.created', 1], { predecessor: 'T1' }),
      ['task.created', 1],
    ],
  ],
  'INV-19': [
    ['a parent of another session', altered(orphansLog, ['task.created', 1], { parent: 'T9' }), ['task.created', 1]],
    ['a turn with a parent', altered(orphansLog, ['task.created', 4], { parent: 'B2' }), ['task.created', 4]],
    [
      'completion that cascades',
      after(orphansLog, ['task.completed', 1], ...walked('B2', 'B1'), ...walkedOver('B2')),
      ['task.cancelling'],
    ],
    [
      'a living child behind a terminal one that is forgotten',
      [...walkLog.slice(0, 6), [...walked('T1'), ...walkedOver('T1')]],
      ['task.cancelled'],
    ],
    ['a walk that takes two steps', [...walkLog.slice(0, 6), walked('T1'), walked('B2', 'T1')], ['task.cancelling']],
    [
      'an isolated child that is cancelled beside',
      after(walkLog, ['task.quiescing', 1], ...walked('B3'), ...walkedOver('B3')),
      ['task.cancelling', 2],
    ],
    [
      'the subtree of an isolated child',
      after(walkLog, ['task.quiescing', 1], ...walked('B4', 'T1'), ...walkedOver('B4')),
      ['task.cancelling', 2],
    ],
    [
      'a descendant that fails instead',
      altered(walkLog, ['task.cancelling', 1], { status: 'failed' }),
      ['task.cancelling', 1],
    ],
    [
      'a terminal that does not wait for a child',
      [...slowChildLog.slice(0, 4), [ended('task.cancelled', 'T1')]],
      ['task.cancelled'],
    ],
    [
      'a child spawned into a barrier',
      [...slowChildLog.slice(0, 4), [child('B9', { parent: 'T1' }), started('B9')]],
      ['task.created', 2],
    ],
    ['a sibling', [...orphansLog.slice(0, 4), [...walked('B1'), ...walked('B3', 'B1')]], ['task.cancelling', 1]],
  ],
  'INV-23': [
    ['a ninth generation, of parents that have ended', generations(), ['task.created', 9]],
    ['a progress beyond the whole', altered(orphansLog, ['task.progress'], { fraction: 2 }), ['task.progress']],
    [
      'more steps than its own limit',
      altered(slowSteps(), ['task.created', 1], { limits: { stepsPerTurn: 1 } }),
      ['model.requested', 2],
    ],
  ],
})

function over(): TestDraft[] {
  const [account] = asks('B1', 0, 0, 75)
  return [{ ...account, data: { ...account?.data, limit: 149 } } as TestDraft, requested('B1', 0)]
}

/** Each ends before it is given a child. */
function generations(): Steps {
  const names = Array.from({ length: 9 }, (_, at) => `B${at}`)
  const first = [...spawned('B0', {}), ...finish('B0')]
  const rest = names
    .slice(1)
    .map((name, at) => [...spawned(name, { parent: `B${at}` }, 10 * (at + 1)), ...finish(name)])
  return [...orphansLog.slice(0, 1), first, ...rest]
}

function slowSteps(): Steps {
  return [...orphansLog.slice(0, 2), [answered('B1'), said('B1', 'assistant')], asks('B1', 1, 10, 75)]
}
