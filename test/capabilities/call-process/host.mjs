// A host that runs a program with a grandchild for a call, tells their process ids, and waits to be killed.
import { callProcess } from '../../../dist/src/index.js'

const script = 'sleep 300 & echo $! > "$1"; echo $$ >> "$1"; wait'
await callProcess({ signal: new AbortController().signal }, ['/bin/sh', '-c', script, 'sh', process.argv[2]])
