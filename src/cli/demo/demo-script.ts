import type { Script } from '../../models/script.ts'
import { lookAround, sayWhatWasAsked } from './look-around.ts'

/** How much of a file is read, so that what is printed stays on one screen. */
const someBytes = 240

/**
 * What the demonstration's model says. It knows nothing of the folder: everything that it tells is what the tools returned.
 */
export const demoScript: Script = {
  name: 'demo',
  everyTurn: [
    ...lookAround(someBytes),
    {
      delayMs: 60,
      text: 'fs.read returned {{last}}\nAnd the beginning of README.md.',
      calls: [{ name: 'fs.read', arguments: { path: 'README.md', length: someBytes } }],
      usage: { input: 1_200, output: 60 },
    },
    sayWhatWasAsked('', 1_500),
  ],
}
