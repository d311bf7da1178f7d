import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { AgendaItem, Ask } from '../machines/agenda.ts'
import type { TaskContext } from '../machines/task-context.ts'
import type { Log, StepAppend } from '../src/facts/log-port.ts'
import type { Redactor } from '../src/facts/ports.ts'
import type { Step } from '../src/runtime/step.ts'
import { type Move, moves } from './differential/moves.ts'

/*
 * Planted bugs, at least one for each law. Each is put into the modules before they are loaded; then the same random sessions are
 * played as everywhere, and the checkers must find it within a few of them, and for the right reason.
 */
interface Canary {
  readonly law: string
  readonly bug: string
  /** Module, and what it exports instead. */
  readonly plant: () => void
  readonly found: RegExp
}

type Exports = Record<string, unknown>

const planted: string[] = []

/** Exports that replace those of a module; they may use the originals. */
function instead<T extends Exports>(path: string, change: (original: T) => Exports): void {
  planted.push(path)
  vi.doMock(path, async (load) => {
    const original = await load<T>()
    return { ...original, ...change(original) }
  })
}

type Machines = typeof import('../machines/task.machine.ts') &
  typeof import('../machines/session.machine.ts') &
  typeof import('../machines/call.machine.ts')

const canaries: readonly Canary[] = [
  {
    law: '1, persist, then act',
    bug: 'a store says that a step is durable, and has lost it',
    plant: () =>
      instead<typeof import('../src/log/memory/memory-log.ts')>('../src/log/memory/memory-log.ts', ({ memoryLog }) => ({
        memoryLog: (...options: Parameters<typeof memoryLog>) => forgetful(memoryLog(...options)),
      })),
    found: /the receipt differs|calls differs/,
  },
  {
    law: '2, the chart decides',
    bug: 'a turn completes over pending steering',
    plant: () => guards('task', { mayComplete: () => true }, () => completeAnyway()),
    found: /(steering|active|tasks) differs|INV-06/,
  },
  {
    law: '3, charts are pure',
    bug: 'a fold that counts how often it was called',
    plant: () => {
      let folds = 0
      instead<typeof import('../machines/task-fold.ts')>('../machines/task-fold.ts', ({ foldTask }) => ({
        foldTask: (...of: Parameters<typeof foldTask>) => {
          folds += 1
          return { ...foldTask(...of), watermark: folds }
        },
      }))
    },
    found: /watermark|deeply equal/,
  },
  {
    law: '4, one log, one bus',
    bug: 'a bus that leaves out the ends of turns',
    plant: () =>
      instead<typeof import('../src/bus/bus.ts')>('../src/bus/bus.ts', ({ createBus }) => ({
        createBus: (...of: Parameters<typeof createBus>) => {
          const bus = createBus(...of)
          const committed: typeof bus.committed = (facts) =>
            bus.committed(facts.filter((fact) => fact.type !== 'task.completed'))
          return new Proxy(bus, {
            get(target, name) {
              if (name === 'committed') return committed
              const value: unknown = Reflect.get(target, name, target)
              return typeof value === 'function' ? value.bind(target) : value
            },
          })
        },
      })),
    found: /deeply equal/,
  },
  {
    law: '5, raw content lives apart',
    bug: 'a reason that quotes what was asked',
    plant: () =>
      // Names of scopes pass the same door; the bug is in sentences.
      instead<typeof import('../src/runtime/free-text.ts')>('../src/runtime/free-text.ts', ({ freeText }) => ({
        freeText: (redactor: Redactor, text: string) => (text.includes(' ') ? 'a question' : freeText(redactor, text)),
      })),
    found: /expected true to be false/,
  },
  {
    law: '6, one terminal outcome',
    bug: 'a barrier that ends in another way than it began',
    plant: () => {
      guards('task', { concludes: () => true })
      instead<typeof import('../src/runtime/expand-ends.ts')>('../src/runtime/expand-ends.ts', ({ endTask }) => ({
        endTask: (step: Step, ask: Extract<Ask, { ask: 'endTask' }>) =>
          endTask(step, ask.status === 'superseded' ? { ...ask, status: 'cancelled' } : ask),
      }))
    },
    found: /tasks differs|INV-02/,
  },
  {
    law: '6, one terminal outcome',
    bug: 'an end that does not wait for what is in flight',
    plant: () =>
      instead('../machines/task-context.ts', () => ({
        nothingLives: () => true,
        isSettled: (_context: TaskContext) => true,
      })),
    found: /(lifecycle|active|tasks) differs|INV-04/,
  },
  {
    law: '7, uncertain effects are not repeated',
    bug: 'a change is tried again',
    plant: () => {
      guards('call', { mayRepeat: () => true })
      instead<typeof import('../src/runtime/expand-call-ends.ts')>(
        '../src/runtime/expand-call-ends.ts',
        ({ settleUncertain }) => ({
          settleUncertain: (step: Step, task: string, call: string, reason: Parameters<typeof settleUncertain>[3]) => {
            const attempt = step.world.calls.get(call)?.context.attempts ?? 1
            const lost: readonly AgendaItem[] = [{ type: 'call.interrupted', task, call, data: { attempt } }]
            return reason === 'crash' || reason === 'transport' ? lost : settleUncertain(step, task, call, reason)
          },
        }),
      )
    },
    found: /(active|calls|tasks) differs|the attempts of C\d+ differs|INV-22/,
  },
  {
    law: '7, uncertain effects are not repeated',
    bug: 'a quarantine that holds nothing',
    plant: () =>
      instead<typeof import('../src/runtime/admission.ts')>('../src/runtime/admission.ts', ({ judgeCall }) => ({
        judgeCall: (...of: Parameters<typeof judgeCall>) => {
          const verdict = judgeCall(...of)
          return verdict.kind === 'quarantine' ? { kind: 'start' } : verdict
        },
      })),
    found: /calls differs|INV-05/,
  },
  {
    law: '8, bounds on everything',
    bug: 'a queue without an end',
    plant: () =>
      guards('session', {
        isFollowUp: ({ event }) => event.type === 'task.created' && event.data.origin === 'follow_up',
      }),
    found: /LIMIT_EXCEEDED/,
  },
  {
    law: 'nothing accepted is lost',
    bug: 'steering of an ended turn is forgotten',
    plant: () =>
      instead<typeof import('../machines/session-fold.ts')>('../machines/session-fold.ts', ({ foldSession }) => ({
        foldSession: (...of: Parameters<typeof foldSession>) => ({ ...foldSession(...of), orphans: [] }),
      })),
    found: /(steering|active|tasks) differs|INV-06/,
  },
  {
    law: 'a crash loses nothing',
    bug: 'a new owner that leaves lost calls as they are',
    plant: () => instead('../src/runtime/recovery.ts', () => ({ recoveryAgenda: () => [] })),
    found: /differs/,
  },
]

type Guard = (here: {
  readonly context: never
  readonly event: { readonly type: string; readonly data: { readonly origin?: string } }
}) => boolean

/** A chart with other guards; `more` is planted with it. */
function guards(chart: 'session' | 'task' | 'call', other: Readonly<Record<string, Guard>>, more = () => {}): void {
  const name = `${chart}Machine` as const
  instead<Machines>(`../machines/${chart}.machine.ts`, (original) => ({
    [name]: original[name].provide({ guards: other } as never),
  }))
  more()
}

/** The boundary completes a turn whatever is pending. */
function completeAnyway(): void {
  instead<typeof import('../src/runtime/expand-requests.ts')>(
    '../src/runtime/expand-requests.ts',
    ({ continueTurn }) => ({
      continueTurn: (step: Step, task: string): readonly AgendaItem[] =>
        step.world.tasks.get(task)?.context.answered === true
          ? [{ ask: 'endTask', task, status: 'completed' }]
          : continueTurn(step, task),
    }),
  )
}

/** Every ninth step that it says it has stored, it has not. */
function forgetful(log: Log): Log {
  let appended = 0
  const append = async (steps: readonly StepAppend[]) => {
    appended += 1
    if (appended % 9 !== 0) return log.append(steps)
    const cursor = await log.lastCursor()
    return steps.map((_, at) => ({ ok: true as const, cursor: cursor + at + 1, duplicate: false }))
  }
  return new Proxy(log, {
    get(target, name) {
      if (name === 'append') return append
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

const lists = fc.sample(moves, { seed: 20_260_601, numRuns: 120 })

/** What the checkers say to a session, or null when they have nothing to say. */
async function complaint(list: readonly Move[]): Promise<string | null> {
  const { Pair } = await import('./differential/pair.ts')
  const { checkAll } = await import('../test/runtime/kit/check.ts')
  try {
    const pair = await Pair.open()
    for (const move of list) await pair.play(move)
    await checkAll(pair.rig)
    return null
  } catch (error) {
    return error instanceof Error ? `${error.message} ${JSON.stringify(error)}` : String(error)
  }
}

describe('planted bugs are found', () => {
  afterEach(() => {
    for (const path of planted.splice(0)) vi.doUnmock(path)
    vi.resetModules()
  })

  it.each(canaries.map((canary) => [canary.law, canary.bug, canary] as const))(
    'law %s: %s',
    { timeout: 120_000 },
    async (_law, _bug, { plant, found }) => {
      vi.resetModules()
      plant()
      let said: string | null = null
      for (const list of lists) {
        said = await complaint(list)
        if (said !== null) break
      }
      expect(said).toMatch(found)
    },
  )

  it('and nothing is found where nothing was planted', async () => {
    vi.resetModules()
    for (const list of lists.slice(0, 5)) expect(await complaint(list)).toBeNull()
  })
})
