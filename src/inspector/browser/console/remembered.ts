import type { Credentials } from './api.ts'
import type { Theme } from './console-store.ts'
import { type AllUnsent, afterReload } from './unsent.ts'

const credentialsKey = 'landfall.credentials'
const unsentName = 'landfall.unsent'
const themeKey = 'landfall.theme'

/** A token is as good as the reader, so it is forgotten with the tab. */
export function rememberCredentials(credentials: Credentials): void {
  quietly(() => sessionStorage.setItem(credentialsKey, JSON.stringify(credentials)))
}

export function rememberedCredentials(): Credentials {
  const known: unknown = quietly(() => JSON.parse(sessionStorage.getItem(credentialsKey) ?? 'null'))
  const { tenant, user, token } = (known ?? {}) as Partial<Credentials>
  return { tenant: tenant ?? 'local', user: user ?? 'local', token: token ?? '' }
}

/** What was typed is the reader's, and outlives a reload; it is forgotten with the tab. */
export function rememberUnsent(unsent: AllUnsent): void {
  quietly(() => sessionStorage.setItem(unsentName, JSON.stringify(unsent)))
}

export function rememberedUnsent(): AllUnsent {
  return quietly(() => afterReload(JSON.parse(sessionStorage.getItem(unsentName) ?? '{}') as AllUnsent)) ?? {}
}

export function rememberTheme(theme: Theme): void {
  quietly(() => localStorage.setItem(themeKey, theme))
}

export function rememberedTheme(): Theme {
  const known = quietly(() => localStorage.getItem(themeKey))
  return known === 'light' || known === 'dark' ? known : 'auto'
}

/** A browser may keep nothing; the page works all the same. */
function quietly<T>(work: () => T): T | null {
  try {
    return work()
  } catch {
    return null
  }
}
