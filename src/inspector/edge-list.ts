/** Ids of edges as the text of one attribute. An id holds the name of an event, and so any sign at all. */
export function edgeListText(edges: readonly string[]): string {
  return edges.map((id) => id.replace(/[%|]/g, (sign) => (sign === '%' ? '%25' : '%7C'))).join('|')
}

export function edgesIn(text: string): readonly string[] {
  return text.split('|').map((id) => id.replaceAll('%7C', '|').replaceAll('%25', '%'))
}
