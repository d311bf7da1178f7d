import { describe, expect, it } from 'vitest'
import { formatFigure, jsonReport, textReport } from '../../src/bench/report.ts'
import { figureRow, type Result, sampledRow } from '../../src/bench/result.ts'

const machine = { node: '20.20.2', platform: 'linux-x64', cpus: 2, cpu: 'Test CPU', sqlite: '3.53.2', scale: 'quick' }

const measured: Result = {
  name: 'sequential-turn',
  conditions: 'one session',
  availability: 'measured',
  rows: [sampledRow({ what: 'turn 10', unit: 'ms', goal: 'ratio ≤ 2' }, [0.6, 0.9, 0.6], [0.4, 0.3, 0.4])],
}

const missing: Result = {
  name: 'fan-out',
  conditions: 'subscribers',
  availability: 'not available yet',
  reason: 'nothing to import',
  rows: [figureRow({ what: 'rate', unit: 'deliveries/s', goal: '-' }, null, 1_234_567)],
}

describe('rows', () => {
  it('hold medians and the paired ratio', () => {
    expect(measured.rows[0]).toMatchObject({ product: 0.6, floor: 0.4 })
    expect(measured.rows[0]?.ratio).toBeCloseTo(1.5)
  })

  it('have no ratio when one side is missing', () => {
    expect(missing.rows[0]).toMatchObject({ product: null, floor: 1_234_567, ratio: null })
    expect(sampledRow({ what: 'x', unit: 'ms', goal: '-' }, null, [1]).ratio).toBeNull()
  })
})

describe('formatFigure', () => {
  it.each([
    [null, '-'],
    [0, '0'],
    [0.012345, '0.0123'],
    [1.5, '1.5'],
    [999.4, '999'],
    [8200.4, '8,200'],
    [1_234_567, '1,230,000'],
  ])('%s is %s', (figure, text) => {
    expect(formatFigure(figure)).toBe(text)
  })
})

describe('reports', () => {
  it('the text says what is missing and why, and lines its columns up', () => {
    const text = textReport(machine, [measured, missing])
    expect(text).toContain('product not available yet: nothing to import')
    const lines = text.split('\n').filter((line) => line.startsWith('  '))
    expect(lines.find((line) => line.includes('turn 10'))).toMatch(/turn 10\s+0\.6\s+0\.4\s+1\.5\s+ms\s+ratio ≤ 2$/)
    const [head = '', row = ''] = lines
    expect(row.indexOf('ms')).toBe(head.indexOf('unit'))
    expect(row.indexOf('ratio ≤')).toBe(head.indexOf('goal'))
  })

  it('never judge', () => {
    const text = textReport(machine, [measured, missing]) + jsonReport(machine, [measured, missing])
    expect(text).not.toMatch(/\b(pass|fail|ok|met|missed)/i)
  })

  it('the JSON holds the figures unrounded', () => {
    expect(JSON.parse(jsonReport(machine, [measured, missing]))).toEqual({ machine, results: [measured, missing] })
  })
})
