import { limits } from '../facts/limits.ts'
import { checkDescribed, refuseDefinition } from './define-tool.ts'
import type { Origin } from './origin.ts'

/** What `defineSkill` takes: the front matter and the body of a `SKILL.md`. */
export interface SkillOptions {
  readonly name: string
  readonly description: string
  readonly tags?: readonly string[]
  readonly body: string
  /** Only an operator may activate it. */
  readonly disableModelInvocation?: boolean
  /** Of a provider's skill; absent: the host's own. */
  readonly origin?: Origin
  /** Reads the skill anew from where it comes from, at once; null when it is not there any more. Absent: it never changes. */
  readonly reread?: () => SkillContract | null
}

export interface SkillDefinition {
  readonly kind: 'skill'
  readonly name: string
  readonly description: string
  readonly tags: readonly string[]
  readonly body: string
  readonly disableModelInvocation: boolean
  readonly origin?: Origin
  readonly reread?: () => SkillContract | null
}

export interface SkillContract {
  readonly manifest: {
    readonly name: string
    readonly description: string
    readonly tags: readonly string[]
    readonly disableModelInvocation: boolean
  }
  readonly body: string
}

export function defineSkill(options: SkillOptions): SkillDefinition {
  checkDescribed(options)
  const { name, description, body, disableModelInvocation = false, origin, reread } = options
  if (typeof body !== 'string' || body === '' || Buffer.byteLength(body) > limits.skillBytes)
    throw refuseDefinition('body', `must be text of at most ${limits.skillBytes} bytes`)
  const tags = Object.freeze([...(options.tags ?? [])])
  return Object.freeze({
    kind: 'skill',
    name,
    description,
    tags,
    body,
    disableModelInvocation,
    ...(origin === undefined ? {} : { origin }),
    ...(reread === undefined ? {} : { reread }),
  })
}

export function skillContract(skill: Pick<SkillDefinition, keyof SkillContract['manifest'] | 'body'>): SkillContract {
  const { name, description, tags, disableModelInvocation, body } = skill
  return { manifest: { name, description, tags, disableModelInvocation }, body }
}
