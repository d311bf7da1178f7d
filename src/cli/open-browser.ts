import { spawn } from 'node:child_process'

const openers: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
}

/**
 * The program that shows a page here, or null: without a screen there is none. `BROWSER` names another one, and `none` or
 * nothing in it means that no browser is wanted.
 */
export function browserProgram(
  env: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform,
): readonly string[] | null {
  const { BROWSER: named, DISPLAY: display, WAYLAND_DISPLAY: wayland } = env
  if (named !== undefined) return named === '' || named === 'none' ? null : [named]
  const opener = openers[platform]
  if (opener !== undefined) return opener
  return (display ?? '') === '' && (wayland ?? '') === '' ? null : ['xdg-open']
}

/** Shows a page. Whether it worked cannot be known, so whoever calls this says the address as well. */
export function openBrowser(address: string): void {
  const [program, ...words] = browserProgram(process.env, process.platform) ?? []
  if (program === undefined) return
  const child = spawn(program, [...words, address], { stdio: 'ignore', detached: true })
  child.on('error', () => {})
  child.unref()
}
