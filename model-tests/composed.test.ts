import { expect, it } from 'vitest'
import { ChartCoverage } from './composed/chart-coverage.ts'
import { countries } from './composed/countries.ts'
import { DrivenSession } from './composed/driven-session.ts'
import { paths } from './composed/journeys.ts'
import { notDriven } from './composed/not-driven.ts'
import { walkSessions } from './composed/walk-sessions.ts'

/*
 * The composed session, walked through the real runtime on the memory log. Behind every move the log is judged by `checkLog`
 * (INV-01 to INV-07, INV-09, INV-11, INV-13, INV-17, INV-18, INV-20, INV-22) and the live state is compared with the fold (INV-08).
 */
it('walks the composed session breadth first, and says which parts of the charts the runtime goes through', {
  timeout: 3_600_000,
}, async () => {
  const coverage = new ChartCoverage()
  for (const country of countries) {
    const { states, edges, depth, open } = await walkSessions(country, coverage)
    console.log(`${country.name}: ${states} situations, ${edges} moves, ${depth} deep; ${open} situations not left yet`)
    // A small country may have fewer moves than were asked for; then it has been walked whole.
    if (open > 0) expect(edges, country.name).toBeGreaterThanOrEqual(country.edges)
  }
  for (const { moves, options } of paths) {
    const { facts } = await (await DrivenSession.open(options)).playAll(moves, true)
    coverage.visit(facts)
  }
  const { summary, unreached } = coverage.report()
  console.log(`${summary}; ${unreached.length} not driven, for ${notDriven.length} reasons`)
  expect(unreached.filter((name) => !notDriven.some(([, names]) => names.test(name)))).toEqual([])
  expect(notDriven.filter(([, names]) => !unreached.some((name) => names.test(name)))).toEqual([])
})
