import type { Step } from './step.ts'

/** Content of a command in memory, until it is refused. */
export function hold(step: Step, where: Map<string, string>, id: string, text: string): void {
  const before = where.get(id)
  where.set(id, text)
  step.undo.push(() => {
    if (before === undefined) where.delete(id)
    else where.set(id, before)
  })
}
