import { isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'
import type { StoredFact } from '../../../src/facts/envelope.ts'
import { isLandfallError } from '../../../src/facts/errors.ts'
import type { ModelRequest } from '../../../src/facts/ports.ts'
import type { Session } from '../../../src/runtime/session.ts'
import { checkLog } from '../../../src/testing/check-log.ts'
import type { Rig } from './rig.ts'

/**
 * What must hold at the end of every test: the log has no violation, every state that was live equals the fold of the log up
 * to it, the state of now does too, subscribers saw the log, and no fact holds what somebody said.
 */
export async function checkAll(rig: Rig, others: readonly Session[] = []): Promise<void> {
  const facts = await rig.facts()
  expect(checkLog(facts).violations).toEqual([])
  await checkStates(rig, facts)
  expect(rig.events.map(withoutResume)).toEqual(facts)
  await checkRequests(rig, others)
  await checkNothingRaw(rig, facts)
}

async function checkStates(rig: Rig, facts: readonly StoredFact[]): Promise<void> {
  const last = facts.at(-1)
  if (last === undefined) return
  expect(await rig.session.state()).toEqual(await rig.session.state({ at: last.seq }))
  for (const [seq, live] of rig.liveStates) expect(live).toEqual(await rig.session.state({ at: seq }))
  for (const fact of facts) expect((await rig.session.state({ at: fact.seq })).seq).toBe(fact.seq)
}

/** Each request that the model saw is the one rebuilt from the log at its fact; requests that no process sent are rebuilt too. */
async function checkRequests(rig: Rig, others: readonly Session[]): Promise<void> {
  const rebuilt: ModelRequest[] = []
  for (const session of [rig.session, ...others]) {
    const facts = await session.log()
    if (facts.some((fact) => fact.type === 'session.erased')) return
    for (const fact of facts)
      if (fact.type === 'model.requested') rebuilt.push(await session.request({ seq: fact.seq }))
  }
  for (const held of rig.model.asked) {
    const found = rebuilt.findIndex((request) => isDeepStrictEqual(request, held.request))
    if (found < 0) expect(rebuilt[0]).toEqual(held.request)
    rebuilt.splice(found, 1)
  }
}

async function checkNothingRaw(rig: Rig, facts: readonly StoredFact[]): Promise<void> {
  const text = JSON.stringify(facts)
  for (const message of await rig.session.messages())
    if (message.content.length >= 8) expect(text.includes(message.content)).toBe(false)
}

function withoutResume(event: object): object {
  const { resume, ...fact } = event as StoredFact & { resume: string }
  expect(resume).toMatch(/^[^-]+-\d+$/)
  expect(resume.endsWith(`-${fact.cursor}`)).toBe(true)
  return fact
}

/** A refusal: its code, and the details that the caller wants to look at. */
export async function refusal(promise: Promise<unknown> | (() => unknown)): Promise<{
  code: string
  details: Readonly<Record<string, unknown>>
}> {
  try {
    await (typeof promise === 'function' ? promise() : promise)
  } catch (error) {
    if (isLandfallError(error)) return { code: error.code, details: error.details }
    throw error
  }
  throw new Error('it was not refused')
}
