import { ulidIds } from '../../../src/facts/ids.ts'
import { memoryLog } from '../../../src/log/memory/memory-log.ts'
import { scriptedModel } from '../../../src/models/scripted-model.ts'
import type { Receipt } from '../../../src/runtime/command.ts'
import { openRuntime, type Runtime } from '../../../src/runtime/open-runtime.ts'
import type { Session } from '../../../src/runtime/session.ts'
import { FakeProcesses } from '../../runtime/kit/severable-log.ts'
import { seededRandom, VirtualTime } from '../../runtime/kit/virtual-time.ts'
import { type Cut, type CutLog, cutLog } from './cut-log.ts'
import { FakeWorld } from './fake-world.ts'
import { nextMove, type Situation } from './moves.ts'

export const scope = { tenant: 't', user: 'u', session: 's' }

const call = (name: string) => ({ name, arguments: {} })
const spawn = { name: 'task_spawn', arguments: { input: 'the job' } }

/** Calls of every effect, a background task and its await, an approval, a question, a call that is cancelled, a request that is superseded, a retry, an end. */
const script: Parameters<typeof scriptedModel>[0] = {
  name: 'scripted',
  turns: [
    [
      { calls: [call('look'), call('put'), call('pay'), call('wire'), spawn] },
      { calls: [call('ask'), call('look'), call('task_await')] },
      { text: 'the first is done' },
    ],
    [{ calls: [call('slow'), call('put')] }, { text: 'the second is done' }],
    [{ hang: true }],
    [
      { error: { code: 'RATE_LIMITED', retryable: true }, times: 1, calls: [call('pay'), call('slow')] },
      { text: 'the fourth is done' },
    ],
  ],
  background: [{ calls: [call('put')] }, { text: 'the job is done' }],
  otherwise: { text: 'nothing more' },
}

export interface Options {
  readonly cuts: readonly Cut[]
  readonly recovery?: 'resume' | 'fail'
  readonly onUnknown?: 'continue' | 'pause'
  readonly end?: 'close' | 'erase'
}

const longestRun = 400

/**
 * Owns one run of the scenario: processes that die at their cuts, and an operator who repeats a command under the same id until
 * it has its receipt.
 */
export class Scenario {
  readonly time = new VirtualTime()
  readonly #processes = new FakeProcesses()
  readonly world = new FakeWorld()
  readonly store = memoryLog({
    clock: this.time,
    scheduler: this.time,
    random: seededRandom(7),
    processes: this.#processes,
  })
  readonly receipts = new Map<string, Receipt>()
  readonly #options: Options
  #opens = 0
  #link: CutLog | null = null
  #runtime: Runtime | null = null

  constructor(options: Options) {
    this.#options = options
  }

  get session(): Session {
    if (this.#runtime === null) throw new Error('no process lives')
    return this.#runtime.session(scope)
  }

  /** Writes of the process that lives now. */
  get writes(): number {
    return this.#link?.writes() ?? 0
  }

  async open(): Promise<void> {
    const link = cutLog(this.store, this.#processes, this.#options.cuts[this.#opens] ?? null)
    this.#link = link
    this.#opens += 1
    const random = seededRandom(this.#opens)
    const opening = openRuntime({
      log: link.log,
      model: scriptedModel(script),
      catalog: this.world.tools,
      clock: this.time,
      scheduler: this.time,
      random,
      ids: ulidIds(this.time, random),
      limits: { graceMs: 1_000 },
      recovery: this.#options.recovery ?? 'resume',
      onUnknown: this.#options.onUnknown ?? 'continue',
    })
    this.#runtime = await opening
    await this.time.settle()
  }

  /** The process dies between two turns of its loop, without a cut of its own. */
  async reopen(): Promise<void> {
    await this.time.settle()
    this.#link?.kill()
    await this.open()
  }

  async run(): Promise<void> {
    await this.open()
    for (let turns = 0; turns < longestRun; turns += 1) {
      if (this.#link?.dead() === true) await this.open()
      const situation = await this.#alive(this.#look())
      if (situation === null) continue
      const move = nextMove(situation, this.receipts, this.#options.end ?? 'close')
      if (move === 'done') return
      if (move === 'wait') await this.time.advance(500)
      else {
        const receipt = await this.#alive(move.send(this.session))
        if (receipt !== null) this.receipts.set(move.id, receipt)
      }
    }
    throw new Error(`the scenario did not end: ${JSON.stringify(await this.#look())}`)
  }

  async #look(): Promise<Situation> {
    await this.time.settle()
    const { session } = this
    const tasks = (await session.tasks()).filter(({ kind }) => kind === 'foreground')
    if (tasks.length === 0) return { tasks, pauses: [], calls: [], quarantined: [], lifecycle: 'new', waits: false }
    const state = await session.state()
    const value = state.session.value as { lifecycle: string }
    const active = state.tasks.find((task) => task.kind === 'foreground' && task.state === 'running')?.value
    return {
      tasks,
      pauses: await session.pauses(),
      calls: state.calls.map((one) => ({ value: String(one.value), name: (one.context as { name: string }).name })),
      quarantined: state.quarantined,
      lifecycle: value.lifecycle,
      waits: JSON.stringify(active ?? '').includes('requesting'),
    }
  }

  /** Null when the process died meanwhile: whoever waited for it got no answer. */
  async #alive<T>(promise: Promise<T>): Promise<T | null> {
    return Promise.race([promise, this.#link?.died.then(() => null) ?? null])
  }
}
