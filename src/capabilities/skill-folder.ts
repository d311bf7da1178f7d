import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { LandfallError } from '../facts/errors.ts'
import { limits } from '../facts/limits.ts'
import { defineSkill, type SkillContract, type SkillDefinition, skillContract } from './define-skill.ts'
import { parseFrontMatter } from './front-matter.ts'

const manifestFile = 'SKILL.md'

/**
 * The skills of a folder: each is a folder of its own with a `SKILL.md`. The files are read again whenever one is activated,
 * at once and not later, because that happens inside a step; they are small, and their size is bounded.
 */
export function skillsFrom(folder: string): readonly SkillDefinition[] {
  const root = resolve(folder)
  const names = foldersOf(root).filter((name) => fileSize(join(root, name, manifestFile)) !== null)
  if (names.length > limits.skillFolderItems)
    throw refused('The folder holds more skills than its bound.', { bound: limits.skillFolderItems, got: names.length })
  return names.map((name) => skillAt(join(root, name, manifestFile), name))
}

function foldersOf(root: string): readonly string[] {
  try {
    return readdirSync(root, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name)
      .sort()
  } catch (cause) {
    throw refused('The folder of skills cannot be read. Name an existing folder.', { field: 'skills' }, cause)
  }
}

function skillAt(file: string, folder: string): SkillDefinition {
  const read = readSkill(file, folder)
  if (read === null) throw refused('A skill cannot be read.', { skill: folder })
  const { manifest, body } = read
  return defineSkill({ ...manifest, body, reread: () => rereadSkill(file, folder) })
}

function rereadSkill(file: string, folder: string): SkillContract | null {
  try {
    const read = readSkill(file, folder)
    return read === null ? null : skillContract(defineSkill({ ...read.manifest, body: read.body }))
  } catch {
    return null
  }
}

function readSkill(file: string, folder: string): SkillContract | null {
  const size = fileSize(file)
  if (size === null) return null
  if (size > limits.skillBytes)
    throw refused('A skill is larger than its bound.', { skill: folder, bound: limits.skillBytes, got: size })
  const { fields, body } = parseFrontMatter(readFileSync(file, 'utf8'))
  const text = (key: string): string => (typeof fields[key] === 'string' ? fields[key] : '')
  const { tags } = fields
  return {
    manifest: {
      name: text('name') || folder,
      description: text('description'),
      tags: Array.isArray(tags) ? tags : typeof tags === 'string' && tags !== '' ? tags.split(/\s*,\s*/) : [],
      disableModelInvocation: text('disable-model-invocation') === 'true',
    },
    body,
  }
}

function fileSize(file: string): number | null {
  const stat = statSync(file, { throwIfNoEntry: false })
  return stat?.isFile() === true ? stat.size : null
}

function refused(message: string, details: Readonly<Record<string, unknown>>, cause?: unknown): LandfallError {
  return new LandfallError('INVALID_INPUT', message, { details, ...(cause === undefined ? {} : { cause }) })
}
