import type { Page } from 'playwright-core'

/** Texts of a page that stand out too little from what is behind them, as WCAG AA reckons; what cannot be used is let off. */
export function faintTexts(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const canvas = document.createElement('canvas')
    canvas.width = 1
    canvas.height = 1
    const pen = canvas.getContext('2d', { willReadFrequently: true })
    /** Any colour that a style sheet may name, as the screen would show it on another one. */
    const on = (ground: readonly number[], colour: string): readonly number[] => {
      if (pen === null) return ground
      pen.fillStyle = `rgb(${ground.join(' ')})`
      pen.fillRect(0, 0, 1, 1)
      pen.fillStyle = colour
      pen.fillRect(0, 0, 1, 1)
      return [...pen.getImageData(0, 0, 1, 1).data.slice(0, 3)]
    }
    const groundOf = (element: Element): readonly number[] => {
      const around = element.parentElement === null ? [255, 255, 255] : groundOf(element.parentElement)
      return on(around, getComputedStyle(element).backgroundColor)
    }
    const luminance = (colour: readonly number[]): number => {
      const [r = 0, g = 0, b = 0] = colour.map((value) => {
        const share = value / 255
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
      })
      return 0.2126 * r + 0.7152 * g + 0.0722 * b
    }
    const found: string[] = []
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const element = node.parentElement
      const text = (node.textContent ?? '').trim()
      if (element === null || text === '' || element.closest('svg, :disabled, .sr-only, script, style') !== null)
        continue
      if (!element.checkVisibility()) continue
      const style = getComputedStyle(element)
      const ground = groundOf(element)
      const ink = on(ground, style.color)
      const [dark = 0, light = 1] = [luminance(ink), luminance(ground)].sort((a, b) => a - b)
      const contrast = (light + 0.05) / (dark + 0.05)
      const size = Number.parseFloat(style.fontSize)
      const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700)
      if (contrast < (isLarge ? 3 : 4.5)) found.push(`${contrast.toFixed(2)}: ${text.slice(0, 40)}`)
    }
    return found
  })
}

/** What sticks out of the page sideways, or cannot be seen although it is there to be used. */
export function misplaced(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const { clientWidth: width, scrollWidth } = document.documentElement
    const found = scrollWidth > width ? [`the page is ${scrollWidth} wide`] : []
    for (const element of document.querySelectorAll(
      'button, input, select, textarea, summary, h1, h2, h3, dd, td, p',
    )) {
      if (!element.checkVisibility() || element.closest('.sr-only, .skip, svg') !== null) continue
      const { left, right, width: own } = element.getBoundingClientRect()
      // What is inside something that scrolls by itself can be brought into sight.
      const scroller = element.closest('.chart-place, .drawing, .sessions ul, .facts, pre')
      if (scroller !== null) continue
      const name = `${element.tagName} ${(element.textContent ?? '').slice(0, 30)}`
      if (left < -1 || right > width + 1) found.push(`${name} from ${Math.round(left)} to ${Math.round(right)}`)
      if (own < 2 && element.matches('button, input, select, textarea')) found.push(`${name} has no width`)
      if (element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).overflowX === 'hidden')
        found.push(`${name} is cut off`)
    }
    return found
  })
}
