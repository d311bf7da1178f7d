import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { algorithms, applyCompaction, observedBeyond, summarise, summarised } from '../../machines/compaction.ts'
import type { EpisodeRecord } from '../../machines/episode.ts'
import { evict } from '../../machines/eviction.ts'
import {
  digestOfEntry,
  isMessage,
  isNote,
  type MessageRecord,
  newView,
  type Rank,
  ranks,
  type ViewEntry,
} from '../../machines/view.ts'
import { planEviction } from '../../src/context/eviction.ts'

type Told = Partial<Pick<MessageRecord, 'role' | 'rank' | 'episode'>> & { readonly calls?: number }

/** Entries for a list of answers and messages; an answer with calls is followed by their results. */
function conversation(told: readonly Told[]): readonly MessageRecord[] {
  const entries: MessageRecord[] = []
  const add = (more: Partial<MessageRecord>) => {
    const seq = entries.length + 1
    const common = { step: seq, digest: `d${seq}`, id: `m${seq}`, seq, task: 't', bytes: 100 }
    const plain = { toolCalls: [], forCall: null, synthetic: false, rank: ranks.text, episode: null, observed: false }
    entries.push({ ...plain, ...common, role: 'assistant', ...more })
  }
  for (const { calls = 0, role = 'assistant', rank = ranks.read, episode = null } of told) {
    const asked = Array.from({ length: calls }, (_, index) => ({ call: `c${entries.length}.${index}`, name: 'x' }))
    add({ role: calls > 0 ? 'assistant' : role, toolCalls: asked, episode })
    for (const { call } of asked) add({ role: 'tool', forCall: call, rank, episode })
  }
  return entries
}

const none: ReadonlyMap<string, EpisodeRecord> = new Map()
const sizeOf = (entry: ViewEntry) => (isMessage(entry) ? entry.bytes : 50)

/** What turns were told when they started, among their answers; `now` is the turn that goes on. */
function notesOfTurns(): readonly MessageRecord[] {
  const entries = conversation([{ role: 'system' }, { role: 'user' }, {}, { role: 'system' }, { role: 'user' }, {}])
  return entries.map((entry) => ({ ...entry, task: entry.seq > 3 ? 'now' : 't' }))
}

function question(
  entries: readonly ViewEntry[],
  more: { episodes?: typeof none; target?: number; most?: number; tailMessages?: number } = {},
) {
  const occupancy = entries.reduce((sum, entry) => sum + sizeOf(entry), 0)
  return { entries, episodes: none, sizeOf, occupancy, target: 0, most: occupancy, tailMessages: 1, ...more }
}

function ids(entries: readonly ViewEntry[]): readonly string[] {
  return entries.map((entry) => (isMessage(entry) ? entry.id : 'note'))
}

/** The ids that are left when so many bytes are to go. */
function left(entries: readonly ViewEntry[], bytes: number, episodes = none): readonly string[] {
  const asked = question(entries, { episodes })
  const plan = planEviction({ ...asked, target: asked.occupancy - bytes })
  return plan === null ? ids(entries) : ids(evict(entries, plan, episodes))
}

describe('what a turn was told when it started', () => {
  it('is left out like plain text when another turn goes on, and stays in its own', () => {
    expect(left(notesOfTurns(), 100)).toEqual(['m2', 'm3', 'm4', 'm5', 'm6'])
    expect(left(notesOfTurns(), 200)).toEqual(['m2', 'm4', 'm5', 'm6'])
    expect(left(notesOfTurns(), 10_000)).toContain('m4')
  })

  it('is part of what a summary tells of, but for the turn that goes on', () => {
    const entries = notesOfTurns()
    expect(ids(summarised(entries, 5))).toEqual(['m1', 'm2', 'm3'])
    const summary = { summary: true, digest: 's', step: 9, version: 1, of: 't' } as const
    expect(ids(summarise(entries, summary, 5))).toEqual(['m4', 'note', 'm5', 'm6'])
  })
})

describe('what is left out first', () => {
  it('is writes, reads, commands, errors, plain text, in this order, oldest first', () => {
    const entries = conversation([
      { role: 'user' },
      {},
      { calls: 1, rank: ranks.error },
      { calls: 1, rank: ranks.command },
      { calls: 1, rank: ranks.read },
      { calls: 1, rank: ranks.write },
      { role: 'user' },
    ])
    const goneAfter = (bytes: number) => ids(entries).filter((id) => !left(entries, bytes).includes(id))
    expect(goneAfter(1)).toEqual(['m9', 'm10'])
    expect(goneAfter(201)).toEqual(['m7', 'm8', 'm9', 'm10'])
    expect(goneAfter(401)).toEqual(['m5', 'm6', 'm7', 'm8', 'm9', 'm10'])
    expect(goneAfter(601)).toEqual(['m3', 'm4', 'm5', 'm6', 'm7', 'm8', 'm9', 'm10'])
    expect(goneAfter(801)).toEqual(['m2', 'm3', 'm4', 'm5', 'm6', 'm7', 'm8', 'm9', 'm10'])
    expect(left(entries, 901)).toEqual(['note', 'm11'])
  })

  it('is an ended episode only after plain text, whole, an action before what it rests on; its conclusion stays', () => {
    const entries = conversation([
      { role: 'user' },
      { calls: 1, episode: 'look' },
      { episode: 'look' },
      { calls: 1, episode: 'look' },
      { calls: 1, episode: 'act' },
      { calls: 1, episode: 'act' },
      {},
      { calls: 1, episode: 'open' },
      { role: 'user' },
    ])
    const episodes = new Map<string, EpisodeRecord>([
      ['look', { kind: 'exploration', basedOn: [], concludedBy: 'm5' }],
      ['act', { kind: 'action', basedOn: ['look'], concludedBy: 'm9' }],
      ['open', { kind: 'exploration', basedOn: [], concludedBy: null }],
    ])
    expect(left(entries, 1, episodes)).not.toContain('m12')
    const afterText = left(entries, 201, episodes)
    expect(afterText).not.toContain('m11')
    expect(afterText).toContain('m7')
    expect(left(entries, 301, episodes)).toEqual(['m1', 'm2', 'm3', 'm4', 'm5', 'm6', 'm9', 'm10', 'm14'])
    expect(left(entries, 501, episodes)).toEqual(['m1', 'm5', 'm6', 'm9', 'm10', 'm14'])
    expect(left(entries, 1_000, episodes)).toEqual(['note', 'm5', 'm6', 'm9', 'm10', 'm14'])
  })

  it('is less of the tail only where the window would not hold it', () => {
    const entries = conversation(Array.from({ length: 10 }, () => ({ calls: 1 })))
    const roomy = planEviction(question(entries, { target: 0, most: 1_700, tailMessages: 16 }))
    const tight = planEviction(question(entries, { target: 0, most: 500, tailMessages: 16 }))
    expect([roomy?.messagesAfter, tight?.messagesAfter]).toEqual([16, 4])
    expect(planEviction(question(conversation([{ calls: 3 }]), { tailMessages: 4 }))).toBeNull()
  })
})

const told = fc.record({
  role: fc.constantFrom('user' as const, 'assistant' as const, 'system' as const),
  calls: fc.integer({ min: 0, max: 3 }),
  rank: fc.constantFrom<Rank>(ranks.write, ranks.read, ranks.command, ranks.error),
  episode: fc.constantFrom(null, 'look', 'act', 'open'),
})
const someEpisodes = new Map<string, EpisodeRecord>([
  ['look', { kind: 'exploration', basedOn: [], concludedBy: 'm7' }],
  ['act', { kind: 'action', basedOn: ['look'], concludedBy: 'm12' }],
  ['open', { kind: 'exploration', basedOn: [], concludedBy: null }],
])

describe('any eviction', () => {
  it('keeps calls with their results, system messages and the order; is smaller; and is the same each time', () => {
    fc.assert(
      fc.property(
        fc.array(told, { maxLength: 30 }),
        fc.nat(4_000),
        fc.integer({ min: 1, max: 12 }),
        (list, target, tail) => {
          const entries = conversation(list)
          const asked = question(entries, { episodes: someEpisodes, target, tailMessages: tail, most: target })
          const plan = planEviction(asked)
          expect(planEviction(asked)).toEqual(plan)
          if (plan === null) return
          const kept = evict(entries, plan, someEpisodes)
          expect(kept.length).toBe(plan.messagesAfter)
          expect(plan.messagesAfter).toBeLessThan(plan.messagesBefore)
          expect(plan.bytesAfter).toBeLessThan(plan.bytesBefore)
          const messages = kept.filter(isMessage)
          expect(messages.map(({ seq }) => seq)).toEqual(messages.map(({ seq }) => seq).sort((a, b) => a - b))
          const there = new Set(ids(kept))
          for (const entry of entries) if (entry.role === 'system') expect(there.has(entry.id)).toBe(true)
          let open: readonly string[] = []
          for (const entry of messages) {
            if (entry.role === 'tool') {
              expect(entry.forCall).toBe(open[0])
              open = open.slice(1)
              continue
            }
            expect(open).toEqual([])
            open = entry.toolCalls.map(({ call }) => call)
          }
          expect(open).toEqual([])
        },
      ),
      { seed: 11, numRuns: 400 },
    )
  })
})

describe('views', () => {
  it('are compacted by the recorded name and numbers alone', () => {
    const entries = conversation([{ role: 'user' }, { calls: 1 }, { role: 'user' }]).map((entry) => ({
      ...entry,
      bytes: 9_000,
    }))
    const plan = {
      tailStart: 4,
      dropped: 2,
      observed: 0,
      messagesBefore: 4,
      messagesAfter: 2,
      bytesBefore: 4,
      bytesAfter: 2,
    }
    const of = { windowTokens: 400_000, episodes: none }
    const observed = newView([...entries])
    applyCompaction(observed, { ...plan, algorithm: algorithms.observe }, of)
    expect(observed.entries.map(digestOfEntry)).toEqual(['d1', 'd2', 'observed:d3', 'd4'])
    const evicted = newView([...entries])
    applyCompaction(evicted, { ...plan, algorithm: algorithms.evict }, of)
    expect(evicted.entries.map(digestOfEntry)).toEqual(['d1', 'd4'])
    const summed = newView([...entries])
    summed.checkpoint = { summary: true, version: 3, digest: 's', step: 9, of: null }
    applyCompaction(summed, { ...plan, algorithm: algorithms.summarise }, of)
    expect(summed.entries.map(digestOfEntry)).toEqual(['summary:3:s', 'd4'])
    expect([observed, evicted, summed].map(({ generation }) => generation)).toEqual([1, 1, 1])
    expect(summed.entries.some(isNote)).toBe(false)
  })

  it('observe outputs beyond a sixteenth of the window, within bounds', () => {
    expect([1_000, 32_768, 64_000, 400_000].map(observedBeyond)).toEqual([1_024, 2_048, 4_000, 8_192])
  })
})
