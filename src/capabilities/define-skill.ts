import { limits } from '../facts/limits.ts'
import { checkDescribed, refuseDefinition } from './define-tool.ts'

/** What `defineSkill` takes: the front matter and the body of a `SKILL.md`. */
export interface SkillOptions {
  readonly name: string
  readonly description: string
  readonly tags?: readonly string[]
  readonly body: string
  /** Only an operator may activate it. */
  readonly disableModelInvocation?: boolean
}

export interface SkillDefinition {
  readonly kind: 'skill'
  readonly name: string
  readonly description: string
  readonly tags: readonly string[]
  readonly body: string
  readonly disableModelInvocation: boolean
}

export interface SkillContract {
  readonly manifest: Omit<SkillDefinition, 'kind' | 'body'>
  readonly body: string
}

export function defineSkill(options: SkillOptions): SkillDefinition {
  checkDescribed(options)
  const { name, description, body, disableModelInvocation = false } = options
  if (typeof body !== 'string' || body === '' || Buffer.byteLength(body) > limits.contentBytes)
    throw refuseDefinition('body', `must be text of at most ${limits.contentBytes} bytes`)
  const tags = Object.freeze([...(options.tags ?? [])])
  return Object.freeze({ kind: 'skill', name, description, tags, body, disableModelInvocation })
}

export function skillContract(skill: SkillDefinition): SkillContract {
  const { kind: _kind, body, ...manifest } = skill
  return { manifest, body }
}
