import type { Confirm, Grant, Level } from './vocabulary.ts'

/** `execute` is the highest level of a tool, `activate` of a skill. */
const levels: Readonly<Record<Level, number>> = { none: 0, discover: 1, inspect: 2, load: 3, activate: 3, execute: 4 }
const confirms: Readonly<Record<Confirm, number>> = { none: 0, once: 1, each: 2 }

/** The lower level and the stricter confirmation: a grant is narrowed, never widened. */
export function narrowerGrant(left: Grant, right: Grant): Grant {
  const level = levels[left.level] <= levels[right.level] ? left.level : right.level
  return { level, confirm: stricterConfirm(left.confirm, right.confirm) }
}

export function stricterConfirm(left: Confirm, right: Confirm): Confirm {
  return confirms[left] >= confirms[right] ? left : right
}

export function isAtLeast(grant: Grant | undefined, level: Level): boolean {
  return grant !== undefined && levels[grant.level] >= levels[level]
}

/** Nothing in the second grant goes beyond the first. */
export function isWithin(ceiling: Grant, grant: Grant): boolean {
  return levels[grant.level] <= levels[ceiling.level] && confirms[grant.confirm] >= confirms[ceiling.confirm]
}
