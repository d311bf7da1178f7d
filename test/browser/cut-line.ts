import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

export interface Line {
  readonly url: string
  /** Ends every connection and takes no new one until it is mended. */
  cut(): void
  mend(): void
}

/** A line to a server that a test can cut, as networks do. */
export async function lineTo(address: string): Promise<Line> {
  const { hostname, port } = new URL(address)
  const open = new Set<Socket>()
  let isCut = false
  const relay = createServer((near) => {
    if (isCut) {
      near.destroy()
      return
    }
    const far = connect(Number(port), hostname)
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(one)
      one.pipe(other)
      one.once('error', () => other.destroy())
      one.once('close', () => {
        open.delete(one)
        other.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve))
  const end = () => {
    for (const socket of open) socket.destroy()
  }
  onTestFinished(() => {
    end()
    relay.close()
  })
  return {
    url: `http://127.0.0.1:${(relay.address() as AddressInfo).port}`,
    cut: () => {
      isCut = true
      end()
    },
    mend: () => {
      isCut = false
    },
  }
}
