import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { controlScope } from '../../src/facts/scope.ts'
import { memoryLog } from '../../src/log/memory/memory-log.ts'
import { scriptedModel } from '../../src/models/scripted-model.ts'
import { defaultRedactor } from '../../src/redaction/default-redactor.ts'
import { openRuntime, type Runtime } from '../../src/runtime/open-runtime.ts'
import { refusal } from './kit/check.ts'

const secret = `ghp_${'a1B2'.repeat(9)}`
const scope = { tenant: 't', user: 'u', session: 's' }
const model = scriptedModel({ everyTurn: [{ text: 'done' }] })

/** Every place where the library is told a tenant, a user, a session or an actor. */
function doors(runtime: Runtime): Readonly<Record<string, readonly [field: string, () => unknown]>> {
  const actor = secret
  return {
    'a session': ['session', () => runtime.session({ ...scope, session: secret })],
    'a user': ['user', () => runtime.session({ ...scope, user: secret })],
    'a tenant': ['tenant', () => runtime.session({ ...scope, tenant: secret })],
    'events of a session': ['session', () => runtime.events({ ...scope, session: secret })],
    'sessions of a user': ['user', () => runtime.sessions({ tenant: 't', user: secret })],
    'sessions of a tenant': ['tenant', () => runtime.sessions({ tenant: secret, user: 'u' })],
    'an elevated listing': ['actor', () => runtime.sessions({ elevated: { actor, scope: 'fleet' } })],
    'wide events': ['actor', () => runtime.reads.events({}, { elevated: { actor, scope: 'fleet' } })],
    'wide events of somebody': [
      'tenant',
      () => runtime.reads.events({ tenant: secret }, { elevated: { actor: 'a', scope: 'tenant' } }),
    ],
    'a revocation': ['actor', () => runtime.catalog.disableProvider('host', actor)],
  }
}

it('tenants, users, sessions and actors that look like credentials are refused wherever they are named, and stand nowhere', async () => {
  const log = memoryLog()
  const runtime = await openRuntime({ log, model })
  for (const [door, [field, open]] of Object.entries(doors(runtime))) {
    const refused = await refusal(async () => open())
    expect([door, refused.code, refused.details.field]).toEqual([door, 'INVALID_INPUT', field])
    expect(JSON.stringify(refused)).not.toContain(secret)
  }
  const source = runtime.session(scope)
  await (await source.start('go')).outcome()
  const checkpoint = await source.checkpoint()
  const moved = await refusal(runtime.restore(checkpoint, { scope: { ...scope, session: secret } }))
  expect([moved.code, moved.details.field]).toEqual(['INVALID_INPUT', 'session'])
  await runtime.close()
  const steps = await log.tail(0, 1_000)
  expect(steps.length).toBeGreaterThan(0)
  expect(JSON.stringify(steps)).not.toContain(secret)
  expect(await log.read(controlScope, { limit: 10 })).toEqual([])
})

it('what the redactor fails on names nobody', async () => {
  const clean = defaultRedactor()
  const text = (value: string) => {
    if (value === 'boom') throw new Error('no')
    return clean.text(value)
  }
  const runtime = await openRuntime({ log: memoryLog(), model, redactor: { ...clean, text } })
  const refused = await refusal(async () => runtime.session({ ...scope, user: 'boom' }))
  expect([refused.code, refused.details.field]).toEqual(['INVALID_INPUT', 'user'])
  await runtime.close()
})

it('ids as hosts make them are none that look like credentials', async () => {
  const runtime = await openRuntime({ log: memoryLog(), model })
  const made = (seed: number) => {
    const bytes = createHash('sha256').update(String(seed)).digest()
    return [
      bytes.toString('hex'),
      `s${bytes.toString('base64url')}`,
      `s${bytes.subarray(16).toString('base64url')}`,
      bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*/, '$1-$2-$3-$4-$5'),
    ]
  }
  const usual = ['ada@example.com', 'auth0|5f7c8ec7c33c6c004bbafe82', 'team/42', 'token-rotation', 'password reset']
  for (const session of [...usual, ...Array.from({ length: 100 }, (_, seed) => made(seed)).flat()])
    expect(runtime.session({ ...scope, session }).scope.session).toBe(session)
  await runtime.close()
})
