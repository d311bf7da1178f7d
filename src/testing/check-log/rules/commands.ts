import type { Judged, Rule } from '../rule.ts'

/** Facts that say who decides, and do nothing by themselves. */
const formal: ReadonlySet<string> = new Set(['command.accepted', 'session.owned', 'run.resumed'])

/** INV-24: a repeat of a command id writes nothing, and its receipt is part of the step of what it did (page 2, Operator commands). */
function accepted({ view, fact, report }: Judged): void {
  if (fact.type !== 'command.accepted') return
  const { command, target, replacement, superseded } = fact.data
  if (fact.task !== null) report('INV-24', 'command.accepted names a task')
  if (view.commands.has(command)) report('INV-24', 'a command is accepted twice')
  if (view.step.accepted !== null) report('INV-24', 'one step accepts two commands')
  if (fact.command !== null && fact.command !== command)
    report('INV-24', 'command.accepted is of another command than its step')
  for (const id of [replacement, superseded]) {
    if (id !== undefined && !view.tasks.has(id) && !view.ended.has(id))
      report('INV-24', 'a receipt names a task that is not there')
  }
  if (target === '') report('INV-24', 'a receipt names nothing as its target')
}

export const commandsRule: Rule = {
  fact: accepted,
  /** Never a success that did nothing (page 2, Operator commands). */
  stepEnd(view, report) {
    const { accepted: receipt, types } = view.step
    if (receipt === null || (receipt.result !== 'applied' && receipt.result !== 'queued')) return
    if ([...types.keys()].every((type) => formal.has(type)))
      report('INV-24', receipt.seq, 'a command is applied and did nothing')
  },
}
