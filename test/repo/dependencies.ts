import { importsOf, packageOf } from './imports.ts'
import type { SourceFile } from './source-files.ts'

export interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

/** Development packages that no source imports because they are commands or types. */
const commands = new Set(['@biomejs/biome', 'typescript'])

const exact = /^\d+\.\d+\.\d+(-[\w.]+)?$/

export function inexactVersions(manifest: Manifest): string[] {
  return [manifest.dependencies, manifest.devDependencies, manifest.optionalDependencies]
    .flatMap((group) => Object.entries(group ?? {}))
    .filter(([, version]) => !exact.test(version))
    .map(([name, version]) => `${name}@${version} is not an exact version`)
}

function bareImports(files: readonly SourceFile[]): { path: string; name: string }[] {
  return files.flatMap((file) =>
    importsOf(file).flatMap(({ specifier }) => {
      const name = packageOf(specifier)
      return name === null || name === 'landfall' ? [] : [{ path: file.path, name }]
    }),
  )
}

/** Pages are bundled when they are built, so what they import need not be installed with the package. */
const bundled = /^src\/inspector\/browser\//
const shipping = (path: string) => /^(src|machines)\//.test(path) && !bundled.test(path)

/** What ships may import only what is installed with it; tests may import everything declared. */
export function undeclaredImports(files: readonly SourceFile[], manifest: Manifest): string[] {
  const shipped = new Set(
    [manifest.dependencies, manifest.peerDependencies, manifest.optionalDependencies].flatMap((g) =>
      Object.keys(g ?? {}),
    ),
  )
  const development = new Set([...shipped, ...Object.keys(manifest.devDependencies ?? {})])
  return bareImports(files)
    .filter(({ path, name }) => !(shipping(path) ? shipped : development).has(name))
    .map(({ path, name }) => `${path}: ${name} is not declared`)
}

export function unusedDependencies(files: readonly SourceFile[], manifest: Manifest): string[] {
  const used = new Set(bareImports(files).map(({ name }) => name))
  const shipped = new Set(bareImports(files.filter((f) => shipping(f.path))).map(({ name }) => name))
  const needless = Object.keys(manifest.dependencies ?? {}).filter((name) => !shipped.has(name))
  const idle = Object.keys(manifest.devDependencies ?? {}).filter(
    (name) => !used.has(name) && !name.startsWith('@types/') && !commands.has(name),
  )
  return [...needless, ...idle].map((name) => `${name} is declared and not used`)
}
