import { expect } from 'vitest'
import type { StoredFact } from '../../src/facts/envelope.ts'
import { isLandfallError, OutcomeUnknownError } from '../../src/facts/errors.ts'
import type { SessionState } from '../../src/runtime/state-view.ts'
import { checkLog } from '../../src/testing/check-log.ts'
import type { HeldRequest } from '../../test/runtime/kit/held-model.ts'
import type { HeldCall } from '../../test/runtime/kit/held-tool.ts'
import { openRig, type Rig, type RigOptions } from '../../test/runtime/kit/rig.ts'

/**
 * A move as text: what is done, and behind a colon to what. `calls:look,order` answers with two calls; `return:order` lets the
 * oldest attempt of that tool return; `wait:1000` moves time.
 */
export type Move = string

type Verdict = 'succeeded' | 'failed' | 'unknown'

/** One tool of each kind; the probe of the last one waits for a move. */
function tools(probes: ((verdict: Verdict) => void)[]): NonNullable<RigOptions['tools']> {
  return {
    look: { effect: 'read' },
    note: { effect: 'idempotent' },
    order: {},
    pay: { confirm: 'each' },
    slow: { timeoutMs: 1_000 },
    probed: { verify: () => new Promise((resolve) => probes.push(resolve)) },
  }
}

type Act = (session: DrivenSession, what: string) => unknown

const commands: Readonly<Record<string, Act>> = {
  start: ({ rig }) => rig.session.start('a question'),
  followUp: ({ rig }, requires) =>
    rig.session.followUp('and then?', { requires: requires === 'success' ? requires : 'none' }),
  supersede: ({ rig }) => rig.session.supersede('a better question'),
  steer: ({ rig }) => rig.session.steer('mind the gap'),
  interrupt: ({ rig }) => rig.session.steer('mind the gap', { mode: 'interrupt' }),
  cancel: ({ rig }, steering) => rig.session.cancel({ steering: steering === 'expire' ? steering : 'inherit' }),
  pause: ({ rig }) => rig.session.pause(),
  acknowledge: async ({ rig }, which) => {
    const { quarantined } = await rig.session.state()
    return rig.session.acknowledge(which === 'one' ? quarantined.slice(0, 1) : 'all')
  },
  close: ({ rig }) => rig.session.close({ cancel: true }),
  erase: ({ rig }) => rig.session.erase({ cancel: true }),
  reopen: ({ rig }) => rig.session.reopen(),
  cancelPending: async (of) => of.rig.session.cancel({ task: await of.pending() }),
  /** Below the active turn, if there is one, and in the newest group. */
  spawn: async (of, propagate) => of.spawns(propagate === 'isolate' ? propagate : 'cascade'),
  cancelChild: async (of) => of.rig.session.cancel({ task: await of.child() }),
  group: ({ rig }, how) => rig.session.group({ failFast: how === 'failFast' }),
  seal: async (of) => of.rig.session.groupOf(await of.group()).seal(),
  cancelGroup: async (of) => of.rig.session.groupOf(await of.group()).cancel(),
  unblock: async (of) => of.rig.session.unblock(await of.pending()),
  replace: async (of) => of.rig.session.replace(await of.pending(), 'another question'),
  resume: async (of, decision) => of.settles(await of.pauseAt(0), decision),
  resumeOldest: async (of, decision) => of.settles(await of.pauseAt(-1), decision),
  /** The call throws, and before anybody heard of it the cancel is on its way. */
  throwAndCancel: (of, name) => {
    of.attempt(name)?.throws(new Error('it went wrong'))
    return of.rig.session.cancel()
  },
}

const happenings: Readonly<Record<string, Act>> = {
  final: (of) => of.request()?.text('an answer at last'),
  calls: (of, names) => of.request()?.calls(...names.split(',').map((name) => [name, of.argumentsFor(name)] as const)),
  turnFinal: (of) => of.request(true)?.text('the turn is over'),
  turnCalls: (of, names) =>
    of.request(true)?.calls(...names.split(',').map((name) => [name, of.argumentsFor(name)] as const)),
  progress: (of, name) => of.rig.tool(name).calls.at(-1)?.context.progress({ fraction: 0.5 }),
  fail: (of, how) => of.request()?.fails('OVERLOADED', how === 'retry'),
  return: (of, name) => of.attempt(name)?.returns('it was done well'),
  throw: (of, name) => of.attempt(name)?.throws(new Error('it went wrong')),
  lose: (of, name) => of.attempt(name)?.throws(new OutcomeUnknownError('the line went dead')),
  stop: (of, name) => of.attempt(name)?.acknowledges(),
  ask: (of, name) => of.pauses(name),
  probe: (of, verdict) => of.probes.at(-1)?.(verdict as Verdict),
  wait: ({ rig }, ms) => rig.time.advance(Number(ms)),
  crash: (of) => of.crash(),
}

/**
 * Owns: a real session on virtual time and a memory log, played move by move.
 * 1. A move that the session refuses with a code, or that has nothing to act on, changes nothing.
 * 2. `check` judges the log and compares the live state with the fold of it.
 */
export class DrivenSession {
  readonly rig: Rig
  readonly probes: ((verdict: Verdict) => void)[]
  readonly #over = new Set<HeldRequest | HeldCall>()
  #ids = 0

  private constructor(rig: Rig, probes: DrivenSession['probes']) {
    this.rig = rig
    this.probes = probes
  }

  static async open(options: RigOptions = {}): Promise<DrivenSession> {
    const probes: DrivenSession['probes'] = []
    return new DrivenSession(await openRig({ tools: tools(probes), requestTimeoutMs: 10 ** 9, ...options }), probes)
  }

  async play(move: Move): Promise<void> {
    const [what = '', to = ''] = move.split(':')
    const command = commands[what]
    if (command !== undefined) await this.#command(command, to)
    else await (happenings[what] ?? unknownMove(move))(this, to)
    await this.rig.time.settle()
  }

  async #command(command: Act, to: string): Promise<void> {
    try {
      await command(this, to)
    } catch (error) {
      if (!isLandfallError(error)) throw error
      expect(error.code).not.toBe('INTERNAL')
    }
  }

  /** Plays a path and checks what it leads to; what goes wrong is told with the path. */
  async playAll(path: readonly Move[], each = false): ReturnType<DrivenSession['check']> {
    try {
      for (const move of path) {
        await this.play(move)
        if (each) await this.check()
      }
      return await this.check()
    } catch (error) {
      throw new Error(`after: ${path.join(' ')}`, { cause: error })
    }
  }

  async check(): Promise<{ state: SessionState | null; facts: readonly StoredFact[] }> {
    const facts = await this.rig.facts()
    if (facts.length === 0) return { state: null, facts }
    expect(checkLog(facts).violations).toEqual([])
    const state = await this.rig.session.state()
    expect(state).toEqual(await this.rig.session.state({ at: facts.length }))
    return { state, facts }
  }

  /** The newest request that waits for its answer, of whatever task or of a turn. */
  request(ofTurn = false): HeldRequest | undefined {
    const newest = this.rig.model.asked.findLast(
      (asked) => !this.#over.has(asked) && !asked.signal.aborted && (!ofTurn || asked.request.turn >= 0),
    )
    if (newest !== undefined) this.#over.add(newest)
    return newest
  }

  async spawns(propagate: 'cascade' | 'isolate'): Promise<void> {
    const { session } = this.rig
    const { context } = (await session.state().catch(() => null))?.session ?? { context: null }
    const parent = (context as { active: string | null } | null)?.active ?? null
    const group = (await session.groups()).at(-1)?.id
    await session.spawn('a job', {
      propagate,
      ...(parent === null ? {} : { parent }),
      ...(group === undefined ? {} : { group }),
    })
  }

  async child(): Promise<string> {
    const living = (await this.rig.session.tasks()).filter(
      (task) => task.kind === 'background' && task.state !== 'terminal',
    )
    return living.at(-1)?.id ?? 'none'
  }

  async group(): Promise<string> {
    return (await this.rig.session.groups()).at(-1)?.id ?? 'none'
  }

  /** Names of the tools whose attempts are under way in this process; with a mark when they were told to stop. */
  running(): readonly string[] {
    return this.#attempts().map(([name, call]) => (call.aborted ? `${name}!` : name))
  }

  #attempts(): readonly (readonly [string, HeldCall])[] {
    return Object.entries(this.rig.tools).flatMap(([name, tool]) =>
      tool.calls.filter((call) => !this.#over.has(call)).map((call) => [name, call] as const),
    )
  }

  attempt(name: string): HeldCall | undefined {
    const found = this.rig.tool(name).calls.find((call) => !this.#over.has(call))
    if (found !== undefined) this.#over.add(found)
    return found
  }

  /** Asks for an answer the way a tool does: whatever `ctx.pause` throws ends the attempt. */
  async pauses(name: string): Promise<void> {
    const attempt = this.attempt(name)
    if (attempt === undefined) return
    const asked = Promise.resolve().then(() => attempt.context.pause({ reason: 'authorization', subject: 'a sign-in' }))
    await asked.catch((pause: unknown) => attempt.throws(pause))
  }

  async crash(): Promise<void> {
    await this.rig.time.settle()
    this.rig.crash()
    for (const [, call] of this.#attempts()) this.#over.add(call)
    for (const request of this.rig.model.asked) this.#over.add(request)
    await this.rig.open()
  }

  async pending(): Promise<string> {
    const tasks = await this.rig.session.tasks()
    return tasks.find(({ state }) => state === 'blocked' || state === 'queued')?.id ?? tasks[0]?.id ?? 'none'
  }

  async pauseAt(index: number): Promise<string | undefined> {
    return (await this.rig.session.pauses()).at(index)?.token
  }

  async settles(token: string | undefined, decision: string): Promise<void> {
    if (token !== undefined)
      await this.rig.session.resume(token, { decision: decision as 'approve' | 'reject' | 'resume' | 'timeout' })
  }

  /** Calls that are not identical; planner tools take what they are made for. */
  argumentsFor(name: string): object {
    this.#ids += 1
    if (name === 'task_await') return {}
    return name === 'operator_ask' ? { question: `question ${this.#ids}?` } : { id: `${this.#ids}` }
  }
}

function unknownMove(move: Move): never {
  throw new Error(`there is no move ${move}`)
}
