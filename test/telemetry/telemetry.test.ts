import { SpanStatusCode } from '@opentelemetry/api'
import { expect, it } from 'vitest'
import { readTraceparent } from '../../src/facts/trace-context.ts'
import { openRig } from '../runtime/kit/rig.ts'
import { watch } from './watched.ts'

const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'

async function oneTurn(options: { content?: boolean } = {}) {
  const rig = await openRig({ tools: { look: { effect: 'read' } } })
  const watched = await watch(rig.runtime, options)
  const handle = await rig.session.start('please look around', { traceparent })
  await rig.time.advance(500)
  ;(await rig.model.next()).calls(['look', { id: 'a' }], ['invented'])
  const call = await rig.tool('look').next()
  await rig.time.advance(2_000)
  call.returns('it is sunny')
  ;(await rig.model.next()).says({ text: 'sunny outside', usage: { input: 100, output: 7 } })
  await handle.outcome()
  await rig.time.settle()
  return { rig, watched, handle, call }
}

it('makes spans: task, run, request and call, each the parent of the next, in the trace that the command came with', async () => {
  const { rig, watched, call } = await oneTurn()
  const task = watched.span('task')
  const run = watched.span('invoke_agent landfall')
  const request = watched.span('chat held')
  const tool = watched.span('execute_tool look')
  for (const span of [task, run, request, tool])
    expect(span.spanContext().traceId).toBe('4bf92f3577b34da6a3ce929d0e0e4736')
  expect(task.parentSpanContext?.spanId).toBe('00f067aa0ba902b7')
  expect(run.parentSpanContext?.spanId).toBe(task.spanContext().spanId)
  expect(request.parentSpanContext?.spanId).toBe(run.spanContext().spanId)
  expect(tool.parentSpanContext?.spanId).toBe(run.spanContext().spanId)
  // What the tool was given is where its span is.
  const { traceId, spanId } = tool.spanContext()
  expect(readTraceparent(call.context.traceparent)).toMatchObject({ traceId, spanId })
  expect(task.links.map(({ context }) => context.spanId)).toEqual([watched.span('session').spanContext().spanId])
  expect(request.attributes).toMatchObject({
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': 'held',
    'gen_ai.usage.input_tokens': 10,
    'gen_ai.usage.output_tokens': 5,
    'gen_ai.response.finish_reasons': ['calls'],
  })
  expect(tool.attributes).toMatchObject({
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 'look',
    'gen_ai.tool.call.id': call.id,
    'landfall.call.outcome': 'succeeded',
  })
  expect(tool.duration).toEqual([2, 0])
  expect(run.events.map(({ name }) => name)).toContain('call.refused')
  expect(JSON.stringify(watched.spans().map((span) => [span.attributes, span.events]))).not.toContain('sunny')
  await rig.close()
})

it('a session is no parent of its turns: each is a trace of its own, linked to the span of its opening and found by its name', async () => {
  const rig = await openRig()
  const watched = await watch(rig.runtime)
  for (const text of ['one', 'two']) {
    const handle = await rig.session.start(text)
    ;(await rig.model.next()).text('done')
    await handle.outcome()
  }
  await rig.time.settle()
  const session = watched.span('session')
  const turns = watched.spans().filter(({ name }) => name === 'task')
  expect(turns).toHaveLength(2)
  for (const turn of turns) {
    expect(turn.parentSpanContext).toBeUndefined()
    expect(turn.links.map(({ context }) => context.spanId)).toEqual([session.spanContext().spanId])
    expect(turn.attributes['gen_ai.conversation.id']).toBe(session.attributes['gen_ai.conversation.id'])
  }
  const traces = new Set([session, ...turns].map((span) => span.spanContext().traceId))
  expect(traces.size).toBe(3)
  await rig.close()
})

it('ends what is open at a pause; what goes on after it is linked, in the same trace, and has no parent', async () => {
  const rig = await openRig({ tools: { look: { effect: 'read' } } })
  const watched = await watch(rig.runtime)
  await rig.session.start('go', { traceparent })
  ;(await rig.model.next()).calls(['look'])
  const call = await rig.tool('look').next()
  await rig.session.pause()
  call.returns('seen')
  await rig.time.settle()
  const before = watched.span('task')
  expect(before.attributes).toMatchObject({ 'landfall.stretch.end': 'paused' })
  await rig.time.advance(3_600_000)
  const [pause] = await rig.session.pauses()
  await rig.session.resume(pause?.token ?? '', { decision: 'resume' })
  ;(await rig.model.next()).text('done')
  await rig.time.settle()
  const after = watched.spans().filter(({ name }) => name === 'task')[1]
  expect(after?.parentSpanContext).toBeUndefined()
  expect(after?.spanContext().traceId).toBe(before.spanContext().traceId)
  expect(after?.links.map(({ context }) => context.spanId)).toContain(before.spanContext().spanId)
  expect(after?.attributes).toMatchObject({ 'landfall.task.status': 'completed' })
  for (const span of watched.spans()) expect(span.duration[0]).toBeLessThan(3_600)
  await rig.close()
})

it('goes on in another process with a link to what the lost one had, by ids that nobody told it', async () => {
  const rig = await openRig({ tools: { look: { effect: 'read' } } })
  const lost = await watch(rig.runtime)
  const handle = await rig.session.start('go', { traceparent })
  ;(await rig.model.next()).calls(['look'])
  await rig.tool('look').next()
  await rig.time.settle()
  const request = lost.span('chat held')
  await rig.crash()
  await rig.open()
  const found = await watch(rig.runtime)
  ;(await rig.tool('look').next()).returns('seen')
  ;(await rig.model.next()).fails('QUOTA', false)
  await rig.time.settle()
  const task = found.span('task')
  expect(task.spanContext().traceId).toBe(request.spanContext().traceId)
  expect(task.links).toHaveLength(2)
  expect(task.status.code).toBe(SpanStatusCode.ERROR)
  expect(task.attributes).toMatchObject({ 'landfall.task.id': handle.id, 'error.type': 'QUOTA' })
  await rig.close()
})

it('counts tokens, durations, outcomes, what waits and what is quarantined, for Prometheus and for a meter alike', async () => {
  const rig = await openRig({ tools: { order: {} }, limits: { graceMs: 100 } })
  const watched = await watch(rig.runtime)
  await rig.session.start('go')
  await rig.session.followUp('then')
  ;(await rig.model.next()).calls(['order'], ['invented "name"\n'])
  await rig.tool('order').next()
  expect(watched.telemetry.metrics()).toMatch(/^landfall_tasks_queued 1$/m)
  expect(watched.telemetry.metrics()).toMatch(/^landfall_tasks_active 1$/m)
  await rig.session.cancel()
  await rig.time.advance(1_000)
  ;(await rig.model.next()).text('done')
  await rig.time.settle()
  const text = watched.telemetry.metrics()
  expect(text).toMatch(/^landfall_calls_quarantined 1$/m)
  expect(text).toMatch(/^landfall_tasks_queued 0$/m)
  expect(text).toMatch(/^landfall_task_duration_seconds_count\{landfall_task_status="cancelled"\} 1$/m)
  expect(text).toMatch(/^landfall_calls_refused_total\{gen_ai_tool_name="unknown"\} 1$/m)
  expect(text).toMatch(
    /landfall_call_duration_seconds_count\{gen_ai_tool_name="order",landfall_call_outcome="unknown"\} 1/,
  )
  expect(text).toMatch(/gen_ai_client_token_usage_sum\{.*gen_ai_token_type="input"\} 20/)
  for (const line of text.trimEnd().split('\n'))
    expect(line).toMatch(/^(# (HELP|TYPE) \w+ .+|\w+(\{[^{}]*\})? [\d.e+-]+)$/)
  for (const { tenant, user, session } of [rig.session.scope])
    for (const whose of [tenant, user, session]) expect(text).not.toContain(`"${whose}"`)
  await rig.session.acknowledge('all')
  await rig.time.settle()
  expect(watched.telemetry.metrics()).toMatch(/^landfall_calls_quarantined 0$/m)
  expect(JSON.stringify(await watched.metrics())).toContain('gen_ai.client.token.usage')
  await rig.close()
})

it('has no more series than its bound, whatever tools are called', async () => {
  const { SeriesBook } = await import('../../src/telemetry/series.ts')
  const book = new SeriesBook()
  for (let at = 0; at < 1_000; at += 1) book.add('refused', 1, { 'gen_ai.tool.name': `tool ${at}` })
  expect(book.of('refused')).toHaveLength(257)
  expect(book.of('refused').at(-1)).toMatchObject({ labels: { 'gen_ai.tool.name': 'other' }, value: 744 })
})

it('writes a line for what is worth one, with ids and without content; with content only when it was asked for', async () => {
  const plain = await oneTurn()
  expect(plain.watched.lines.map(({ msg }) => msg)).toEqual(
    expect.arrayContaining(['task.created', 'model.completed', 'call.refused', 'call.finished', 'task.completed']),
  )
  const finished = plain.watched.lines.find(({ msg }) => msg === 'call.finished')
  expect(finished).toMatchObject({
    tool: 'look',
    outcome: 'succeeded',
    tenant: 't',
    user: 'u',
    session: 's',
    durationMs: 2_000,
  })
  expect(JSON.stringify(plain.watched.lines)).not.toMatch(/sunny|please look/)
  await plain.rig.close()
  const told = await oneTurn({ content: true })
  await told.watched.telemetry.close()
  expect(JSON.stringify(told.watched.lines)).toContain('please look around')
  expect(JSON.stringify(told.watched.spans().flatMap(({ events }) => events))).toContain('it is sunny')
  await told.rig.close()
})

it('is on record as one elevated read', async () => {
  const { rig } = await oneTurn()
  expect((await rig.facts()).every((fact) => fact.type !== 'audit.elevated')).toBe(true)
  const control = await rig.store.tail(0, 100)
  expect(JSON.stringify(control)).toContain('audit.elevated')
  await rig.close()
})
