import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { stdoutAside } from './stdout-aside.ts'

/** A module of the user, which is code and is trusted. What it prints while it is loaded is no result of the command. */
export async function importModule(file: string): Promise<object> {
  const restore = stdoutAside()
  try {
    return (await import(pathToFileURL(resolve(file)).href)) as object
  } finally {
    restore()
  }
}
