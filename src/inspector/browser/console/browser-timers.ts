/** Runs the work after some time; the answer calls it off. */
export function after(ms: number, work: () => void): () => void {
  const timer = setTimeout(work, ms)
  return () => clearTimeout(timer)
}

export function every(ms: number, work: () => void): void {
  setInterval(work, ms)
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void after(ms, resolve))
}
