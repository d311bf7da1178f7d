const light =
  '--chart-ground:#ffffff;--chart-box:#f5f7fa;--chart-region:#fbfcfd;--chart-ink:#1b2430;--chart-line:#66717f;--chart-event:#1b2430;--chart-guard:#8a4600;--chart-action:#0f6437;--chart-active:#dcebff;--chart-mark:#0a5bb5;'
const dark =
  '--chart-ground:#12161c;--chart-box:#1c232d;--chart-region:#161c24;--chart-ink:#e8edf3;--chart-line:#93a1b1;--chart-event:#e8edf3;--chart-guard:#ffbe76;--chart-action:#7fdca4;--chart-active:#123a66;--chart-mark:#7ab8ff;'

const chart = '.landfall-chart'

/**
 * Colours of a drawn chart. They follow the reader's system, unless the picture or something around it has `data-theme`; a host
 * changes them by setting the `--chart-…` properties.
 */
export const chartStyle = [
  `${chart}{${light}font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;background:var(--chart-ground)}`,
  `@media (prefers-color-scheme:dark){${chart}{${dark}}}`,
  `[data-theme=light] ${chart},${chart}[data-theme=light]{${light}}`,
  `[data-theme=dark] ${chart},${chart}[data-theme=dark]{${dark}}`,
  `${chart} text{fill:var(--chart-ink)}`,
  `${chart} .name{font-size:13px;font-weight:700}`,
  `${chart} .head>rect{fill:var(--chart-region);opacity:.9}`,
  `${chart} .state>rect{fill:var(--chart-box);stroke:var(--chart-line)}`,
  `${chart} .compound>rect,${chart} .parallel>rect{fill:var(--chart-region)}`,
  `${chart} .region>rect{stroke-dasharray:5 4}`,
  `${chart} .final>rect{fill:none}`,
  `${chart} .final>rect:first-child{fill:var(--chart-box)}`,
  `${chart} .active>rect:first-child{fill:var(--chart-active);stroke:var(--chart-mark);stroke-width:2.5}`,
  `${chart} .compound.active>rect:first-child,${chart} .parallel.active>rect:first-child{fill:var(--chart-region)}`,
  `${chart} .arrow{fill:none;stroke:var(--chart-line);stroke-width:1.3}`,
  `${chart} .tip,${chart} .start{fill:var(--chart-line)}`,
  `${chart} .label>rect{fill:var(--chart-ground);opacity:.86}`,
  `${chart} .event{fill:var(--chart-event)}`,
  `${chart} .guard{fill:var(--chart-guard)}`,
  `${chart} .action,${chart} .into{fill:var(--chart-action)}`,
  `${chart} .arrow.taken{stroke:var(--chart-mark);stroke-width:2.6}`,
  `${chart} .label.taken>rect{stroke:var(--chart-mark)}`,
].join('')
