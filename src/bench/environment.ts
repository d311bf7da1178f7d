/**
 * Owns the temporary directories of a benchmark run.
 * 1. Each `directory()` is new and empty, and `dispose` removes them all.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Loaded, Product } from './product.ts'

/** How much of everything: `quick` to see that it works, `normal` for figures, `long` for the slow ends too. */
export type Scale = 'quick' | 'normal' | 'long'

export interface BenchEnvironment {
  readonly product: Loaded<Product>
  readonly scale: Scale
  directory(): string
}

export interface DisposableEnvironment extends BenchEnvironment {
  dispose(): void
}

export function createEnvironment(scale: Scale, product: Loaded<Product>): DisposableEnvironment {
  const root = mkdtempSync(join(tmpdir(), 'landfall-bench-'))
  return {
    product,
    scale,
    directory: () => mkdtempSync(join(root, 'case-')),
    dispose: () => rmSync(root, { recursive: true, force: true }),
  }
}

/** Picks a size by scale; `long` is that of `normal` unless it is given. */
export function sized(env: BenchEnvironment, sizes: { quick: number; normal: number; long?: number }): number {
  return sizes[env.scale] ?? sizes.normal
}
