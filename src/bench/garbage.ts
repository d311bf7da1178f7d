import { setImmediate as nextTurnOfLoop } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Bytes that are really held, on the heap and in buffers beside it, after the loop and the collector have settled. */
export async function heldBytes(): Promise<number> {
  for (let pass = 0; pass < 3; pass += 1) {
    await nextTurnOfLoop()
    collect()
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
