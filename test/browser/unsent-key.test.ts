import { expect, it } from 'vitest'
import { unsentKey } from '../../src/inspector/browser/console/unsent.ts'
import { issuer } from '../protocol/kit/tokens.ts'

const names = { tenant: 'acme', user: 'ann' }

it('keeps what is typed for its reader: a renewed token is the same one, another user of the tab is not', async () => {
  const keys = await issuer()
  const of = async (claims: Record<string, unknown>) =>
    unsentKey({ ...names, token: await keys.token(claims) }, 's', 'b')
  const ann = await of({ ...names, jti: 'one' })
  expect(await of({ ...names, jti: 'two' })).toBe(ann)
  expect(await of({ tenant: 'acme', sub: 'ann' })).toBe(ann)
  const others = [
    await of({ tenant: 'acme', user: 'bob' }),
    await of({ tenant: 'other', user: 'ann' }),
    await of({ tenant: 'acme', user: 'änn ☃' }),
    unsentKey({ ...names, token: '' }, 's', 'b'),
    unsentKey({ ...names, token: 'no token' }, 's', 'b'),
    unsentKey({ ...names, token: '' }, 's', 'other box'),
  ]
  expect(new Set([ann, ...others]).size).toBe(others.length + 1)
})

it('takes whatever is pasted as a token, and says no more of what it cannot read', () => {
  const unreadable = ['x', 'a.b.c', '..', `a.${btoa('[]')}.c`, `a.${btoa('null')}.c`, `a.${btoa('{"tenant":1}')}.c`]
  const keys = unreadable.map((token) => unsentKey({ ...names, token }, 's', 'b'))
  expect(new Set(keys)).toEqual(new Set(['[["token"],"s","b"]']))
})
