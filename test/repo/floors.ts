import { type Import, importsOf, packageOf } from './imports.ts'
import type { SourceFile } from './source-files.ts'

/** Folder to floor. A folder that is not here is a violation: give it a floor on purpose. */
export const floors: Readonly<Record<string, number>> = {
  machines: 0,
  'src/facts': 1,
  'src/log': 2,
  'src/bus': 2,
  'src/context': 2,
  'src/workspace': 2,
  'src/models': 2,
  'src/redaction': 2,
  'src/capabilities': 3,
  'src/runtime': 4,
  'src/protocol': 5,
  'src/inspector': 5,
  'src/telemetry': 5,
  'src/testing': 5,
  'src/xstate': 5,
  'src/bench': 5,
  'src/server': 6,
  'src/cli': 6,
  'src/index.ts': 7,
}

/** What a folder with a short list may import besides its own files. */
const onlyFrom: Readonly<Record<string, { folders: readonly string[]; packages: readonly string[] }>> = {
  machines: { folders: [], packages: ['xstate'] },
  'src/context': { folders: ['machines', 'src/facts'], packages: [] },
}

/** Folders whose sub-folders are alternatives and do not know each other. */
const alternatives = ['src/log']

export function placeOf(path: string): string {
  const parts = path.split('/')
  return parts[0] === 'machines' ? 'machines' : parts.slice(0, 2).join('/')
}

function alternativeOf(path: string): string | null {
  const folder = alternatives.find((name) => path.startsWith(`${name}/`))
  const rest = folder === undefined ? [] : path.slice(folder.length + 1).split('/')
  return rest.length > 1 ? `${folder}/${rest[0]}` : null
}

function judgeRelative(found: Import & { readonly target: string }): string | null {
  const here = placeOf(found.from)
  const there = placeOf(found.target)
  const from = floors[here]
  const to = floors[there]
  if (from === undefined) return `${found.from}: the folder ${here} has no floor`
  if (to === undefined) return `${found.from}: imports ${found.target}, which is on no floor`
  if (here === there) {
    const one = alternativeOf(found.from)
    const other = alternativeOf(found.target)
    const strangers = one !== null && other !== null && one !== other
    return strangers ? `${found.from}: ${one} must not know ${other}` : null
  }
  if (to >= from) return `${found.from} (floor ${from}) imports ${found.target} (floor ${to})`
  const allowed = onlyFrom[here]
  if (allowed && !allowed.folders.includes(there)) return `${found.from}: ${here} must not import ${there}`
  return null
}

function judgeBare(found: Import): string | null {
  const allowed = onlyFrom[placeOf(found.from)]
  if (!allowed) return null
  const name = packageOf(found.specifier) ?? found.specifier
  return allowed.packages.includes(name) ? null : `${found.from}: must not import ${found.specifier}`
}

export function floorViolations(files: readonly SourceFile[]): string[] {
  return files
    .flatMap(importsOf)
    .map((found) => {
      const { target } = found
      return target === null ? judgeBare(found) : judgeRelative({ ...found, target })
    })
    .filter((problem) => problem !== null)
}

/** Every file must be in a folder with a floor, also when it imports nothing. */
export function homeless(files: readonly SourceFile[]): string[] {
  return files.filter((file) => floors[placeOf(file.path)] === undefined).map((file) => `${file.path}: no floor`)
}

/** Files that can reach themselves through imports, type imports included. */
export function cycles(files: readonly SourceFile[]): string[] {
  const edges = new Map(files.map((file) => [file.path, importsOf(file).flatMap((i) => i.target ?? [])]))
  const reaches = (start: string): boolean => {
    const seen = new Set<string>()
    const open = [...(edges.get(start) ?? [])]
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (next === start) return true
      if (seen.has(next)) continue
      seen.add(next)
      open.push(...(edges.get(next) ?? []))
    }
    return false
  }
  return [...edges.keys()].filter(reaches).map((path) => `${path} is in an import cycle`)
}
