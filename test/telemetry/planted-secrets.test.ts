import { expect, it } from 'vitest'
import { ModelError } from '../../src/facts/ports.ts'
import { secrets } from '../redaction/corpus.ts'
import { refusal } from '../runtime/kit/check.ts'
import { openRig, scope } from '../runtime/kit/rig.ts'
import { type Watched, watch } from './watched.ts'

/** One for each place in which somebody may say something, so that a leak says where it came from. */
const planted = Object.fromEntries(
  [
    'input',
    'argument',
    'progress',
    'output',
    'error',
    'code',
    'model text',
    'reasoning',
    'subject',
    'answer',
    'steering',
    'reason',
    'failure',
  ].map((place, at) => [
    place,
    `${['ghp', 'glpat-', 'npm'][at % 3]}${at % 3 === 1 ? '' : '_'}${`q${at}Zk8`.repeat(10)}`,
  ]),
)

function said(place: string): string {
  return planted[place] ?? ''
}

async function everything(watched: Watched, told: readonly object[]): Promise<Record<string, string>> {
  const text = watched.telemetry.metrics()
  await watched.telemetry.close()
  const spans = watched
    .spans()
    .map(({ name, attributes, events, status, links }) => [name, attributes, events, status, links])
  return {
    'a line': JSON.stringify(watched.lines),
    'a span': JSON.stringify(spans),
    'a number of Prometheus': text,
    'a number of OpenTelemetry': JSON.stringify(await watched.metrics()),
    'an event': JSON.stringify(told),
  }
}

it.each([false, true])('INV-12: secrets that are said everywhere are told nowhere (content: %s)', async (content) => {
  const rig = await openRig({ tools: { look: { effect: 'read' }, ask: { effect: 'read' } } })
  const watched = await watch(rig.runtime, { content })
  const told: object[] = []
  const listening = rig.runtime.events(scope, { ephemeral: true }).subscribe((event) => told.push(event))
  for (const { secret } of secrets.slice(0, 20))
    expect((await refusal(rig.session.start('x', { commandId: secret }))).code).toBe('INVALID_INPUT')
  const handle = await rig.session.start(`use ${said('input')}`, { commandId: 'c1' })
  const first = await rig.model.next()
  for (const unit of said('model text')) first.send({ type: 'text', text: unit })
  for (const unit of said('reasoning')) first.send({ type: 'reasoning', text: unit })
  first.send({ type: 'call', name: 'look', arguments: { id: said('argument') } })
  first.send({ type: 'call', name: 'ask', arguments: { note: said('argument') } })
  first.send({ type: 'call', name: 'look', arguments: {} })
  first.send({ type: 'finish', reason: 'calls', usage: { input: 1, output: 1 } })
  first.end()
  const [look, fails] = [await rig.tool('look').next(), await rig.tool('look').next()]
  const ask = await rig.tool('ask').next()
  look.context.progress(`half of ${said('progress')}`)
  look.returns({ found: said('output') })
  fails.throws(Object.assign(new Error(`no ${said('error')}`), { code: said('code') }))
  ask.context.pause({ reason: 'input', subject: `what of ${said('subject')}?` }).catch((signal) => ask.throws(signal))
  await rig.session.steer(`and ${said('steering')}`)
  await rig.time.settle()
  const [pause] = await rig.session.pauses()
  await rig.session.resume(pause?.token ?? '', { decision: 'resume', input: said('answer') })
  ;(await rig.tool('ask').next()).returns('good')
  const second = await rig.model.next()
  second.throws(new ModelError({ code: 'QUOTA', retryable: true, message: said('failure'), reason: said('failure') }))
  await rig.time.settle()
  await rig.session.cancel({ reason: `because of ${said('reason')}` })
  expect((await handle.outcome()).status).toBe('cancelled')
  listening.unsubscribe()
  const places: Record<string, string> = {
    ...(await everything(watched, told)),
    'a fact': JSON.stringify(await rig.facts()),
  }
  for (const [what, secret] of Object.entries(planted))
    for (const [where, text] of Object.entries(places))
      expect(text.includes(secret), `${what} is in ${where}`).toBe(false)
  // It was all said: what is left of it is there.
  expect(places['an event']).toContain('half of [redacted]')
  expect(places['a fact']).toContain('because of [redacted]')
  expect(places['a line']?.includes('[redacted]')).toBe(content)
  await rig.close()
})
