import type { JsonObject } from '../../../machines/vocabulary.ts'
import { type CatalogSnapshot, parseSnapshot } from '../../capabilities/catalog-snapshot.ts'
import type { ModelMessage } from '../../facts/ports.ts'
import { Bodies } from '../../runtime/bodies.ts'
import { standInHost } from './stand-in-host.ts'

/** Has something for everybody who asks. */
export class Wishes<K, V> extends Map<K, V> {
  readonly #otherwise: (key: K) => V | undefined

  constructor(otherwise: (key: K) => V | undefined) {
    super()
    this.#otherwise = otherwise
  }

  override get(key: K): V | undefined {
    return super.get(key) ?? this.#otherwise(key)
  }
}

const text = 'What was said here.'
const catalog: CatalogSnapshot = parseSnapshot(standInHost.catalog.body)
const message: ModelMessage = Object.freeze({ role: 'user', content: text })

const texts = <K>() => new Wishes<K, string>(() => text)

/** Content of facts that were played by hand, which name it and have none. */
export class StandInBodies extends Bodies {
  override readonly inputs = texts<string>()
  override readonly steering = texts<string>()
  override readonly answers = new Wishes<string, string>(() => JSON.stringify(text))
  override readonly outputs = texts<string>()
  override readonly arguments = new Wishes<string, JsonObject>(() => ({}))
  override readonly messages = new Wishes<string, ModelMessage>(() => message)
  override readonly summaries = texts<string>()
  override readonly systems = texts<string>()
  override readonly catalogs = new Wishes<string, CatalogSnapshot>(() => catalog)
  override readonly skills = texts<string>()
  override readonly quotes = texts<string>()
  override readonly results = texts<string>()
}
