import { usageError } from './usage-error.ts'

/** The words of a turn: the argument, or standard input for `-`. One newline at the end belongs to the terminal. */
export async function readInput(given: string | undefined): Promise<string> {
  if (given === undefined) throw usageError('Give an input, or - to read it from standard input.')
  const text =
    given === '-'
      ? Buffer.from(await readAll())
          .toString('utf8')
          .replace(/\r?\n$/, '')
      : given
  if (text === '') throw usageError('The input is empty.')
  return text
}

/** Standard input to its end, as it came. */
export async function readAll(): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  for await (const part of process.stdin) parts.push(Buffer.from(part))
  return Buffer.concat(parts)
}
