import { expect, it } from 'vitest'
import { runtimeWith, scope } from '../xstate/kit.ts'

it('a token begins with no hyphen, so that every command line takes it for a word, and is still a token', async () => {
  // Each of these bytes would be a hyphen or an underscore at the beginning.
  for (const byte of [0xf8, 0xfb, 0xfc, 0xff]) {
    const random = { next: () => 0.5, bytes: (count: number) => new Uint8Array(count).fill(byte) }
    const runtime = await runtimeWith({ everyTurn: [{ hang: true }] }, { random })
    const session = runtime.session(scope)
    await session.start('x')
    await session.pause()
    const [pause] = await session.pauses()
    expect(pause?.token).toMatch(/^[\w][\w.-]+$/)
    expect((await session.resume(pause?.token ?? '', { decision: 'resume' })).result).toBe('applied')
  }
})
