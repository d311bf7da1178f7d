import { describe, expect, it } from 'vitest'
import { factsOf, lastResult, quickTool, rigWith, verifyAll } from '../capabilities/kit.ts'
import type { Rig } from '../runtime/kit/rig.ts'

const context = { windowTokens: 32_768, reserveTokens: 2_048, thresholdTokens: 24_000, tailMessages: 8 }
const huge = 'héllo wörld € '.repeat(8_000)

async function observed(output = huge): Promise<{ rig: Rig; observation: string; preview: string }> {
  const rig = await rigWith([quickTool('dump', { run: () => output })], { context })
  await rig.session.start('dump it')
  ;(await rig.model.next()).calls(['dump'])
  const { request } = await rig.model.next()
  const preview = request.messages.at(-1)?.content ?? ''
  const observation = /Observation (\w+):/.exec(preview)?.[1] ?? ''
  return { rig, observation, preview }
}

describe('a tool output that is larger than the window', () => {
  it('goes on as a reference and a preview, also when it is the newest message', async () => {
    const { rig, observation, preview } = await observed()
    const bytes = Buffer.byteLength(huge)
    expect(preview).toContain(`[Observation ${observation}: ${bytes} bytes, kept outside of the conversation.`)
    expect(preview).toContain(huge.slice(0, 300))
    expect(Buffer.byteLength(preview)).toBeLessThan(1_024)
    expect(preview).not.toContain('\uFFFD')
    const [compacted] = await factsOf(rig, 'context.compacted')
    expect(compacted?.data).toMatchObject({ algorithm: 'observe/v1', observed: 1, dropped: 0 })
    expect(compacted?.data.messagesAfter).toBe(compacted?.data.messagesBefore)
    const whole = (await rig.session.messages()).find(({ id }) => id === observation)
    expect(whole?.content).toBe(huge)
    await verifyAll(rig)
  })

  it('is shown in the same way after a crash', async () => {
    const { rig, preview } = await observed()
    await rig.crashAndReopen({ catalog: [] })
    expect((await rig.model.next()).request.messages.at(-1)?.content).toBe(preview)
    await verifyAll(rig)
  })
})

describe('observation_read', () => {
  async function read(rig: Rig, args: object): Promise<Record<string, unknown>> {
    rig.model.asked.at(-1)?.calls(['observation_read', args])
    await rig.time.settle()
    return (await lastResult(rig)) as Record<string, unknown>
  }

  it('gives the whole in ranges that are cut where characters end', async () => {
    const { rig, observation } = await observed()
    const parts: string[] = []
    let offset = 0
    for (let reads = 0; reads < 24; reads += 1) {
      const { text, next, size } = await read(rig, { observation, offset })
      expect(size).toBe(Buffer.byteLength(huge))
      parts.push(String(text))
      if (next === undefined) break
      offset = Number(next)
    }
    expect(parts.length).toBeGreaterThan(10)
    expect(parts.join('')).toBe(huge)
    await verifyAll(rig)
  })

  it('begins and ends inside of characters without breaking them', async () => {
    const { rig, observation } = await observed()
    expect(await read(rig, { observation, offset: 2, length: 4 })).toMatchObject({ offset: 3, text: 'llo', next: 6 })
    expect(await read(rig, { observation, offset: 0, length: 2 })).toMatchObject({ offset: 0, text: 'h', next: 1 })
    expect(await read(rig, { observation, offset: 10_000_000 })).toMatchObject({ text: '' })
    await verifyAll(rig)
  })

  it('knows what the conversation shows as an observation, and nothing else', async () => {
    const { rig } = await observed()
    const [user] = await rig.session.messages()
    expect(await read(rig, { observation: user?.id })).toMatchObject({ error: { code: 'NOT_FOUND' } })
    expect(await read(rig, { observation: 'none' })).toMatchObject({ error: { code: 'NOT_FOUND' } })
    await verifyAll(rig)
  })
})

it('small outputs stay whole below the threshold, and large ones too', async () => {
  const output = 'x'.repeat(5_000)
  const { rig, preview } = await observed(output)
  expect(preview).toBe(output)
  expect(await factsOf(rig, 'context.compacted')).toEqual([])
  await verifyAll(rig)
})
