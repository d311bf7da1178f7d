import { z } from 'zod'
import type { ContextPolicy } from '../../machines/vocabulary.ts'
import { wellFormedText } from '../facts/digest.ts'
import { LandfallError } from '../facts/errors.ts'
import { limits } from '../facts/limits.ts'

export interface Rule {
  readonly fits: (value: unknown) => boolean
  readonly message: string
}

const isText = (value: unknown): value is string => typeof value === 'string'
const isFunction = (value: unknown): boolean => typeof value === 'function'
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
/** By shape, since a host may wrap or subclass what it gives. */
const has =
  (...names: readonly string[]) =>
  (value: unknown): boolean =>
    isObject(value) && names.every((name) => isFunction(value[name]))
const isName = (value: unknown): boolean => isText(value) && value !== '' && value.length <= longestName
const isModel = (value: unknown): boolean => isObject(value) && isFunction(value.request) && isName(value.name)
const isMs = (value: unknown): boolean =>
  Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= limits.deadlineMs
const whole = (least: number) => (value: unknown) => Number.isSafeInteger(value) && Number(value) >= least

const isPlain = (value: unknown): boolean => z.record(z.string(), z.json()).safeParse(value).success

/** As facts hold names of models. */
const longestName = 4_096
const port = (what: string): string => `Give ${what}, or leave it out.`
const model = 'A model has a name and a function request. Use scriptedModel, aiSdkModel or your own.'

const contextRules: Readonly<Record<keyof ContextPolicy, Rule>> = {
  windowTokens: { fits: whole(1), message: 'A context bound is a whole number, not negative.' },
  thresholdTokens: { fits: whole(0), message: 'A context bound is a whole number, not negative.' },
  tailMessages: { fits: whole(0), message: 'A context bound is a whole number, not negative.' },
  reserveTokens: {
    fits: whole(1),
    message: 'An answer needs room: the output reserve is a whole number of at least 1.',
  },
  evict: {
    fits: (value) => typeof value === 'boolean',
    message: 'Whether messages may be left out is true or false.',
  },
}

/** Every option has its rule, so that a misspelt one is refused instead of being passed over. */
export const optionRules = {
  log: { fits: has('append'), message: 'Give openRuntime a log, such as sqliteLog(file).' },
  model: { fits: isModel, message: model },
  models: {
    fits: (value) => isObject(value) && Object.entries(value).every(([name, each]) => isName(name) && isModel(each)),
    message: `Give models by name. ${model}`,
  },
  summaryModel: { fits: isModel, message: model },
  system: {
    fits: (value) => isText(value) && wellFormedText(value) === value,
    message: 'The system text is a text, without half a character.',
  },
  settings: {
    fits: (value) => isObject(value) && isPlain(value),
    message: 'Settings are plain JSON data by name.',
  },
  requestTimeoutMs: { fits: isMs, message: 'A time is a whole number of milliseconds, at least 1.' },
  catalog: {
    fits: (value) => Array.isArray(value),
    message: 'The catalog is a list of what defineTool, defineSkill, skillsFrom and mcpProvider give.',
  },
  policy: { fits: isFunction, message: 'A policy is a function.' },
  memoryPolicy: { fits: isFunction, message: 'A policy is a function.' },
  workspace: { fits: isObject, message: 'A workspace is given as { from: folder }.' },
  redactor: { fits: has('text', 'value'), message: port('a redactor with the functions text and value') },
  budget: {
    fits: (value) => isObject(value) && whole(1)(value.tokens),
    message: 'A budget is a whole number of tokens of at least 1.',
  },
  context: {
    fits: isObject,
    message: `A context may hold ${Object.keys(contextRules).join(', ')}.`,
  },
  limits: { fits: isObject, message: 'Limits are given by name.' },
  recovery: { fits: (value) => value === 'resume' || value === 'fail', message: 'Use one of: resume, fail.' },
  onUnknown: { fits: (value) => value === 'continue' || value === 'pause', message: 'Use one of: continue, pause.' },
  clock: { fits: has('now'), message: port('a clock with a function now') },
  random: { fits: has('next', 'bytes'), message: port('a source with the functions next and bytes') },
  ids: { fits: has('next'), message: port('a source with a function next') },
  scheduler: { fits: has('at', 'soon'), message: port('a scheduler with the functions at and soon') },
  logger: { fits: has('debug', 'info', 'warn', 'error'), message: port('a logger with debug, info, warn and error') },
} as const satisfies Readonly<Record<string, Rule>>

/** Refuses what is not of its kind where it is given, and not turns later where it is used. */
export function checkOptions(options: unknown, rules: Readonly<Record<string, Rule>>): void {
  if (!isObject(options)) throw refusedOption('options', 'Give openRuntime its options.')
  if (options.log == null) throw refusedOption('log', optionRules.log.message)
  check(options, rules, '')
  if (isObject(options.context)) check(options.context, contextRules, 'context.')
}

function check(values: object, known: Readonly<Record<string, Rule>>, prefix: string): void {
  for (const [name, value] of Object.entries(values)) {
    const rule = Object.hasOwn(known, name) ? known[name] : undefined
    if (rule === undefined)
      throw refusedOption(`${prefix}${name}`, `There is no such option. Known: ${Object.keys(known).join(', ')}.`)
    if (value !== undefined && value !== null && !rule.fits(value))
      throw refusedOption(`${prefix}${name}`, rule.message)
  }
}

export function refusedOption(field: string, message: string): LandfallError {
  return new LandfallError('INVALID_INPUT', message, { details: { field } })
}
