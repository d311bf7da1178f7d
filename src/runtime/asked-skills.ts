import type { Catalog } from '../capabilities/catalog.ts'
import { LandfallError } from '../facts/errors.ts'

export interface AskedSkills {
  /** The input without the tokens that named a skill. */
  readonly text: string
  /** Names, each once, in the order in which they were asked for. */
  readonly skills: readonly string[]
}

const token = /(^|\s)\/([A-Za-z0-9][A-Za-z0-9._-]*)(?![\w/])/g

/**
 * Skills that an operator's command activates: those that it lists, and each `/name` at a word boundary of its input. A name that
 * is no skill stays text, and so does a token without which nothing would be said.
 */
export function askedSkills(catalog: Catalog, input: string, listed: readonly string[]): AskedSkills {
  const found: string[] = []
  const text = input
    .replace(token, (whole: string, before: string, given: string) => {
      const name = [given, given.replace(/[._-]+$/, '')].find((candidate) => skillNamed(catalog, candidate) !== null)
      if (name === undefined) return whole
      found.push(name)
      return `${before}${given.slice(name.length)}`
    })
    .replace(/[^\S\n]{2,}/g, (spaces) => (found.length > 0 ? ' ' : spaces))
  const skills = [...listed.map((name) => skillNamed(catalog, name) ?? name), ...found]
  const said = found.length === 0 ? input : text.trim()
  return { text: said === '' ? input : said, skills: [...new Set(skills)] }
}

/** A command that lists what is no skill is refused before it is anything. */
export function checkSkills(catalog: Catalog, names: readonly string[]): void {
  const unknown = names.find((name) => skillNamed(catalog, name) === null)
  if (unknown === undefined) return
  throw new LandfallError('INVALID_INPUT', 'No skill has this name. Use one of the catalog.', {
    details: { field: 'skills', unknown },
  })
}

function skillNamed(catalog: Catalog, given: string): string | null {
  for (const entry of catalog.entries())
    if (entry.kind === 'skill' && (entry.name === given || entry.ref.id === given)) return entry.name
  return null
}
