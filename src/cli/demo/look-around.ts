import type { Script } from '../../models/script.ts'

type ScriptStep = NonNullable<Script['everyTurn']>[number]

/** How both demonstrations begin: the folder, then the first `length` bytes of a file that every project here has. */
export function lookAround(length: number): readonly ScriptStep[] {
  return [
    {
      delayMs: 60,
      chunks: ['I look ', 'at what ', 'is in this folder.'],
      calls: [{ name: 'fs.list', arguments: { path: '.' } }],
      usage: { input: 420, output: 24 },
    },
    {
      delayMs: 60,
      text: 'fs.list returned {{last}}\nNow the beginning of package.json.',
      calls: [{ name: 'fs.read', arguments: { path: 'package.json', length } }],
      usage: { input: 900, output: 60 },
    },
  ]
}

/** How both end. `also` stands before the numbers, which come from the session and not from here. */
export function sayWhatWasAsked(also: string, input: number): ScriptStep {
  return {
    delayMs: 60,
    chunks: [
      'You asked: {{input}}\n',
      'The last thing that I read is {{last}}\n',
      `${also}This was turn {{turn}} of the session; the request that I answer holds {{count:messages}} messages.`,
    ],
    usage: { input, output: 90 },
  }
}
