/** A map that notes what is put into it: the last value of each key, also of one that has been taken out since. */
export class NotedMap<K, V> extends Map<K, V> {
  #noted = new Map<K, V>()

  override set(key: K, value: V): this {
    this.#noted.set(key, value)
    return super.set(key, value)
  }

  /** What was noted since the last look. */
  takeNoted(): ReadonlyMap<K, V> {
    const noted = this.#noted
    this.#noted = new Map()
    return noted
  }
}

/** A copy that begins with nothing noted. The base class cannot fill it: it would note before there is a place to note in. */
export function notedMap<K, V>(entries: ReadonlyMap<K, V>): NotedMap<K, V> {
  const map = new NotedMap<K, V>()
  for (const [key, value] of entries) map.set(key, value)
  map.takeNoted()
  return map
}
