import { LandfallError } from '../facts/errors.ts'
import type { Log } from '../facts/log-port.ts'
import type { ModelRequest } from '../facts/ports.ts'
import type { Scope } from '../facts/scope.ts'
import { Bodies } from './bodies.ts'
import { buildDesk } from './desk-builder.ts'
import { followView } from './lane.ts'
import type { Host } from './options.ts'
import { readFacts } from './read-facts.ts'
import { requestOf } from './request-of.ts'
import { prefixOf, summaryMessages, summaryRequestOf } from './summary-request.ts'

/** The request that a `model.requested` stands for, from the log and content alone. */
export async function rebuildRequest(host: Host, scope: Scope, seq: number): Promise<ModelRequest> {
  const { log } = host
  const fact = (await readFacts(log, scope, { after: seq - 1, limit: 1 }))[0]
  if (fact?.type !== 'model.requested' || fact.task === null)
    throw new LandfallError('NOT_FOUND', 'No model request was sent at this seq.', { details: { seq } })
  const { world } = await host.past.load(scope, seq)
  const record = world.taskRecords.get(fact.task)
  const key = await keyOf(log, scope)
  if (record?.started == null) throw new LandfallError('NOT_FOUND', 'The task of this request is not there.')
  const bodies = await Bodies.hydrate(world, log, scope)
  if (fact.data.purpose === 'summary') {
    const messages = summaryMessages(bodies, prefixOf(world, fact.task))
    return summaryRequestOf(messages, { ...fact.data, turn: record.turn })
  }
  const desk = buildDesk({ host, world, bodies, key }, record)
  followView(world, bodies, desk)
  return requestOf(desk, fact.data, record.started, record.turn)
}

async function keyOf(log: Log, scope: Scope): Promise<string> {
  const head = await log.head(scope)
  if (head?.key === undefined)
    throw new LandfallError('SESSION_ERASED', 'The content of this session was erased; its requests are gone.')
  return head.key
}
