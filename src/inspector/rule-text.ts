import type { ChartRule } from './chart-rules.ts'

/** A part of a label, with what it is: colours tell events, guards and actions apart. */
export interface TextPart {
  readonly kind: 'event' | 'guard' | 'action' | 'into'
  readonly text: string
}

export type TextLine = readonly TextPart[]

const lineChars = 42
const indent = '  '

/** A rule as lines of text that are not too long for a picture; what does not fit goes on, indented, in the next line. */
export function ruleText(rule: ChartRule): readonly TextLine[] {
  const lines: TextPart[][] = [[]]
  let used = 0
  for (const word of wordsOf(rule)) {
    const line = lines.at(-1)
    const isFull = used > 0 && used + 1 + word.text.length > lineChars
    if (isFull || line === undefined) {
      lines.push([{ ...word, text: `${indent}${word.text}` }])
      used = indent.length + word.text.length
    } else {
      line.push(used === 0 ? word : { ...word, text: ` ${word.text}` })
      used += word.text.length + (used === 0 ? 0 : 1)
    }
  }
  return lines
}

export function lineLength(line: TextLine): number {
  return line.reduce((sum, { text }) => sum + text.length, 0)
}

function wordsOf({ events, guard, actions, into }: ChartRule): readonly TextPart[] {
  return [
    ...list('event', events),
    ...(guard === null ? [] : [{ kind: 'guard', text: `[${guard}]` } as const]),
    ...list('action', actions).map((part, at) => (at === 0 ? { ...part, text: `/ ${part.text}` } : part)),
    ...(into === null ? [] : [{ kind: 'into', text: `→ ${into}` } as const]),
  ]
}

function list(kind: TextPart['kind'], words: readonly string[]): readonly TextPart[] {
  return words.map((word, at) => ({ kind, text: at < words.length - 1 ? `${word},` : word }))
}
