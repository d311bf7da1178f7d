/** An active skill as requests carry it, behind the system text. */
export function skillText(id: string, body: string): string {
  return `# ${id}\n\n${body}`
}

/** Bytes that it adds to a request. */
export function skillBytes(id: string, body: string): number {
  return Buffer.byteLength(skillText(id, body)) + 2
}
