/**
 * Signs that change how a text reads and cannot be seen: those that turn the order of letters around, that take no room, that
 * control a terminal, and halves of letters. Some signs of Arabic are of their class and can be seen.
 */
const always =
  /(?![\u0600-\u0605\u06DD\u070F\u0890\u0891\u08E2\u200C\u200D])\p{Cf}|\r(?!\n)|(?![\t\n\r])\p{Cc}|[\p{Zl}\p{Zp}\p{Cs}\u115F\u1160\u2800\u3164\uFFA0]|\u034F|\u17B4|\u17B5/gu
/** Joiners belong to pictures and to scripts whose letters join; between other letters they only hide. */
const joiners = /(?<!(?!\p{Script=Latin}|\p{Script=Greek}|\p{Script=Cyrillic})[\p{L}\p{M}\p{So}\p{Sk}])[\u200C\u200D]/gu
/** One of them chooses how the sign before looks; a row of them is a message that nobody sees. */
const selectors = /(?<![\p{So}\p{Sm}\p{Po}#*0-9\p{Script=Han}\p{Script=Mongolian}])[\uFE00-\uFE0F\u{E0100}-\u{E01EF}]/gu

/** A text of others as it may be shown: what cannot be seen is written out, so that one reads what is there. */
export function seen(text: string): string {
  return text.replace(always, mark).replace(joiners, mark).replace(selectors, mark)
}

function mark(sign: string): string {
  return `⟨U+${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`
}
