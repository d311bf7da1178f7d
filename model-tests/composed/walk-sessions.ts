import type { SessionState } from '../../src/runtime/state-view.ts'
import type { ChartCoverage } from './chart-coverage.ts'
import { DrivenSession, type Move } from './driven-session.ts'

export interface Country {
  readonly name: string
  readonly moves: readonly Move[]
  /** Moves that are played before the walk begins. */
  readonly from: readonly Move[]
  /** Tasks that may wait behind the active one. */
  readonly waiting: number
  readonly edges: number
}

export interface Walked {
  readonly states: number
  readonly edges: number
  readonly depth: number
  /** States whose moves were not all tried, because the bound came first. */
  readonly open: number
}

const creates: ReadonlySet<string> = new Set(['start', 'followUp:success', 'followUp', 'supersede'])
const cap = (count: number, most = 1) => Math.min(count, most)

/**
 * What tells two sessions apart: states of the session, of its tasks and of their calls, the queue's and the slot's shape, how much
 * is quarantined and pending up to a cap, and what still runs. Ids, times and everything that only counts are left out.
 */
function project(state: SessionState | null, running: readonly string[]): string {
  if (state === null) return 'never opened'
  const context = state.session.context as {
    readonly slot: string | null
    readonly closing: string | null
    readonly orphans: readonly unknown[]
    readonly expire: boolean
  }
  const tasks = state.tasks
    .filter(({ state: at }) => at !== 'terminal')
    .map((task) => [task.value, taskShape(task.context)])
  const calls = state.calls.map(({ value, context: of }) => [value, (of as { effect: unknown }).effect])
  const shape = [context.slot !== null, context.closing, cap(context.orphans.length), context.expire]
  const queue = state.tasks
    .filter(({ id }) => state.queue.includes(id))
    .map(({ state: at, requires }) => [at, requires])
  return JSON.stringify([state.session.value, shape, queue, tasks, calls, cap(state.quarantined.length), running])
}

function taskShape(context: unknown): unknown {
  const { steering, interrupting, pauses, barrier, request, attempts, retryAt } = context as {
    readonly steering: readonly unknown[]
    readonly interrupting: boolean
    readonly pauses: Readonly<Record<string, { readonly reason: string }>>
    readonly barrier: { readonly status: string; readonly steering: string } | null
    readonly request: { readonly purpose: string } | null
    readonly attempts: number
    readonly retryAt: string | null
  }
  const reasons = Object.values(pauses).map(({ reason }) => reason)
  return [
    cap(steering.length),
    interrupting,
    reasons,
    barrier?.status,
    barrier?.steering,
    request?.purpose,
    cap(attempts, 2),
    retryAt !== null,
  ]
}

function isEnabled(move: Move, { waiting }: Country, state: SessionState | null, running: readonly string[]): boolean {
  const [what = '', to = ''] = move.split(':')
  const living = state?.tasks.filter((task) => task.state !== 'terminal').length ?? 0
  if (creates.has(move)) return living <= waiting
  if (['return', 'throw', 'lose', 'ask'].includes(what)) return running.includes(to) || running.includes(`${to}!`)
  if (what === 'stop') return running.includes(`${to}!`)
  const asks =
    state?.tasks.some(({ context }) => (context as { request?: unknown } | undefined)?.request != null) ?? false
  return ['final', 'calls', 'fail'].includes(what) ? asks : true
}

interface Place {
  readonly path: readonly Move[]
  readonly key: string
  readonly enabled: readonly Move[]
}

/**
 * Breadth first: from every situation that is found, every move that can be made in it, each by a real session of its own that is
 * led there by the shortest path and checked behind the move. What is found first is found by a shortest path.
 */
export async function walkSessions(country: Country, coverage: ChartCoverage): Promise<Walked> {
  const seen = new Set<string>()
  const shown = new Set<string>()
  const arrive = async (path: readonly Move[]): Promise<Place> => {
    const session = await DrivenSession.open()
    const { state, facts } = await session.playAll(path)
    const running = session.running()
    const last = facts.filter(({ step }) => step === facts.at(-1)?.step).map(({ type }) => type)
    const key = project(state, running)
    const sight = `${key} ${last}`
    if (!shown.has(sight)) coverage.visit(facts)
    shown.add(sight)
    return { path, key, enabled: country.moves.filter((move) => isEnabled(move, country, state, running)) }
  }
  const open: Place[] = [await arrive(country.from)]
  seen.add(open[0]?.key ?? '')
  let edges = 0
  let at = 0
  for (; at < open.length && edges < country.edges; at += 1) {
    const place = open[at] as Place
    for (const move of place.enabled) {
      edges += 1
      const next = await arrive([...place.path, move])
      if (seen.has(next.key)) continue
      seen.add(next.key)
      open.push(next)
    }
  }
  const depth = (open.at(-1)?.path.length ?? 0) - country.from.length
  return { states: seen.size, edges, depth, open: open.length - at }
}
