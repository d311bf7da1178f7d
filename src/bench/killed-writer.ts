/**
 * A process of its own that writes turns and then kills itself, so that what it leaves behind is what a crash leaves:
 * nothing closed, nothing released. Arguments: `product` or `floor`, a directory, a number of turns.
 */
import { join } from 'node:path'
import { FloorStore } from './floor.ts'
import { fillFloor } from './floor-replay.ts'
import { loadProduct } from './product.ts'
import { openRuntime, runTurns, scopeOf } from './workload.ts'

const [subject = '', directory = '', turns = '0'] = process.argv.slice(2)

if (subject === 'floor') {
  fillFloor(new FloorStore(join(directory, 'floor.db')), Number(turns))
} else {
  const product = await loadProduct()
  if ('missing' in product) throw new Error(product.missing)
  const runtime = await openRuntime(product.found, directory)
  await runTurns(runtime.session(scopeOf(0)), 1, Number(turns))
}
process.kill(process.pid, 'SIGKILL')
