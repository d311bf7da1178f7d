// Landfall inside a web application that you have already. Run it: node embed-in-a-hono-app.mjs
// It prints its address; every route of `landfall serve` is under /agent, and curl is a complete client.
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { openRuntime, scriptedModel } from 'landfall'
import { serverApp } from 'landfall/server'
import { sqliteLog } from 'landfall/sqlite'

const model = scriptedModel({ everyTurn: [{ text: 'You asked: {{input}}' }] })
const runtime = await openRuntime({ log: sqliteLog(process.argv[2] ?? 'app.db'), model })

const app = new Hono()
app.get('/', (c) => c.text('This is my own application.\n'))
app.route('/agent', serverApp(runtime))

const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) => {
  console.log(`http://127.0.0.1:${port}`)
})

process.once('SIGTERM', async () => {
  server.close()
  server.closeAllConnections?.()
  await runtime.close()
})
