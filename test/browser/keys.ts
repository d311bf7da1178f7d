import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { patience } from './console-kit.ts'

/** Hands that have no mouse. */
export class Keys {
  readonly #page: Page

  constructor(page: Page) {
    this.#page = page
  }

  /** Goes to something with Tab alone, in either direction; it must show that it has the focus. */
  async to(target: Locator): Promise<void> {
    await expect.poll(() => target.count(), patience).toBe(1)
    const handle = await target.elementHandle()
    const isThere = () => handle?.evaluate((element) => element === document.activeElement)
    const isBefore = await target.evaluate(
      (element) => ((document.activeElement ?? document.body).compareDocumentPosition(element) & 2) !== 0,
    )
    const ways = isBefore ? ['Shift+Tab', 'Tab'] : ['Tab', 'Shift+Tab']
    for (const key of ways)
      for (let presses = 0; presses < 70 && !(await isThere()); presses += 1) await this.#page.keyboard.press(key)
    expect(await isThere()).toBe(true)
    const outline = await this.#page.evaluate(() => getComputedStyle(document.activeElement as Element).outlineStyle)
    expect(outline).toBe('solid')
  }

  async press(name: string | RegExp, key = 'Enter'): Promise<void> {
    await this.to(this.#page.getByRole('button', { name, exact: typeof name === 'string' }))
    await this.#page.keyboard.press(key)
  }

  async type(into: Locator, text: string): Promise<void> {
    await this.to(into)
    await this.#page.keyboard.press('ControlOrMeta+a')
    await this.#page.keyboard.type(text)
  }

  /** To a view by the arrows, from whichever is shown. */
  async view(name: string): Promise<void> {
    await this.to(this.#page.getByRole('tab', { selected: true }))
    await this.#page.keyboard.press('Home')
    const wanted = this.#page.getByRole('tab', { name, selected: true })
    for (let presses = 0; presses < 5 && (await wanted.count()) === 0; presses += 1)
      await this.#page.keyboard.press('ArrowRight')
    expect(await wanted.count()).toBe(1)
  }

  /** One of several that exclude one another, by the arrows. */
  async choose(name: string): Promise<void> {
    await this.to(this.#page.locator('input[name=action]:checked'))
    const wanted = this.#page.getByRole('radio', { name, exact: true })
    for (let presses = 0; presses < 5 && !(await wanted.isChecked()); presses += 1)
      await this.#page.keyboard.press('ArrowRight')
    expect(await wanted.isChecked()).toBe(true)
  }
}
