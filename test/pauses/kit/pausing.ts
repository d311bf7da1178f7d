import type { PauseRequest } from '../../../src/capabilities/define-tool.ts'
import type { HeldCall } from '../../runtime/kit/held-tool.ts'
import type { Rig } from '../../runtime/kit/rig.ts'

export const onward = 'context.accounted T1 · model.requested T1'
export const end = 'model.completed T1 · message.added T1 {assistant} · task.completed T1'

/** The tool asks for a pause and lets the signal end its attempt. */
export async function pauses(rig: Rig, call: HeldCall, request: PauseRequest): Promise<void> {
  await call.context.pause(request).catch((signal: unknown) => call.throws(signal))
  await rig.time.settle()
}

/** Tokens of what is open, oldest first. */
export async function tokens(rig: Rig): Promise<readonly string[]> {
  await rig.time.settle()
  return (await rig.session.pauses()).map((pause) => pause.token).reverse()
}

export async function stateOf(rig: Rig): Promise<unknown> {
  await rig.time.settle()
  const task = (await rig.session.tasks())[0]
  return task?.status ?? task?.state
}

/** A turn whose first answer asks for these calls. */
export async function acting(rig: Rig, ...calls: (readonly [name: string, args?: unknown])[]): Promise<void> {
  await rig.session.start('do it')
  ;(await rig.model.next()).calls(...calls)
  await rig.time.settle()
}
