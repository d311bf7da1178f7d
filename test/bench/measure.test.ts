import { describe, expect, it } from 'vitest'
import { interleave, median, pairedRatio, perSecond, quantile } from '../../src/bench/measure.ts'

describe('median and quantile', () => {
  it('take the middle of an odd number and the mean of the middle two of an even number', () => {
    expect(median([9, 1, 5])).toBe(5)
    expect(median([4, 1, 3, 2])).toBe(2.5)
  })

  it('sort as numbers, leave the samples as they were and reach both ends', () => {
    const samples = [100, 9, 20]
    expect(quantile(samples, 0)).toBe(9)
    expect(quantile(samples, 1)).toBe(100)
    expect(quantile(samples, 0.75)).toBe(60)
    expect(samples).toEqual([100, 9, 20])
  })

  it('refuse to make a figure of nothing', () => {
    expect(() => median([])).toThrow(RangeError)
  })
})

describe('pairedRatio', () => {
  it('is the median of the ratios of each round, so that a slow round cancels out', () => {
    expect(pairedRatio([2, 200, 2], [1, 100, 1])).toBe(2)
    expect(pairedRatio([2, 6, 30], [1, 2, 3])).toBe(3)
  })

  it('refuses samples that are not of the same rounds', () => {
    expect(() => pairedRatio([1, 2], [1])).toThrow(RangeError)
  })
})

describe('interleave', () => {
  it('runs the subjects in turn and throws the warm-up away', async () => {
    const order: string[] = []
    const subject = (name: string, figures: number[]) => () => {
      order.push(name)
      return figures.shift() ?? Number.NaN
    }
    const samples = await interleave<'a' | 'b'>(
      { rounds: 2, warmUp: 1 },
      { a: subject('a', [9, 1, 2]), b: subject('b', [8, 3, 4]) },
    )
    expect(order.join(' ')).toBe('a b a b a b')
    expect(samples).toEqual({ a: [1, 2], b: [3, 4] })
  })

  it('gives no samples to a subject that is not there', async () => {
    const samples = await interleave<'a' | 'b'>({ rounds: 1 }, { a: null, b: async () => 7 })
    expect(samples).toEqual({ a: null, b: [7] })
  })
})

it('perSecond turns a count and milliseconds into a rate', () => {
  expect(perSecond(50, 250)).toBe(200)
})
