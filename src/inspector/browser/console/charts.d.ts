/** Made when the page is built: the drawings by the name of their chart, as SVG text. */
declare module 'virtual:charts' {
  export const charts: { readonly session: string; readonly task: string; readonly call: string }
}

declare module 'virtual:charts.css'
