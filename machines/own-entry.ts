/** What a record holds under a name that came from outside: `constructor` and its like are names too, and no entry of it. */
export function ownEntry<T>(record: { readonly [name: string]: T }, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined
}
