import type { StoredFact } from '../../../src/facts/envelope.ts'
import { ulidIds } from '../../../src/facts/ids.ts'
import type { Log } from '../../../src/facts/log-port.ts'
import { memoryLog } from '../../../src/log/memory/memory-log.ts'
import { openRuntime, type Runtime } from '../../../src/runtime/open-runtime.ts'
import type { RuntimeOptions } from '../../../src/runtime/options.ts'
import type { Session } from '../../../src/runtime/session.ts'
import type { SessionState } from '../../../src/runtime/state-view.ts'
import { HeldModel } from './held-model.ts'
import { HeldTool, type HeldToolOptions } from './held-tool.ts'
import { FakeProcesses, type Severable, severable } from './severable-log.ts'
import { Labels, steps } from './steps.ts'
import { seededRandom, VirtualTime } from './virtual-time.ts'

export const scope = { tenant: 't', user: 'u', session: 's' }

export type RigOptions = Omit<Partial<RuntimeOptions>, 'catalog' | 'log'> & {
  readonly tools?: Readonly<Record<string, HeldToolOptions>>
  readonly seed?: number
  /** The log as the runtime is to see it, faults and all. */
  readonly store?: (log: Log) => Log
}

/**
 * Owns a store, virtual time, a held model and held tools, and one runtime at a time on them.
 * 1. Nothing happens that the test did not cause: time moves, models answer and tools return when it says so.
 * 2. A crash cuts the runtime off its store at once; what it still does reaches nobody.
 * 3. Events and live states of every runtime are kept, so that a test's end can compare them with the log.
 */
export class Rig {
  readonly time = new VirtualTime()
  readonly model = new HeldModel(() => this.time.settle())
  readonly tools: { readonly [name: string]: HeldTool }
  readonly store: Log
  readonly events: object[] = []
  readonly liveStates = new Map<number, SessionState>()
  readonly #options: RigOptions
  readonly #processes = new FakeProcesses()
  #link: Severable | null = null
  #runtime: Runtime | null = null
  #opens = 0
  #unsubscribe: () => void = () => {}

  constructor(options: RigOptions) {
    this.#options = options
    this.tools = Object.fromEntries(
      Object.entries(options.tools ?? {}).map(([name, tool]) => [
        name,
        new HeldTool(name, tool, () => this.time.settle()),
      ]),
    )
    this.store = memoryLog({
      clock: this.time,
      scheduler: this.time,
      random: seededRandom(7),
      processes: this.#processes,
    })
  }

  get runtime(): Runtime {
    if (this.#runtime === null) throw new Error('the rig has no runtime now')
    return this.#runtime
  }

  get session(): Session {
    return this.runtime.session(scope)
  }

  tool(name: string): HeldTool {
    const tool = this.tools[name]
    if (tool === undefined) throw new Error(`the rig has no tool ${name}`)
    return tool
  }

  async open(changes: Partial<RuntimeOptions> = {}): Promise<void> {
    const { tools: _tools, seed = 1, store = (log: Log) => log, ...options } = this.#options
    const link = severable(this.store, this.#processes)
    this.#link = link
    this.#opens += 1
    const random = seededRandom(seed + this.#opens)
    this.#runtime = await openRuntime({
      model: this.model,
      catalog: Object.values(this.tools).map((tool) => tool.definition),
      clock: this.time,
      scheduler: this.time,
      random,
      ids: ulidIds(this.time, random),
      ...options,
      ...changes,
      log: store(link.log),
    })
    this.#listen(this.#runtime)
    await this.time.settle()
  }

  /** The process dies between two turns of its loop. What it had not committed is gone. */
  crash(): void {
    this.#link?.sever()
    this.#runtime = null
  }

  async crashAndReopen(changes: Partial<RuntimeOptions> = {}): Promise<void> {
    await this.time.settle()
    this.crash()
    await this.open(changes)
  }

  /** Goes on with a runtime that was opened before; both live. */
  use(runtime: Runtime): void {
    this.#runtime = runtime
    this.#listen(runtime)
  }

  /** An orderly end of the process; waits out the grace in virtual time. */
  async close(): Promise<void> {
    const closed = this.runtime.close().then(() => true)
    while (!(await Promise.race([closed, this.time.advance(10).then(() => false)])));
    this.#runtime = null
  }

  async facts(): Promise<readonly StoredFact[]> {
    await this.time.settle()
    return this.session.log()
  }

  async steps(): Promise<string[]> {
    return steps(await this.facts())
  }

  /** The steps behind the nth, so that a test can look at what is new. */
  async stepsAfter(count: number): Promise<string[]> {
    return (await this.steps()).slice(count)
  }

  async stepCount(): Promise<number> {
    return (await this.facts()).at(-1)?.step ?? 0
  }

  async labels(): Promise<Labels> {
    return new Labels(await this.facts())
  }

  #listen(runtime: Runtime): void {
    this.#unsubscribe()
    this.events.length = 0
    const session = runtime.session(scope)
    const subscription = runtime.events(scope).subscribe((event) => {
      if (runtime !== this.#runtime || !('cursor' in event)) return
      this.events.push(event)
      session.state().then(
        (state) => this.liveStates.set(state.seq, state),
        () => {},
      )
    })
    this.#unsubscribe = () => subscription.unsubscribe()
  }
}

export async function openRig(options: RigOptions = {}): Promise<Rig> {
  const rig = new Rig(options)
  await rig.open()
  return rig
}
