/** What somebody sees who opens the address in a browser. */
export function frontPage(origin: string): string {
  const lines = curlLines(origin)
    .map(([why, line]) => `<dt>${escaped(why)}</dt><dd><pre><code>${escaped(line)}</code></pre></dd>`)
    .join('\n')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Landfall</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem; }
pre { overflow-x: auto; padding: .75rem; border: 1px solid; border-radius: .25rem; }
dd { margin: 0 0 1rem; }
</style>
</head>
<body>
<h1>Landfall</h1>
<p>This server works. A terminal is a complete client of it:</p>
<dl>
${lines}
</dl>
<p>Every route is described in <a href="openapi.json">openapi.json</a>, the charts are at <a href="v1/machines">v1/machines</a>.</p>
</body>
</html>
`
}

/** Three lines to try, each with what it is for. */
export function curlLines(origin: string): readonly (readonly [why: string, line: string])[] {
  const session = `${origin}/v1/sessions/first`
  return [
    ['Start a turn', `curl -s ${session}/tasks -d '{"action":"start","input":"What is in this folder?"}'`],
    ['Watch the session, from its first fact', `curl -sN ${session}/events`],
    ['Read the conversation', `curl -s ${session}/messages`],
  ]
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
