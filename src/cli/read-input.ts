import { usageError } from './usage-error.ts'

/** The words of a turn: the argument, or standard input for `-`. One newline at the end belongs to the terminal. */
export async function readInput(given: string | undefined): Promise<string> {
  if (given === undefined) throw usageError('Give an input, or - to read it from standard input.')
  const text = given === '-' ? (await standardInput()).replace(/\r?\n$/, '') : given
  if (text === '') throw usageError('The input is empty.')
  return text
}

async function standardInput(): Promise<string> {
  process.stdin.setEncoding('utf8')
  let text = ''
  for await (const part of process.stdin) text += String(part)
  return text
}
