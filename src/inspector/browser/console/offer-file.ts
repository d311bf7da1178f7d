import { after } from './browser-timers.ts'

const forgetMs = 60_000

/** A text as a file that the browser saves where the reader wants it. */
export function offerFile(text: string, { name, type }: { readonly name: string; readonly type: string }): void {
  const address = URL.createObjectURL(new Blob([text], { type }))
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  // The browser reads it after the click.
  after(forgetMs, () => URL.revokeObjectURL(address))
}
