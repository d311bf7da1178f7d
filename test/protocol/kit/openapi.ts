import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'

export interface Operation {
  readonly operationId: string
  readonly parameters?: readonly {
    readonly name: string
    readonly in: 'path' | 'query' | 'header'
    readonly required?: boolean
    readonly schema: Schema
  }[]
  readonly requestBody?: { readonly content: { readonly [type: string]: { readonly schema: Schema } } }
  readonly responses: {
    readonly [status: string]: { readonly content: { readonly [type: string]: { readonly schema: Schema } } }
  }
}

export type Schema = { readonly [key: string]: unknown }

export interface Document {
  readonly openapi: string
  readonly paths: { readonly [path: string]: { readonly [method: string]: Operation } }
  readonly components: { readonly schemas: { readonly [name: string]: Schema } }
}

export interface Described {
  readonly method: string
  readonly path: string
  readonly operation: Operation
}

export function operationsOf(document: Document): readonly Described[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  )
}

/** Compiles schemas of the document as JSON Schema 2020-12, with its components at hand. Throws for one that is none. */
export function validators(document: Document): (schema: Schema) => ValidateFunction {
  const ajv = new Ajv2020({ strict: false, allErrors: false })
  ajv.addSchema({ $id: 'openapi', components: document.components })
  const compiled = new Map<string, ValidateFunction>()
  return (schema) => {
    const text = JSON.stringify(schema).replaceAll('"#/components/', '"openapi#/components/')
    const known = compiled.get(text)
    if (known !== undefined) return known
    const validate = ajv.compile(JSON.parse(text))
    compiled.set(text, validate)
    return validate
  }
}

const plain = new Ajv2020({ strict: false })

/** Whether something is a JSON Schema 2020-12 at all. */
export function isSchema(schema: Schema): boolean {
  return plain.validateSchema(schema) === true
}

/** Everything that a part of the document refers to. */
export function references(part: unknown): string[] {
  if (typeof part !== 'object' || part === null) return []
  return Object.entries(part).flatMap(([key, value]) =>
    key === '$ref' && typeof value === 'string' ? [value] : references(value),
  )
}
