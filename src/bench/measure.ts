/** One timed run of one subject: returns its figure, in the unit that the case states. */
export type Subject = () => Promise<number> | number

export type Samples<K extends string> = { readonly [N in K]: readonly number[] | null }

interface Rounds {
  readonly rounds: number
  /** Rounds whose figures are thrown away, so that compilation and cold caches fall on nobody. */
  readonly warmUp?: number
}

/**
 * Runs the subjects in turn, round after round (A B A B ...), in this process: whatever slows the machine for a while
 * falls on all of them alike. A subject that is `null` (the product before it exists) gets no samples.
 */
export async function interleave<K extends string>(
  { rounds, warmUp = 1 }: Rounds,
  subjects: { readonly [N in K]: Subject | null },
): Promise<Samples<K>> {
  const names = Object.keys(subjects) as K[]
  const samples = {} as { [N in K]: number[] | null }
  for (const name of names) samples[name] = subjects[name] === null ? null : []
  for (let round = -warmUp; round < rounds; round += 1) {
    for (const name of names) {
      const figure = await subjects[name]?.()
      if (figure !== undefined && round >= 0) samples[name]?.push(figure)
    }
  }
  return samples
}

/** The value below which `share` of the samples lie, interpolated between neighbours. */
export function quantile(samples: readonly number[], share: number): number {
  if (samples.length === 0) throw new RangeError('quantile of no samples')
  const sorted = [...samples].sort((a, b) => a - b)
  const position = (sorted.length - 1) * share
  const below = sorted[Math.floor(position)] ?? Number.NaN
  const above = sorted[Math.ceil(position)] ?? Number.NaN
  return below + (above - below) * (position - Math.floor(position))
}

export function median(samples: readonly number[]): number {
  return quantile(samples, 0.5)
}

/**
 * The median over rounds of subject / floor. Each round gives its own ratio, so a slow spell that covers a whole round
 * cancels out, which a ratio of two medians would not promise.
 */
export function pairedRatio(subject: readonly number[], floor: readonly number[]): number {
  if (subject.length !== floor.length) throw new RangeError('paired samples of different lengths')
  return median(subject.map((figure, round) => figure / (floor[round] ?? Number.NaN)))
}

/** Milliseconds that `work` took. */
export async function elapsedMs(work: () => unknown): Promise<number> {
  const begun = performance.now()
  await work()
  return performance.now() - begun
}

export function perSecond(count: number, ms: number): number {
  return (count * 1000) / ms
}
