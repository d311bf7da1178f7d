import {
  type Clock,
  type Model,
  type ModelChunk,
  ModelError,
  type ModelRequest,
  type Scheduler,
} from '../facts/ports.ts'
import { systemClock, systemScheduler } from '../facts/system-ports.ts'
import { type CheckedScript, checkScript, type Script, type ScriptStep } from './script.ts'
import { fillText, fillValue, placeholders } from './script-template.ts'

export interface ScriptedModelOptions {
  readonly clock?: Clock
  readonly scheduler?: Scheduler
}

type Wait = (ms: number, signal: AbortSignal) => Promise<void>

const nothingScripted: ScriptStep = { text: 'I have nothing scripted for this.' }

/** Depends on the request alone, so the same question has the same answer after a restart and in another process. */
function chooseStep(script: CheckedScript, request: ModelRequest): ScriptStep {
  const otherwise = script.otherwise ?? nothingScripted
  if (request.purpose === 'summary') return script.summary ?? otherwise
  const steps = request.turn < 0 ? script.background : (script.turns?.[request.turn] ?? script.everyTurn)
  return steps?.[request.step] ?? otherwise
}

function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason)
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

function waiter(clock: Clock, scheduler: Scheduler): Wait {
  return (ms, signal) =>
    new Promise((resolve, reject) => {
      const stop = (): void => {
        cancel()
        reject(signal.reason)
      }
      const cancel = scheduler.at(clock.now() + ms, () => {
        signal.removeEventListener('abort', stop)
        resolve()
      })
      if (signal.aborted) stop()
      else signal.addEventListener('abort', stop, { once: true })
    })
}

function failureOf(step: ScriptStep, attempt: number): ModelError | null {
  if (step.error === undefined || attempt > (step.times ?? Number.POSITIVE_INFINITY)) return null
  const { code, retryable, retryAfterMs } = step.error
  return new ModelError({ code, retryable, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) })
}

/** `delayMs` passes before each piece of text, and once before a failure or an answer without text. */
async function* answer(
  step: ScriptStep,
  request: ModelRequest,
  context: { signal: AbortSignal; attempt: number },
  wait: Wait,
): AsyncGenerator<ModelChunk> {
  const { signal, attempt } = context
  const pause = async (): Promise<void> => {
    if (step.delayMs !== undefined) await wait(step.delayMs, signal)
    signal.throwIfAborted()
  }
  signal.throwIfAborted()
  const values = placeholders(request)
  const texts = step.chunks ?? (step.text === undefined ? [] : [step.text])
  const failure = failureOf(step, attempt)
  if (failure !== null || texts.length === 0) await pause()
  if (failure !== null) throw failure
  if (step.reasoning !== undefined) yield { type: 'reasoning', text: fillText(step.reasoning, values) }
  for (const text of texts) {
    await pause()
    yield { type: 'text', text: fillText(text, values) }
  }
  if (step.hang === 'deaf') await new Promise<never>(() => {})
  if (step.hang === true) await rejection(signal)
  for (const call of step.calls ?? []) {
    const filled = fillValue(call.arguments, values)
    yield { type: 'call', name: call.name, arguments: filled, ...(call.id === undefined ? {} : { id: call.id }) }
  }
  if (step.garbage !== undefined) {
    // A stream that breaks off in the middle of a call: no complete arguments, no finish.
    yield { type: 'call', name: 'garbage', arguments: step.garbage }
    return
  }
  const reason = step.finish ?? ((step.calls?.length ?? 0) > 0 ? 'calls' : 'stop')
  yield { type: 'finish', reason, ...(step.usage === undefined ? {} : { usage: definedUsage(step.usage) }) }
}

function definedUsage(usage: NonNullable<ScriptStep['usage']>): { input: number; output: number } {
  const entries = Object.entries(usage).filter(([, value]) => value !== undefined)
  return { input: usage.input, output: usage.output, ...Object.fromEntries(entries) }
}

/** A deterministic model that answers from a script; refuses a wrong script with `INVALID_INPUT`. */
export function scriptedModel(script: Script, options: ScriptedModelOptions = {}): Model {
  const checked = checkScript(script)
  const clock = options.clock ?? systemClock
  const wait = waiter(clock, options.scheduler ?? systemScheduler({ clock }))
  return {
    name: checked.name ?? 'script',
    request: (request, context) => answer(chooseStep(checked, request), request, context, wait),
  }
}
