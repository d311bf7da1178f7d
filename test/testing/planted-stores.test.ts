import { describe, expect, it } from 'vitest'
import type { StoredFact } from '../../src/facts/envelope.ts'
import { controlScope } from '../../src/facts/scope.ts'
import { createLogChecker } from '../../src/testing/check-log.ts'
import { digest, opened, said, turn } from './drafts.ts'
import { buildLog, type Steps } from './log-builder.ts'
import { after, altered, describePlanted, findings, without } from './plant.ts'
import { accepted, capabilityLog, commandLog, controlLog, memoryLog, restored, restoredLog } from './record-logs.ts'

describePlanted('restored sessions, notes and receipts', {
  'INV-02': [
    ['restored twice', after(restoredLog, ['session.restored'], restored), ['session.restored', 1]],
    ['something before it is restored', without(restoredLog, ['session.restored']), ['task.created']],
    [
      'a close before it is restored',
      after(restoredLog, ['message.added', 3], { type: 'session.closing', data: { then: 'close' } }),
      ['session.closing'],
    ],
    [
      'a message of no task in a session under way',
      after(restoredLog, ['model.requested'], { ...said('T1', 'user'), task: null }),
      ['message.added', 5],
    ],
    [
      'a note in a closed session',
      [
        ...memoryLog,
        [
          { type: 'session.closing', data: { then: 'close' } },
          { type: 'session.closed', data: {} },
        ],
        ...memoryLog.slice(1, 2),
      ],
      ['memory.put', 2],
    ],
  ],
  'INV-05': [
    [
      'a change under a restored quarantine',
      without(without(restoredLog, ['call.held']), ['mutation.acknowledged']),
      ['call.started'],
    ],
  ],
  'INV-08': [
    ['a note without a digest of it', altered(memoryLog, ['memory.put'], { digest: undefined }), ['memory.put']],
  ],
  'INV-13': [
    ['a restored call without a result', without(restoredLog, ['message.added', 2]), ['session.restored']],
    [
      'a restored result of another call',
      altered(restoredLog, ['message.added', 2], { forCall: 'C8' }),
      ['message.added', 2],
    ],
  ],
  'INV-15': [
    [
      'usage that the restored session forgets',
      altered(restoredLog, ['context.accounted'], { used: 0 }),
      ['context.accounted'],
    ],
  ],
  'INV-21': [
    ['a note of a user in a session', altered(memoryLog, ['memory.put'], { scope: 'user' }), ['memory.put']],
    [
      'a promotion in a session',
      after(memoryLog, ['memory.put'], {
        type: 'memory.promoted',
        data: { key: digest, scope: 'user', decision: 'denied' },
      }),
      ['memory.promoted'],
    ],
    [
      'a revocation in a session',
      after(memoryLog, ['memory.put'], { type: 'capability.revoked', data: { id: 'tool:pay' } }),
      ['capability.revoked'],
    ],
  ],
  'INV-24': [
    [
      'a note that was removed before',
      after(memoryLog, ['memory.removed'], ...(memoryLog[2] ?? [])),
      ['memory.removed', 1],
    ],
    [
      'a command that is accepted twice',
      [...commandLog, [accepted('c1', { result: 'joined' })]],
      ['command.accepted', 3],
    ],
    ['two commands in one step', after(commandLog, ['command.accepted'], accepted('c9')), ['command.accepted', 1]],
    ['a success that did nothing', [...commandLog, [accepted('c9')]], ['command.accepted', 3]],
    [
      'a receipt that names a task',
      after(commandLog, ['command.accepted', 2], { ...accepted('c9'), task: 'T1' }),
      ['command.accepted', 3],
    ],
    [
      'a receipt of another command',
      after(commandLog, ['command.accepted', 2], { ...accepted('c9'), command: 'c8' }),
      ['command.accepted', 3],
    ],
    [
      'a receipt with a replacement nobody made',
      altered(commandLog, ['command.accepted'], { replacement: 'T9' }),
      ['command.accepted'],
    ],
  ],
})

function inControl(steps: Steps, firstCursor = 0): StoredFact[] {
  return buildLog(steps, { scope: controlScope, firstCursor })
}

function both(control: readonly StoredFact[], session: readonly StoredFact[]): string[] {
  const checker = createLogChecker()
  for (const fact of [...control, ...session]) checker.push(fact)
  return checker.end().violations.map(({ invariant, session: id, message }) => `${invariant} ${id} ${message}`)
}

describe('the control stream', () => {
  it('takes what belongs to no session', () => {
    expect(findings(inControl(controlLog))).toEqual([])
  })

  it.each([
    ['a turn', [[opened, ...turn('T1')]], 'INV-21@1'],
    ['a note of a session', altered(controlLog, ['memory.put'], { scope: 'session' }), 'INV-21@7'],
    ['a promotion to the session', altered(controlLog, ['memory.promoted'], { scope: 'session' }), 'INV-21@5'],
    ['a promotion without a decision', altered(controlLog, ['memory.promoted'], { decision: undefined }), 'INV-21@5'],
  ] as const)('refuses %s', (_, steps, finding) => {
    expect(findings(inControl(steps))).toContain(finding)
  })

  it('overrides the snapshots of running tasks from its cursor on', () => {
    const session = buildLog(capabilityLog, { firstCursor: 100 })
    const calls = session.filter(({ type }) => type === 'call.started')
    expect(both(inControl(controlLog, 200), session)).toEqual([])
    expect(both(inControl(controlLog.slice(0, 2), 90), session)).toEqual([])
    const [first, second] = calls.map(({ cursor }) => cursor)
    if (first === undefined || second === undefined) throw new Error('two calls start')
    const revoked = { type: 'capability.revoked', data: { id: 'tool:pay' } } as const
    expect(both(inControl([[revoked]], 90), session)).toHaveLength(2)
    expect(both(inControl([[revoked]], first), session)).toEqual(['INV-11 s call.started of a revoked capability'])
    const disabled = { type: 'provider.disabled', data: { id: 'host' } } as const
    expect(both(inControl([[disabled]], first), session)).toEqual(['INV-11 s call.started of a disabled provider'])
  })
})
