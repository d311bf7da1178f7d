import type { Rig } from './rig.ts'

/** Times at which requests that failed are made again, oldest failure first; undefined where they are not. */
export async function retryTimes(rig: Rig): Promise<(string | undefined)[]> {
  const facts = await rig.facts()
  return facts.flatMap((fact) => (fact.type === 'model.failed' ? [fact.data.retryAt] : []))
}

/** From now to the time that the last failure says. */
export async function retryWait(rig: Rig): Promise<number> {
  await rig.time.settle()
  return Date.parse((await retryTimes(rig)).at(-1) ?? '') - rig.time.now()
}
