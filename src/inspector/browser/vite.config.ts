import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

const here = fileURLToPath(new URL('.', import.meta.url))

/** Each page is one script and one style sheet, so that a page can be sent as one document with nothing to fetch. */
export default defineConfig({
  root: here,
  logLevel: 'warn',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: fileURLToPath(new URL('../../../dist/src/inspector/browser', import.meta.url)),
    emptyOutDir: true,
    lib: { entry: { 'chart-page': `${here}chart-page.tsx` }, formats: ['es'], cssFileName: 'chart-page' },
    modulePreload: false,
  },
})
