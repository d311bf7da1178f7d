import { LandfallError } from '../facts/errors.ts'

const forbidden = /[\p{Cc}\p{Surrogate}\\:*?"<>|]/u

/** What file systems take; a tree that could not be written to one would fail each program, and its patch would be refused. */
const longestNameBytes = 255
const longestPathBytes = 4_095

/**
 * Names that some file system takes for `.git`: case, letters that look alike, characters that are not seen, and dots or blanks
 * at the end may not matter there.
 */
export function isGitName(name: string): boolean {
  const plain = name
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toLowerCase()
    .replace(/[. ]+$/, '')
  return plain === '.git' || plain === 'git~1'
}

export function refusedPath(why: string): LandfallError {
  return new LandfallError('WORKSPACE_PATH', `The path ${why}. Name a path inside the workspace, relative to its root.`)
}

/** The parts of a lawful workspace path; none for the root. Anything else is `WORKSPACE_PATH`. */
export function pathParts(path: string, pathChars: number): readonly string[] {
  if (path === '') throw refusedPath('is empty')
  if (path.length > pathChars) throw refusedPath(`is longer than ${pathChars} characters`)
  if (path.startsWith('/')) throw refusedPath('is absolute')
  if (forbidden.test(path)) throw refusedPath('has a character that is not allowed')
  const parts = path.split('/').filter((part) => part !== '' && part !== '.')
  if (parts.includes('..')) throw refusedPath('goes up')
  if (parts.some((part) => Buffer.byteLength(part) > longestNameBytes))
    throw refusedPath(`has a name of more than ${longestNameBytes} bytes, which no folder can hold`)
  if (Buffer.byteLength(parts.join('/')) > longestPathBytes)
    throw refusedPath(`is longer than ${longestPathBytes} bytes`)
  if (parts.some(isGitName)) throw refusedPath('leads into Git metadata')
  return parts
}

/** Whether a path can have this name. */
export function isNameable(name: string): boolean {
  return !forbidden.test(name) && !isGitName(name)
}

/** Whether a name met in a listing can be named in a path, and means the file that it was met for. */
export function isLawfulName(name: string): boolean {
  return isNameable(name) && !name.includes('\ufffd')
}

const toldChars = 200

/** The same problem, with the path that it is about. What is no error of ours stays as it is. */
export function aboutPath(problem: unknown, path: string): unknown {
  if (!(problem instanceof LandfallError) || path === '') return problem
  const { code, message, details } = problem
  const told = JSON.stringify(path.replace(/^\.\//, '')).slice(0, toldChars)
  return new LandfallError(code, `${message} It is about ${told}; nothing that the program changed is kept.`, {
    details,
  })
}
