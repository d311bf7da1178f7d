import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { factsOf, lastResult, quickTool, rigWith, verifyAll } from './kit.ts'

const names = (tools: readonly { readonly name: string }[]) => tools.map(({ name }) => name)

describe('a tool that is loaded on demand', () => {
  it('is callable from the next step on, until the task ends', async () => {
    const rig = await rigWith([quickTool('look'), quickTool('rare', { load: 'demand' })])
    await rig.session.start('use the rare one')
    const first = await rig.model.next()
    expect(names(first.request.tools)).not.toContain('rare')
    first.calls(['rare'], ['tools_load', { names: ['rare'] }])
    const second = await rig.model.next()
    expect(names(second.request.tools).at(-1)).toBe('rare')
    expect((await factsOf(rig, 'call.refused')).map(({ data }) => data.code)).toEqual(['CAPABILITY_NOT_LOADED'])
    second.calls(['rare'])
    const third = await rig.model.next()
    expect(third.lastMessage?.content).toBe('rare done')
    third.text('done')
    await rig.time.settle()
    await rig.session.start('again')
    expect(names((await rig.model.next()).request.tools)).not.toContain('rare')
    await verifyAll(rig)
  })

  it('stays loaded over a crash, and is loaded once', async () => {
    const catalog = [quickTool('rare', { load: 'demand' })]
    const rig = await rigWith(catalog)
    await rig.session.start('use the rare one')
    ;(await rig.model.next()).calls(['tools_load', { names: ['rare'] }])
    await rig.model.next()
    await rig.crashAndReopen({ catalog })
    const again = await rig.model.next()
    expect(names(again.request.tools).at(-1)).toBe('rare')
    again.calls(['tools_load', { names: ['tool:rare', 'rare'] }])
    await rig.time.settle()
    expect(await lastResult(rig)).toEqual({ loaded: ['tool:rare', 'tool:rare'] })
    expect((await factsOf(rig, 'capability.loaded')).length).toBe(1)
    await verifyAll(rig)
  })

  it('is refused where it has no room, with the numbers, and what is loaded stays', async () => {
    const large = quickTool('large', { load: 'demand', description: 'x'.repeat(2_000) })
    const rig = await rigWith([quickTool('rare', { load: 'demand' }), large], {
      context: { windowTokens: 6_000, reserveTokens: 1_000, thresholdTokens: 5_000 },
    })
    await rig.session.start('load')
    ;(await rig.model.next()).calls(['tools_load', { names: ['rare', 'large', 'unheard-of'] }])
    const { request } = await rig.model.next()
    expect(names(request.tools).at(-1)).toBe('rare')
    const [refused] = await factsOf(rig, 'capability.refused')
    expect(refused?.data).toMatchObject({
      id: 'tool:large',
      code: 'CAPABILITY_DOES_NOT_FIT',
      margin: 512,
      ceiling: 5_000,
    })
    expect((refused?.data.need ?? 0) + 512).toBeGreaterThan(5_000)
    expect(await lastResult(rig)).toMatchObject({
      loaded: ['tool:rare'],
      refused: [
        { id: 'tool:large', code: 'CAPABILITY_DOES_NOT_FIT' },
        { id: 'unheard-of', code: 'NOT_FOUND' },
      ],
    })
    await verifyAll(rig)
  })

  it('is refused when it is revoked or may not be loaded', async () => {
    const catalog = [quickTool('revoked', { load: 'demand' }), quickTool('seen', { load: 'demand' })]
    const rig = await rigWith(catalog, {
      policy: ({ capability }) => ({ level: capability === 'tool:seen' ? 'inspect' : 'execute', confirm: 'none' }),
    })
    await rig.session.start('load')
    const first = await rig.model.next()
    await rig.runtime.catalog.revoke('revoked')
    first.calls(['tools_load', { names: ['revoked', 'seen'] }])
    await rig.time.settle()
    expect(await lastResult(rig)).toEqual({
      loaded: [],
      refused: [
        { id: 'tool:revoked', code: 'CAPABILITY_REVOKED' },
        { id: 'tool:seen', code: 'AUTHORIZATION_DENIED' },
      ],
    })
    await verifyAll(rig)
  })
})

describe('a core tool', () => {
  it('that does not fit fails the task at start', async () => {
    const rig = await rigWith([quickTool('large', { description: 'x'.repeat(2_000) })], {
      context: { windowTokens: 4_000, reserveTokens: 500 },
    })
    const handle = await rig.session.start('go')
    expect(await handle.outcome()).toMatchObject({ status: 'failed', code: 'CAPABILITY_DOES_NOT_FIT' })
    expect((await factsOf(rig, 'capability.refused')).map(({ data }) => data.id)).toEqual(['tool:large'])
    expect(rig.model.asked).toEqual([])
    await verifyAll(rig)
  })
})

describe('the catalog of a running task', () => {
  it('is the one that it started with; what the host replaced is stale for it', async () => {
    const rig = await rigWith([quickTool('look')])
    await rig.session.start('look')
    const first = await rig.model.next()
    rig.runtime.catalog.replace([quickTool('look', { description: 'Looks anew.' })])
    first.calls(['look'])
    const second = await rig.model.next()
    expect(second.request.tools.at(-1)?.description).toBe('Does look.')
    expect((await factsOf(rig, 'call.refused')).map(({ data }) => data.code)).toEqual(['STALE_CAPABILITY'])
    second.text('it is stale')
    await rig.time.settle()
    await rig.session.start('look again')
    const third = await rig.model.next()
    expect(third.request.tools.at(-1)?.description).toBe('Looks anew.')
    expect((await factsOf(rig, 'task.started')).map(({ data }) => data.generation)).toEqual([1, 2])
    await verifyAll(rig)
  })

  it('a request of an older description is rebuilt after a restart with a newer one', async () => {
    const rig = await rigWith([quickTool('look')])
    await rig.session.start('look')
    ;(await rig.model.next()).text('seen')
    await rig.time.settle()
    await rig.crashAndReopen({ catalog: [quickTool('look', { description: 'Looks anew.' })] })
    await rig.session.start('look again')
    expect((await rig.model.next()).request.tools.at(-1)?.description).toBe('Looks anew.')
    await verifyAll(rig)
  })

  it('a revoked capability is refused on the next call of a running task', async () => {
    const rig = await rigWith([quickTool('look')])
    await rig.session.start('look twice')
    ;(await rig.model.next()).calls(['look'])
    const second = await rig.model.next()
    await rig.runtime.catalog.revoke('look')
    second.calls(['look', { id: 'again' }], ['capabilities_list'])
    const third = await rig.model.next()
    expect((await factsOf(rig, 'call.refused')).map(({ data }) => data.code)).toEqual(['CAPABILITY_REVOKED'])
    expect(JSON.parse(third.lastMessage?.content ?? '')).toEqual({ items: [] })
    await verifyAll(rig)
  })
})

describe('policies', () => {
  it('judge what a call is about, when it is made', async () => {
    const tool = quickTool('read', {
      input: z.strictObject({ path: z.string() }),
      subject: (args) => (args as { path: string }).path,
    })
    const asked: (string | undefined)[] = []
    const rig = await rigWith([tool], {
      policy: ({ subject }) => {
        asked.push(subject)
        if (subject === 'boom') throw new Error('the policy breaks')
        return { level: subject === 'secret' ? 'inspect' : 'execute', confirm: subject === 'ask' ? 'each' : 'none' }
      },
    })
    await rig.session.start('read')
    const paths = ['open', 'secret', 'boom', 'ask'].map((path) => ['read', { path }] as const)
    ;(await rig.model.next()).calls(...paths)
    await rig.time.settle()
    expect(asked).toEqual(expect.arrayContaining([undefined, 'open', 'secret', 'boom', 'ask']))
    expect((await factsOf(rig, 'call.refused')).map(({ data }) => data.code)).toEqual([
      'AUTHORIZATION_DENIED',
      'AUTHORIZATION_DENIED',
    ])
    const [pause] = await rig.session.pauses()
    expect(pause?.reason).toBe('approval')
    await rig.session.confirm(pause?.token ?? '', 'allow')
    const second = await rig.model.next()
    expect(second.request.messages.slice(-4).map(({ content }) => content)).toEqual([
      'read done',
      expect.stringContaining('AUTHORIZATION_DENIED'),
      expect.stringContaining('AUTHORIZATION_DENIED'),
      'read done',
    ])
    await verifyAll(rig)
  })

  it('what is untrusted is not there without a policy', async () => {
    const origin = { id: 'mcp:far:look', provider: 'far', binding: 1, trust: 'untrusted' } as const
    const rig = await rigWith([quickTool('look', { origin })])
    await rig.session.start('look')
    const first = await rig.model.next()
    expect(names(first.request.tools)).not.toContain('look')
    first.calls(['look'], ['capabilities_list'])
    const second = await rig.model.next()
    expect((await factsOf(rig, 'call.refused')).map(({ data }) => data.code)).toEqual(['CAPABILITY_NOT_LOADED'])
    expect(JSON.parse(second.lastMessage?.content ?? '')).toEqual({ items: [] })
    await verifyAll(rig)
  })
})
