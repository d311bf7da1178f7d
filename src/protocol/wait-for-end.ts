import { LandfallError } from '../facts/errors.ts'
import type { Outcome } from '../runtime/outcome.ts'
import type { Session } from '../runtime/session.ts'
import type { TaskView } from '../runtime/state-view.ts'
import type { SessionCall } from './route.ts'

export type EndedTask = TaskView & { readonly outcome?: Outcome }

const terminals = ['task.completed', 'task.failed', 'task.cancelled', 'task.superseded'] as const

/** The task as it stands, with its outcome when it has ended. */
export async function taskAsEnded(session: Session, task: string): Promise<EndedTask> {
  const view = (await session.tasks()).find(({ id }) => id === task)
  if (view === undefined)
    throw new LandfallError('NOT_FOUND', 'No such task in this session. List them first.', {
      details: { field: 'task' },
    })
  return view.state === 'terminal' ? { ...view, outcome: await session.task(task).outcome() } : view
}

/** Holds the answer until the task has ended, the time is over, the server closes or the client is gone. What it listens with is freed then. */
export async function waitForEnd(
  call: SessionCall<unknown, unknown>,
  task: string,
  seconds: number,
): Promise<EndedTask> {
  const { runtime, gate, scope, session, request } = call
  const { limits, clock, scheduler } = runtime.ports
  const waitMs = Math.ceil(seconds * 1_000)
  if (waitMs > limits.httpWaitMs)
    throw new LandfallError('LIMIT_EXCEEDED', 'An answer is not held that long. Ask again after it.', {
      details: { which: 'httpWaitMs', bound: limits.httpWaitMs, got: waitMs },
    })
  const now = await taskAsEnded(session, task)
  if (now.state === 'terminal') return now
  const events = runtime.events(scope, { after: await runtime.reads.position(), task, types: terminals })
  const ends = events[Symbol.asyncIterator]()
  let cancel = () => {}
  let release = () => {}
  try {
    // It may have ended before anybody listened.
    const meanwhile = await taskAsEnded(session, task)
    if (meanwhile.state === 'terminal') return meanwhile
    const over = new Promise<void>((resolve) => {
      cancel = scheduler.at(clock.now() + waitMs, resolve)
      release = gate.hold(resolve)
      request.signal.addEventListener('abort', () => resolve(), { once: true })
    })
    const heard = await Promise.race([ends.next(), over])
    if (heard?.value?.type === 'bus.closed') throw closing()
    return await taskAsEnded(session, task)
  } finally {
    cancel()
    release()
    await ends.return?.()
  }
}

function closing(): LandfallError {
  return new LandfallError('SHUTTING_DOWN', 'The server is closing before the task ended. Ask again.', {
    retryable: true,
  })
}
