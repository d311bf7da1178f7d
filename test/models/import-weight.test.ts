import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { importsOf, packageOf } from '../repo/imports.ts'
import { repoRoot } from '../repo/source-files.ts'

/** Files and packages that are loaded as soon as this file is, and not when something is used. */
function loadedWith(entry: string): { files: ReadonlySet<string>; packages: ReadonlySet<string> } {
  const files = new Set<string>()
  const packages = new Set<string>()
  const open = [entry]
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (files.has(path) || !existsSync(`${repoRoot}${path}`)) continue
    files.add(path)
    const text = readFileSync(`${repoRoot}${path}`, 'utf8')
    for (const found of importsOf({ path, text })) {
      const isLater = new RegExp(`import\\(\\s*'${found.specifier}'`).test(text)
      if (found.typeOnly || isLater) continue
      if (found.target !== null) open.push(found.target)
      else packages.add(packageOf(found.specifier) ?? '')
    }
  }
  return { files, packages }
}

const adapters = /^(@ai-sdk\/|@modelcontextprotocol\/)/

describe('what is loaded', () => {
  it('with the library holds no adapter and none of their packages', () => {
    const { files, packages } = loadedWith('src/index.ts')
    expect(files.has('src/runtime/open-runtime.ts')).toBe(true)
    expect([...files].filter((file) => /ai-sdk|mcp/.test(file))).toEqual([])
    expect([...packages].filter((name) => adapters.test(name))).toEqual([])
  })

  it('with the command line neither', () => {
    const { packages } = loadedWith('src/cli/run-cli.ts')
    expect([...packages].filter((name) => adapters.test(name))).toEqual([])
  })

  it('with the adapter of language models holds none of their packages', () => {
    const { packages } = loadedWith('src/models/ai-sdk/ai-sdk-model.ts')
    expect([...packages].filter((name) => adapters.test(name))).toEqual([])
  })
})
