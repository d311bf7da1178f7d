import { spawn } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'

// Runs a Docker engine for as long as a process goes on, however that ends, and removes what it left.
const [until = '', folder = '', ended = '', ...words] = process.argv.slice(2)
const daemon = spawn('/usr/sbin/dockerd', words, { stdio: 'ignore' })
const over = new Promise((resolve) => daemon.once('close', resolve).once('error', resolve))
over.then(() => writeFileSync(ended, ''))

function goesOn() {
  try {
    process.kill(Number(until), 0)
    return true
  } catch {
    return false
  }
}

while (goesOn()) await new Promise((resolve) => setTimeout(resolve, 100))
// A test may have held it up.
daemon.kill('SIGCONT')
daemon.kill('SIGTERM')
await over
rmSync(folder, { recursive: true, force: true })
