import { describe, expect, it } from 'vitest'
import { checkLog, createLogChecker } from '../../src/testing/check-log.ts'
import { backgroundLogs } from './background-logs.ts'
import { buildLog } from './log-builder.ts'
import { recordLogs } from './record-logs.ts'
import { validLogs } from './valid-logs.ts'
import { crashTrace, interruptTrace, supersedeTrace } from './worked-traces.ts'

const traces = { supersedeTrace, interruptTrace, crashTrace, ...validLogs, ...backgroundLogs, ...recordLogs }

describe('worked traces and ordinary logs', () => {
  for (const [name, trace] of Object.entries(traces)) {
    it(`finds nothing in the ${name}, nor in any prefix of whole steps`, () => {
      for (let steps = 1; steps <= trace.length; steps += 1) {
        const facts = buildLog(trace.slice(0, steps))
        expect(checkLog(facts)).toEqual({ facts: facts.length, violations: [] })
      }
    })
  }

  it('checks sessions interleaved as the bus has them', () => {
    const left = buildLog(supersedeTrace, { session: 'left' })
    const right = buildLog(crashTrace, { session: 'right' })
    const mixed = left.flatMap((fact, index) => [fact, ...right.slice(index, index + 1)])
    mixed.push(...right.slice(left.length))
    const checker = createLogChecker({ order: 'cursor' })
    mixed.forEach((fact, index) => {
      checker.push({ ...fact, cursor: index + 1 })
    })
    expect(checker.end()).toEqual({ facts: mixed.length, violations: [] })
  })

  it('reads a stream', async () => {
    async function* stream() {
      yield* buildLog(crashTrace)
    }
    const { facts, violations } = await checkLog(stream())
    expect(violations).toEqual([])
    expect(facts).toBe(buildLog(crashTrace).length)
  })

  it('takes facts as the bus gives them, with their resume position', () => {
    const facts = buildLog(crashTrace).map((fact) => ({ ...fact, resume: `e-${fact.cursor}` }))
    expect(checkLog(facts).violations).toEqual([])
  })
})
