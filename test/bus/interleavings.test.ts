import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Bus, createBus } from '../../src/bus/bus.ts'
import { type BusEvent, isFact } from '../../src/bus/events.ts'
import type { StoredFact } from '../../src/facts/envelope.ts'
import { limits } from '../../src/facts/limits.ts'
import type { Log } from '../../src/facts/log-port.ts'
import type { Scheduler } from '../../src/facts/ports.ts'
import { memoryLog } from '../../src/log/memory/memory-log.ts'
import { rest, resumeOf } from './consumers.ts'
import { SessionWriter, scopeS } from './session-writer.ts'

type Chance = fc.Scheduler

/** Reads answer late, with what was there when they were asked or when they answer, as chance has it. */
function slowLog(log: Log, chance: Chance): Log {
  const slow = async <T>(name: string, read: () => Promise<T>): Promise<T> => {
    await chance.schedule(Promise.resolve(), `${name} asked`)
    const answer = await read()
    await chance.schedule(Promise.resolve(), `${name} answers`)
    return answer
  }
  return new Proxy(log, {
    get: (target, name) => {
      if (name === 'epoch') return () => slow('epoch', () => target.epoch())
      if (name === 'lastCursor') return () => slow('lastCursor', () => target.lastCursor())
      if (name === 'tail') return (after: number, limit: number) => slow('tail', () => target.tail(after, limit))
      if (name === 'read') return (...of: Parameters<Log['read']>) => slow('read', () => target.read(...of))
      const member: unknown = Reflect.get(target, name)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}

function chancyScheduler(chance: Chance): Scheduler {
  const later = (label: string, task: () => void): (() => void) => {
    let cancelled = false
    void chance.schedule(Promise.resolve(), label).then(() => {
      if (!cancelled) task()
    })
    return () => {
      cancelled = true
    }
  }
  return { soon: (task) => void later('soon', task), at: (_at, task) => later('timer', task) }
}

/** One reader that is cut off and comes back; facts pile up over all its subscriptions. */
class Client {
  readonly facts: BusEvent[] = []
  readonly problems: unknown[] = []
  losses = 0
  readonly #bus: Bus
  readonly #how: 'push' | 'pull'
  #after: string | undefined
  #subscription = 0
  #stop: () => void = () => {}
  #iterator: AsyncIterator<BusEvent> | null = null
  #pulling = false

  constructor(bus: Bus, how: 'push' | 'pull', after: string | undefined) {
    this.#bus = bus
    this.#how = how
    this.#after = after
    this.connect()
  }

  connect(): void {
    this.#stop()
    this.#subscription += 1
    const mine = this.#subscription
    const current = (event: BusEvent) => {
      if (this.#subscription === mine) this.#take(event)
    }
    const stream = this.#bus.events(scopeS, { after: this.#after })
    if (this.#how === 'push') {
      const subscription = stream.subscribe({ next: current, error: (error: unknown) => this.problems.push(error) })
      this.#stop = () => subscription.unsubscribe()
      return
    }
    const iterator = stream[Symbol.asyncIterator]()
    this.#iterator = iterator
    this.#stop = () => void iterator.return?.()
  }

  /** Pulls, one call at a time. */
  async pull(): Promise<boolean> {
    const iterator = this.#iterator
    if (iterator === null || this.#pulling) return false
    this.#pulling = true
    const result = await iterator.next()
    this.#pulling = false
    if (iterator === this.#iterator && result.done !== true) this.#take(result.value)
    return true
  }

  #take(event: BusEvent): void {
    if (event.type === 'bus.closed') return
    if (isFact(event)) this.facts.push(event)
    else this.losses += 1
    this.#after = resumeOf(event)
    if (!isFact(event)) this.connect()
  }
}

type Committer = 'own' | 'foreign' | 'other'

interface Move {
  readonly do: 'commit' | 'tell' | 'connect' | 'pull' | 'turn'
  readonly who: Committer
  readonly tellNow: boolean
  /** Facts to write, turns to let pass, or whose turn it is. */
  readonly n: number
}

const moves: fc.Arbitrary<Move[]> = fc.array(
  fc.record({
    do: fc.constantFrom('commit', 'commit', 'tell', 'connect', 'pull', 'turn', 'turn'),
    who: fc.constantFrom('own', 'foreign', 'other'),
    tellNow: fc.boolean(),
    n: fc.integer({ min: 1, max: 6 }),
  }),
  { maxLength: 60 },
)

/** The world of one run: own commits of the session and of another one, foreign ones, and who was told of what. */
class World {
  readonly writer: SessionWriter
  readonly #other: SessionWriter
  readonly #bus: Bus
  readonly #untold: StoredFact[][] = []

  constructor(log: Log, bus: Bus) {
    this.writer = new SessionWriter(log)
    this.#other = new SessionWriter(log, { ...scopeS, session: 's2' })
    this.#bus = bus
  }

  async commit(who: Committer, count: number, tellNow: boolean): Promise<void> {
    const types = Array.from({ length: count }, () => 'message.added' as const)
    const facts = await (who === 'other' ? this.#other : this.writer).write(types)
    if (who === 'foreign') return
    if (tellNow) this.#bus.committed(facts)
    else this.#untold.push(facts)
  }

  /** In any order: sessions that share a commit tell of it as they get to it. */
  tell(which: number): void {
    const [facts] = this.#untold.splice(which % Math.max(1, this.#untold.length), 1)
    if (facts !== undefined) this.#bus.committed(facts)
  }

  tellAll(): void {
    while (this.#untold.length > 0) this.tell(this.#untold.length - 1)
  }
}

async function settle(chance: Chance): Promise<void> {
  while (chance.count() > 0) await chance.waitOne()
}

async function play(world: World, clients: readonly Client[], move: Move, chance: Chance): Promise<void> {
  const client = clients[move.n % clients.length]
  if (move.do === 'commit') await world.commit(move.who, move.n, move.tellNow)
  else if (move.do === 'tell') world.tell(move.n)
  else if (move.do === 'connect') client?.connect()
  else if (move.do === 'pull') void client?.pull()
  else for (let at = 0; at < move.n && chance.count() > 0; at += 1) await chance.waitOne()
}

async function finish(world: World, clients: readonly Client[], chance: Chance): Promise<void> {
  world.tellAll()
  for (let rounds = 0; rounds < 40; rounds += 1) {
    await settle(chance)
    for (const client of clients) while (await Promise.race([client.pull(), rest().then(() => false)]));
    if (chance.count() === 0 && rounds > 2) break
  }
}

describe('random interleavings', () => {
  it('of commits, tellings, cuts and resumes end with exactly the facts of the log, in order, once', {
    timeout: 120_000,
  }, async () => {
    let losses = 0
    const bounds = fc.constantFrom(1, 3, 16, 256)
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        moves,
        bounds,
        fc.boolean(),
        async (chance, list, subscriberBufferEvents, calm) => {
          const scheduler = chancyScheduler(chance)
          const store = memoryLog({ scheduler })
          const bus = createBus({
            log: slowLog(store, chance),
            scheduler,
            limits: { ...limits, subscriberBufferEvents },
          })
          const world = new World(store, bus)
          const clients = [
            new Client(bus, 'push', undefined),
            new Client(bus, 'pull', undefined),
            new Client(bus, 'push', `${await store.epoch()}-0`),
            new Client(bus, 'push', 'now'),
          ]
          if (calm) await settle(chance)
          for (const move of list) await play(world, clients, move, chance)
          await finish(world, clients, chance)
          losses += clients.reduce((sum, client) => sum + client.losses, 0)
          const expected = world.writer.facts.map((fact) => fact.cursor)
          const got = clients.map((client) => client.facts.map((event) => (isFact(event) ? event.cursor : event.type)))
          for (const client of clients) expect(client.problems).toEqual([])
          for (const facts of got.slice(0, 3)) expect(facts).toEqual(expected)
          // A reader of what is to come may start anywhere, but from there on it misses nothing.
          const news = got[3] ?? []
          expect(news).toEqual(expected.slice(expected.length - news.length))
          if (calm && !list.some((move) => move.do === 'connect' && move.n % 4 === 3)) expect(news).toEqual(expected)
          bus.close()
        },
      ),
      { numRuns: 600, seed: 20_260_101 },
    )
    expect(losses).toBeGreaterThan(0)
  })
})
