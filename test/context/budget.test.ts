import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { askBudget, dueWarnings, inputTokens, usableInput } from '../../src/context/budget.ts'
import { factsOf, quickTool, rigWith, verifyAll } from '../capabilities/kit.ts'

const request = fc.record({ bytes: fc.nat(8_000), asked: fc.nat(3_000), received: fc.nat(4_000), settles: fc.nat(3) })

/** INV-15: no set of requests reserves more than the budget. */
describe('reservations', () => {
  it('of any set of concurrent requests stay within the budget', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20_000 }), fc.array(request, { maxLength: 60 }), (limit, requests) => {
        let used = 0
        const flights: { reservation: number; input: number; received: number }[] = []
        for (const { bytes, asked, received, settles } of requests) {
          const reserved = flights.reduce((sum, flight) => sum + flight.reservation, 0)
          const common = { occupancy: bytes, reserve: 2_000, window: 100_000, limit }
          const answer = askBudget({ ...common, used, reserved, asked })
          if (answer.affordable) {
            expect(answer.maxOutput).toBeGreaterThanOrEqual(0)
            expect(answer.maxOutput).toBeLessThanOrEqual(Math.min(asked, 2_000))
            flights.push({ reservation: answer.reservation, input: inputTokens(bytes), received })
            expect(used + reserved + answer.reservation).toBeLessThanOrEqual(limit)
          } else expect(limit - used - reserved).toBeLessThanOrEqual(inputTokens(bytes))
          for (const flight of flights.splice(0, settles))
            used += Math.min(flight.reservation, flight.input + flight.received)
        }
      }),
      { seed: 3, numRuns: 500 },
    )
  })
})

it('usable input ends where compaction begins, and before the reserve', () => {
  const policy = { windowTokens: 10_000, thresholdTokens: 8_000, tailMessages: 4, reserveTokens: 1_000 }
  expect(usableInput(policy)).toBe(8_000)
  expect(usableInput({ ...policy, reserveTokens: 3_000 })).toBe(7_000)
})

it('warnings are due at half and at nine tenths, and given once', () => {
  expect(dueWarnings(49, 100, new Set())).toEqual([])
  expect(dueWarnings(50, 100, new Set())).toEqual([50])
  expect(dueWarnings(95, 100, new Set())).toEqual([50, 90])
  expect(dueWarnings(95, 100, new Set([50]))).toEqual([90])
  expect(dueWarnings(95, null, new Set())).toEqual([])
})

describe('a turn', () => {
  it('ends at its bound of tool results, which is named', async () => {
    const rig = await rigWith([quickTool('dump', { run: () => 'x'.repeat(600) })], {
      limits: { toolTranscriptBytesPerTurn: 1_000 },
    })
    const handle = await rig.session.start('dump')
    ;(await rig.model.next()).calls(['dump', { id: 'a' }])
    ;(await rig.model.next()).calls(['dump', { id: 'b' }])
    expect(await handle.outcome()).toMatchObject({ status: 'failed', code: 'BUDGET_EXCEEDED' })
    expect((await factsOf(rig, 'budget.exceeded')).map(({ data }) => data)).toEqual([
      { what: 'toolTranscriptBytesPerTurn', used: 1_200, limit: 1_000 },
    ])
    await verifyAll(rig)
  })

  it('begins its own count', async () => {
    const rig = await rigWith([quickTool('dump', { run: () => 'x'.repeat(600) })], {
      limits: { toolTranscriptBytesPerTurn: 1_000 },
    })
    for (let turn = 0; turn < 3; turn += 1) {
      const handle = await rig.session.start('dump')
      ;(await rig.model.next()).calls(['dump'])
      ;(await rig.model.next()).text('done')
      expect((await handle.outcome()).status).toBe('completed')
    }
    await verifyAll(rig)
  })

  it('is warned as soon as its answer has used so much, also by the last one; cached tokens are counted once', async () => {
    const rig = await rigWith([], { budget: { tokens: 10_000 } })
    const handle = await rig.session.start('spend')
    ;(await rig.model.next()).says({ text: 'spent', usage: { input: 5_000, output: 100, cached: 4_000 } })
    expect(await handle.outcome()).toMatchObject({ status: 'completed', usage: { total: 5_100, cached: 4_000 } })
    expect((await factsOf(rig, 'budget.warning')).map(({ data }) => data)).toEqual([
      { what: 'tokens', used: 5_100, limit: 10_000, percent: 50 },
    ])
    await verifyAll(rig)
  })
})

describe('room for an answer (INV-15)', () => {
  it.each([0, -1, 1.5, '64', null, true])('is not taken away by settings: maxOutput %j', async (maxOutput) => {
    const rig = await rigWith([])
    const refused = { code: 'INVALID_INPUT', details: { field: 'settings.maxOutput' } }
    const settings = { maxOutput }
    for (const command of [
      rig.session.start('x', { settings }),
      rig.session.followUp('x', { settings }),
      rig.session.supersede('x', { settings }),
      rig.session.spawn('x', { settings }),
      rig.session.replace('x', 'x', { settings }),
    ])
      await expect(command).rejects.toMatchObject(refused)
    expect(await rig.session.log()).toEqual([])
    await expect(rigWith([], { settings })).rejects.toMatchObject(refused)
  })

  it('is kept by every window, and no reserve is without it', async () => {
    await expect(rigWith([], { context: { reserveTokens: 0 } })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      details: { field: 'context.reserveTokens' },
    })
    const rig = await rigWith([], { context: { windowTokens: 7 } })
    const handle = await rig.session.start('x')
    expect(await handle.outcome()).toMatchObject({ status: 'failed' })
    await verifyAll(rig)
  })
})
