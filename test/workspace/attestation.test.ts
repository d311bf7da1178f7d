import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { nativeTools } from '../../src/capabilities/native-tools.ts'
import { limits } from '../../src/facts/limits.ts'
import { attestedMethods, bindWorkspace, isAttested, restrictWorkspace } from '../../src/workspace/attestation.ts'
import { isolatedWorkspace } from '../../src/workspace/isolated-workspace.ts'
import { localWorkspace } from '../../src/workspace/local-workspace.ts'
import type { Sandbox } from '../../src/workspace/sandbox.ts'
import { textFile } from '../../src/workspace/tree.ts'
import type { Workspace } from '../../src/workspace/workspace.ts'
import { toolContext } from '../capabilities/tool-context.ts'

let folder: string
/** What a forged method would do: the victim file must never come to be. */
const evil = async (): Promise<never> => {
  writeFileSync(join(folder, 'victim'), 'reached')
  throw new Error('the forged method was called')
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'landfall-attested-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Attestation is about objects; what is inside the sandbox does not matter here, so it gives its tree back. */
const still: Sandbox = {
  isolation: 'bubblewrap',
  report: async () => ({ works: true, detail: '', bounds: [] }),
  run: async ({ tree }) => ({ exitCode: 0, stdout: 'ran', stderr: '', tree }),
}
const fresh = (): Workspace =>
  isolatedWorkspace({ initial: new Map([['a', textFile('x', false)]]), sandbox: still, bounds: limits }).workspace

const forgeries: readonly (readonly [string, () => Workspace])[] = [
  ['the local folder', () => localWorkspace(folder)],
  ['a plain object with the same methods', () => ({ ...fresh() })],
  [
    'one that claims to be isolated',
    () => ({ ...localWorkspace(folder), isolation: 'docker', write: evil, exec: evil }),
  ],
  ['an heir', () => Object.create(fresh()) as Workspace],
  [
    'a copy of the prototype',
    () => Object.assign(Object.create(Reflect.getPrototypeOf(fresh())), fresh()) as Workspace,
  ],
  ['a proxy', () => new Proxy(fresh(), {})],
  ['a replaced write', () => Object.assign(fresh(), { write: evil })],
  ['a replaced exec', () => Object.assign(fresh(), { exec: evil })],
  ['a replaced read', () => Object.assign(fresh(), { read: evil })],
  ['a method of another attested workspace', () => Object.assign(fresh(), { write: fresh().write })],
  ['a property that was set', () => Object.assign(fresh(), { extra: 1 })],
  ['a symbol that was set', () => Object.assign(fresh(), { [Symbol('extra')]: 1 })],
  ['a hidden property', () => Object.defineProperty(fresh(), 'extra', { value: 1, enumerable: false })],
  ['an accessor in the place of a method', () => Object.defineProperty(fresh(), 'write', { get: () => evil })],
  ['another prototype', () => Object.setPrototypeOf(fresh(), { write: evil }) as Workspace],
  ['no prototype', () => Object.setPrototypeOf(fresh(), null) as Workspace],
  [
    'a method that was taken away',
    () => {
      const workspace = fresh()
      Reflect.deleteProperty(workspace, 'diff')
      return workspace
    },
  ],
]

async function call(workspace: Workspace, name: string, args: object): Promise<unknown> {
  const tool = nativeTools(() => workspace).find((each) => each.name === name)
  return tool?.run(args, toolContext())
}

describe('attestation', () => {
  it.each(forgeries)('does not hold for %s, before any effect', async (_what, forged) => {
    const workspace = forged()
    expect(isAttested(workspace)).toBe(false)
    const required = { code: 'WORKSPACE_ISOLATION_REQUIRED' }
    await expect(call(workspace, 'fs.write', { path: 'victim', contents: 'x' })).rejects.toMatchObject(required)
    await expect(call(workspace, 'process.exec', { argv: ['touch', 'victim'] })).rejects.toMatchObject(required)
    expect(() => bindWorkspace(workspace, new AbortController().signal)).toThrow(expect.objectContaining(required))
    expect(() => restrictWorkspace(workspace, ['write'])).toThrow(expect.objectContaining(required))
    expect(readdirSync(folder)).toEqual([])
  })

  it('holds for what a driver made, and is looked at before each effect anew', async () => {
    const workspace = fresh()
    expect(await call(workspace, 'fs.write', { path: 'b', contents: 'y' })).toMatchObject({ created: true })
    const { write } = workspace
    workspace.write = evil
    await expect(call(workspace, 'fs.write', { path: 'b', contents: 'z' })).rejects.toMatchObject({
      code: 'WORKSPACE_ISOLATION_REQUIRED',
    })
    workspace.write = write
    expect(await call(workspace, 'fs.write', { path: 'b', contents: 'z' })).toMatchObject({ created: false })
  })

  it('performs the reviewed method even when a property changes between the look and the effect', async () => {
    const workspace = fresh()
    const { write } = attestedMethods(workspace)
    workspace.write = evil
    expect(await write('b', 'y')).toMatchObject({ path: 'b' })
    expect(readdirSync(folder)).toEqual([])
  })

  it('is given anew to what is bound to a life, which ends with it', async () => {
    const life = new AbortController()
    const bound = bindWorkspace(fresh(), life.signal)
    expect(isAttested(bound)).toBe(true)
    expect(await call(bound, 'fs.write', { path: 'b', contents: 'y' })).toMatchObject({ path: 'b' })
    life.abort(new Error('over'))
    await expect(call(bound, 'fs.write', { path: 'b', contents: 'y' })).rejects.toThrow('over')
    await expect(call(bound, 'fs.read', { path: 'a' })).rejects.toThrow('over')
    expect(isAttested(Object.assign(bindWorkspace(fresh(), new AbortController().signal), { write: evil }))).toBe(false)
  })

  it('is given anew to what is restricted, which refuses the rest', async () => {
    const writing = restrictWorkspace(fresh(), ['write'])
    expect(isAttested(writing)).toBe(true)
    expect(await call(writing, 'fs.write', { path: 'b', contents: 'y' })).toMatchObject({ path: 'b' })
    const restricted = { code: 'WORKSPACE_RESTRICTED' }
    await expect(call(writing, 'process.exec', { argv: ['true'] })).rejects.toMatchObject(restricted)
    const reading = restrictWorkspace(writing, [])
    await expect(call(reading, 'fs.write', { path: 'b', contents: 'y' })).rejects.toMatchObject(restricted)
    // What was taken away is not given back by restricting less.
    await expect(
      call(restrictWorkspace(reading, ['write']), 'fs.write', { path: 'b', contents: '' }),
    ).rejects.toMatchObject(restricted)
    expect(await call(reading, 'fs.read', { path: 'a' })).toMatchObject({ text: 'x' })
  })
})
