import { readdir, readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { LandfallError } from '../facts/errors.ts'

/** A file of the console, with the policy under which a browser shows it. */
export interface ConsoleFile {
  readonly contentType: string
  readonly body: Uint8Array<ArrayBuffer>
  readonly policy: string
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
}

/** What the console needs and nothing else: its own script and style, and the server that it came from. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  'img-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const builtFolder = new URL('./console/', import.meta.url)

/**
 * The web console as files for a browser, by path from `/`. They are read once, when the first of them is asked for; a path is
 * looked up among their names and never used to reach the disk.
 */
export function consoleSite(folder: URL = builtFolder): (path: string) => Promise<ConsoleFile | null> {
  let files: Promise<ReadonlyMap<string, ConsoleFile>> | null = null
  return async (path) => {
    files ??= read(folder)
    return (await files).get(path) ?? null
  }
}

async function read(folder: URL): Promise<ReadonlyMap<string, ConsoleFile>> {
  try {
    const names = await readdir(fileURLToPath(folder), { recursive: true })
    const files = new Map<string, ConsoleFile>()
    for (const name of names.map((each) => each.replaceAll('\\', '/'))) {
      const contentType = types[extname(name)]
      if (contentType === undefined) continue
      const body = new Uint8Array(await readFile(new URL(name, folder)))
      files.set(name === 'index.html' ? '/' : `/${name}`, { contentType, body, policy })
    }
    return files
  } catch (cause) {
    throw new LandfallError('INTERNAL', 'The console is not built. Run npm run build.', { cause })
  }
}
