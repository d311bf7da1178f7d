import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { defaultRedactor } from '../../src/redaction/default-redactor.ts'
import { isSecretName } from '../../src/redaction/key-names.ts'
import { harmless, secrets } from './corpus.ts'

const redactor = defaultRedactor()

describe('text', () => {
  it.each(secrets)('$name does not get through', ({ text, secret }) => {
    for (const around of [text, `before ${text} after`, `("${text}")`, `see:\n${text}\n`]) {
      const clean = redactor.text(around)
      expect(clean).not.toContain(secret)
      expect(clean).toContain('[redacted]')
    }
  })

  it.each(harmless)('%j comes through', (text) => {
    expect(redactor.text(text)).toBe(text)
  })

  it('keeps what stands around a secret', () => {
    expect(redactor.text('GET https://bob:hunter2@example.org/x failed')).toBe(
      'GET https://bob:[redacted]@example.org/x failed',
    )
    expect(redactor.text('PASSWORD=abc; PORT=80')).toBe('PASSWORD=[redacted]; PORT=80')
    expect(redactor.text('{"password": "a \\" b", "port": 80}')).toBe('{"password": [redacted], "port": 80}')
  })

  it('withholds a private key that never ends', () => {
    expect(redactor.text('x -----BEGIN PRIVATE KEY-----\nAAAA\nBBBB')).toBe('x [redacted]')
  })
})

describe('any text', () => {
  const piece = fc.oneof(
    fc.constantFrom(...secrets.map(({ text }) => text), ...harmless),
    fc.string({ maxLength: 12 }),
    fc.constantFrom(' ', '\n', '=', ':', '"', '@', '/', '-', '_', 'password', 'Bearer ', 'token=', '://', '[redacted]'),
  )
  const text = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''))

  it('redacted twice is redacted once, and the same each time', () => {
    fc.assert(
      fc.property(text, (given) => {
        const clean = redactor.text(given)
        expect(redactor.text(clean)).toBe(clean)
        expect(redactor.text(given)).toBe(clean)
      }),
      { seed: 11, numRuns: 3_000 },
    )
  })
})

describe('data', () => {
  it('hides what secret names hold, whatever it is', () => {
    const data = { user: 'bob', password: 'x', apiKey: ['a', 'b'], auth: { user: 'u' }, pin: 1, clientSecret: 7 }
    expect(redactor.value(data)).toEqual({
      user: 'bob',
      password: '[redacted]',
      apiKey: '[redacted]',
      auth: '[redacted]',
      pin: 1,
      clientSecret: '[redacted]',
    })
  })

  it('keeps what says only that there is a secret', () => {
    const data = { hasPassword: true, password: null, token: '' }
    expect(redactor.value(data)).toEqual(data)
  })

  it.each([
    'password',
    'DB_PASSWORD',
    'x-api-key',
    'accessToken',
    'set-cookie',
    'Authorization',
    'password_hash',
    'dsn',
  ])('%s is a secret name', (name) => {
    expect(isSecretName(name)).toBe(true)
  })

  it.each(['path', 'maxTokens', 'tokens', 'tokenCount', 'author', 'keyboard', 'idempotencyKey', 'cookieless'])(
    '%s is none',
    (name) => {
      expect(isSecretName(name)).toBe(false)
    },
  )

  it('cleans strings and keys at any depth and leaves its input alone', () => {
    const secret = secrets[6]?.text ?? ''
    const data = { a: [{ b: `x ${secret}` }], [secret]: 1 }
    const before = JSON.stringify(data)
    const clean = JSON.stringify(redactor.value(data))
    expect(clean).not.toContain(secret)
    expect(clean).toContain('x [redacted]')
    expect(JSON.stringify(data)).toBe(before)
  })

  it('knows errors, dates, maps and bytes', () => {
    const error = Object.assign(new Error('failed for https://bob:hunter2@example.org'), { password: 'x', code: 'E' })
    const clean = JSON.stringify(
      redactor.value({ error, at: new Date(0), map: new Map([['token', 'x']]), raw: Buffer.from('x') }),
    )
    expect(clean).not.toContain('hunter2')
    expect(JSON.parse(clean)).toMatchObject({
      error: { name: 'Error', code: 'E', password: '[redacted]' },
      at: '1970-01-01T00:00:00.000Z',
      map: { token: '[redacted]' },
      raw: '[redacted]',
    })
  })

  it('throws on data that has no end, so that the field is withheld', () => {
    const loop: Record<string, unknown> = {}
    loop.self = loop
    expect(() => redactor.value(loop)).toThrow()
  })

  it('does not touch the prototype', () => {
    const clean = redactor.value(JSON.parse('{"__proto__": {"polluted": "yes"}}'))
    expect(Object.getPrototypeOf(clean)).toBe(Object.prototype)
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })
})

describe('time', () => {
  const bait = [
    'a',
    'eyJ-',
    'sk-',
    '://a:',
    'password=',
    'password="',
    "secret:'",
    'token: ',
    'bearer ',
    '-----BEGIN PRIVATE KEY-----',
    '-----BEGIN ',
    `${'A'.repeat(64)}\n`,
    '\\"password\\":\\"',
    'hooks.slack.com/services/',
    ' \t',
    '=',
  ]

  /** Steps of a quadratic pattern would grow 64-fold over these sizes; a linear one stays far below the allowance. */
  it.each(bait)('grows with the length of repeated %j, not with its square', (unit) => {
    // The processor's time, which other processes of a busy machine do not lengthen.
    const measure = (size: number): number => {
      const text = unit.repeat(Math.ceil(size / unit.length))
      const times = [1, 2, 3].map(() => {
        const start = process.cpuUsage()
        redactor.text(text)
        return process.cpuUsage(start).user / 1_000
      })
      return Math.min(...times)
    }
    const small = Math.max(measure(20_000), 1)
    expect(measure(160_000) / small).toBeLessThan(32)
  })
})
