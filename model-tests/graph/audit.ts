import { isDeepStrictEqual } from 'node:util'
import { dataProblem } from '../../src/facts/schemas.ts'
import { actionName } from '../../src/inspector/chart-edges.ts'
import { brokenLaws } from './laws.ts'
import type { Visit } from './walk.ts'

/** Visits of one transition that are looked at twice over. More of the same would only take longer. */
const repeatsPerTransition = 20

/** Watches a walk for what must hold of every single transition. */
export function audit(): { readonly visit: (visited: Visit) => void; readonly problems: Set<string> } {
  const problems = new Set<string>()
  const repeats = new Map<unknown, number>()
  const visit = (visited: Visit): void => {
    const { before, fact, seen } = visited
    const say = (what: string) => problems.add(`${fact.type} in ${JSON.stringify(before.value)}: ${what}`)
    if (seen.alive.length > 0) say(`an actor lives: ${seen.alive.join(', ')}`)
    if (Object.keys(seen.next.children).length > 0) say('an actor was spawned')
    for (const problem of [...foldProblems(visited), ...brokenLaws(visited)]) say(problem)
    for (const taken of seen.taken) {
      const count = repeats.get(taken) ?? 0
      repeats.set(taken, count + 1)
      if (count >= repeatsPerTransition) continue
      for (const problem of purityProblems(visited)) say(problem)
      const wrong = dataProblem(fact.type, fact.data)
      if (wrong !== null) say(`is no valid fact, ${wrong}`)
    }
  }
  return { visit, problems }
}

/** Whether a fact was accepted is told by the snapshot alone, so each acceptance must fold, and fold once. */
function foldProblems({ before, fact, seen }: Visit): readonly string[] {
  const folds = seen.taken.filter(({ actions }) => actions.some((action) => actionName(action) === 'fold')).length
  const accepted = seen.next !== before
  if (!accepted) return seen.taken.length === 0 ? [] : ['a transition was taken and the snapshot is the same']
  return [
    ...(folds === 1 ? [] : [`was folded ${folds} times`]),
    ...(seen.next.context.seq === fact.seq ? [] : ['the context does not know the newest fact']),
  ]
}

/** The same snapshot and fact twice: the same result, and the snapshot as it was. */
function purityProblems({ before, fact, seen, chart }: Visit): readonly string[] {
  const untouched = JSON.stringify([before.value, before.context])
  const again = chart.offer(before, fact)
  const same =
    isDeepStrictEqual(again.next.value, seen.next.value) &&
    isDeepStrictEqual(again.next.context, seen.next.context) &&
    isDeepStrictEqual(again.asked, seen.asked)
  return [
    ...(same ? [] : ['two calculations differ']),
    ...(JSON.stringify([before.value, before.context]) === untouched ? [] : ['the snapshot before was changed']),
  ]
}
