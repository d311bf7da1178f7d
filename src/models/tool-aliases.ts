import { ModelError } from '../facts/ports.ts'

/** What a provider takes as the name of a tool. */
export interface ToolNameRules {
  /** Every character that may stand in a name. */
  readonly characters: string
  readonly maxChars: number
}

/** Names of one request at one provider, in both directions. */
export interface ToolAliases {
  aliasOf(name: string): string
  /** Undefined: the provider was told of no such tool. */
  nameOf(alias: string): string | undefined
}

export interface ToolNames {
  /** Tools that the request offers. */
  readonly offered: readonly string[]
  /** Tools that earlier answers named, offered or not. */
  readonly earlier: readonly string[]
}

/**
 * An alias is the name with a stand-in for every character that the provider does not take. Two offered tools that would share
 * one, and a name that is too long, are refused, because a made-up name would be one that nobody finds in a policy or a log. What
 * earlier answers named, and is not offered, must not make a session useless: it gets an alias of its own.
 */
export function toolAliases({ offered, earlier }: ToolNames, rules: ToolNameRules): ToolAliases {
  const toAlias = new Map<string, string>()
  const toName = new Map<string, string>()
  const keep = (name: string, alias: string): void => {
    toAlias.set(name, alias)
    toName.set(alias, name)
  }
  for (const name of offered) {
    if (toAlias.has(name)) continue
    const alias = spelt(name, rules)
    if ([...alias].length > rules.maxChars) throw tooLong(name, rules.maxChars)
    const other = toName.get(alias)
    if (other !== undefined) throw collision(other, name)
    keep(name, alias)
  }
  for (const name of earlier) if (!toAlias.has(name)) keep(name, freeAlias(spelt(name, rules), toName, rules))
  return {
    aliasOf: (name) => toAlias.get(name) ?? freeAlias(spelt(name, rules), toName, rules),
    nameOf: (alias) => toName.get(alias),
  }
}

function spelt(name: string, { characters }: ToolNameRules): string {
  const standIn = ['_', '-'].find((each) => characters.includes(each)) ?? [...characters][0] ?? '_'
  return Array.from(name, (character) => (characters.includes(character) ? character : standIn)).join('')
}

/** The alias itself where it is free, otherwise with a count at its end. */
function freeAlias(wanted: string, taken: ReadonlyMap<string, string>, rules: ToolNameRules): string {
  const digits = [...rules.characters].filter((character) => /\d/.test(character))
  const count = digits.length > 1 ? digits : [...rules.characters]
  for (let at = 0; ; at += 1) {
    const end = at === 0 ? '' : inDigits(at, count)
    const alias = `${[...wanted].slice(0, Math.max(0, rules.maxChars - end.length)).join('')}${end}`
    if (alias !== '' && !taken.has(alias)) return alias
  }
}

function inDigits(value: number, digits: readonly string[]): string {
  let text = ''
  for (let rest = value; rest > 0; rest = Math.floor(rest / digits.length)) text = digits[rest % digits.length] + text
  return text
}

function tooLong(name: string, maxChars: number): ModelError {
  const reason = `'${name}' has more than the ${maxChars} characters that this provider takes as the name of a tool.`
  return new ModelError({ code: 'MODEL_TOOL_NAME_TOO_LONG', retryable: false, reason })
}

function collision(one: string, other: string): ModelError {
  const reason = `'${one}' and '${other}' would be one name at this provider. Rename one of the two tools.`
  return new ModelError({ code: 'MODEL_TOOL_NAME_COLLISION', retryable: false, reason })
}
