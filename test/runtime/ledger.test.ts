import { expect, it } from 'vitest'
import { keyedDigest } from '../../src/facts/digest.ts'
import { factsOf } from '../capabilities/kit.ts'
import { checkAll } from './kit/check.ts'
import { openRig, scope } from './kit/rig.ts'

it('tells what was called, decided, cancelled and quarantined, and who looked, with digests as evidence', async () => {
  const rig = await openRig({
    tools: { look: { effect: 'read' }, pay: { effect: 'mutate', confirm: 'each' } },
    limits: { graceMs: 0 },
  })
  const handle = await rig.session.start('pay')
  ;(await rig.model.next()).calls(['look', { id: 'what nobody may read' }], ['pay'], ['nothing'])
  ;(await rig.tool('look').next()).returns('looked')
  await rig.time.settle()
  await rig.session.reduceGrant(handle.id, 'tool:look', { level: 'inspect', confirm: 'none' })
  const [pause] = await rig.session.pauses()
  await rig.session.confirm(pause?.token ?? '', 'allow')
  const pay = await rig.tool('pay').next()
  await rig.session.cancel({ reason: 'enough' })
  await rig.time.advance(1)
  await handle.outcome()
  pay.returns('paid all the same')
  await rig.time.settle()
  await rig.session.acknowledge('all')
  await rig.runtime.sessions({ tenant: 't', elevated: { actor: 'ann', scope: 'tenant' } })
  await rig.runtime.sessions({ tenant: 'other', elevated: { actor: 'ann', scope: 'tenant' } })
  const ledger = await rig.session.ledger()
  expect(ledger.map(({ kind }) => kind)).toEqual([
    'call',
    'call',
    'call',
    'outcome',
    'attempt',
    'outcome',
    'grant_reduction',
    'confirmation',
    'attempt',
    'cancellation',
    'outcome',
    'quarantine',
    'late',
    'acknowledgement',
    'elevated_read',
  ])
  const [asked] = await factsOf(rig, 'call.requested')
  const key = (await rig.store.head(scope))?.key ?? ''
  expect(ledger[0]).toMatchObject({ name: 'look', effect: 'read', evidence: asked?.data.arguments, call: asked?.call })
  expect(asked?.data.arguments).toBe(keyedDigest(key, { id: 'what nobody may read' }))
  expect(ledger.find(({ kind }) => kind === 'confirmation')).toMatchObject({ decision: 'approve', by: { id: 'u' } })
  expect(ledger.find(({ kind }) => kind === 'late')).toMatchObject({
    outcome: 'succeeded',
    evidence: keyedDigest(key, 'paid all the same'),
  })
  expect(ledger.find(({ kind }) => kind === 'cancellation')).toMatchObject({ status: 'cancelled', reason: 'enough' })
  expect(ledger.find(({ kind }) => kind === 'acknowledgement')).toMatchObject({ calls: [pay.id], by: { id: 'u' } })
  expect(ledger.at(-1)).toMatchObject({ actor: 'ann', surface: 'sessions', filter: { tenant: 't' } })
  expect(JSON.stringify(ledger)).not.toContain('nobody may read')
  const seqs = ledger.slice(0, -1).map(({ seq }) => seq)
  expect(seqs).toEqual([...seqs].sort((a, b) => a - b))
  expect(await rig.session.ledger({ limit: 3 })).toEqual(ledger.slice(0, 3))
  expect(await rig.session.ledger({ after: ledger[2]?.seq ?? 0, limit: 2 })).toEqual(ledger.slice(3, 5))
  expect(await rig.runtime.session({ ...scope, session: 'never' }).ledger()).toEqual([])
  await checkAll(rig)
})
