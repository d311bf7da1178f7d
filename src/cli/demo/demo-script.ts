import type { Script } from '../../models/script.ts'

/** How much of a file is read, so that what is printed stays on one screen. */
const someBytes = 240

/**
 * What the demonstration's model says. It knows nothing of the folder: everything that it tells is what the tools returned.
 */
export const demoScript: Script = {
  name: 'demo',
  everyTurn: [
    {
      delayMs: 60,
      chunks: ['I look ', 'at what ', 'is in this folder.'],
      calls: [{ name: 'fs.list', arguments: { path: '.' } }],
      usage: { input: 420, output: 24 },
    },
    {
      delayMs: 60,
      text: 'fs.list returned {{last}}\nNow the beginning of package.json.',
      calls: [{ name: 'fs.read', arguments: { path: 'package.json', length: someBytes } }],
      usage: { input: 900, output: 60 },
    },
    {
      delayMs: 60,
      text: 'fs.read returned {{last}}\nAnd the beginning of README.md.',
      calls: [{ name: 'fs.read', arguments: { path: 'README.md', length: someBytes } }],
      usage: { input: 1_200, output: 60 },
    },
    {
      delayMs: 60,
      chunks: [
        'You asked: {{input}}\n',
        'The last thing that I read is {{last}}\n',
        'This was turn {{turn}} of the session; the request that I answer holds {{count:messages}} messages.',
      ],
      usage: { input: 1_500, output: 90 },
    },
  ],
}
