import { options, type VNode } from 'preact'
import { seen } from './unseen.ts'

const spoken = ['aria-label', 'aria-valuetext', 'title'] as const

type Props = { children?: unknown } & { [name in (typeof spoken)[number]]?: unknown }

/**
 * Lets no text onto the page, and none to those who hear it, with signs in it that cannot be seen. It stands where every element
 * passes, so that nobody has to think of it; what is typed into a box is its reader's and stays as it is.
 */
export function showUnseen(): void {
  const before = options.vnode
  options.vnode = (vnode: VNode) => {
    const props = vnode.props as Props
    if (props.children !== undefined) props.children = seenIn(props.children)
    for (const name of spoken) if (typeof props[name] === 'string') props[name] = seen(props[name])
    before?.(vnode)
  }
}

/** Elements passed here themselves. */
function seenIn(children: unknown): unknown {
  if (typeof children === 'string') return seen(children)
  return Array.isArray(children) ? children.map(seenIn) : children
}
