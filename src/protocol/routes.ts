import type { Route } from './route.ts'
import { eventRoutes } from './routes/event-routes.ts'
import { memoryRoutes } from './routes/memory-routes.ts'
import { readRoutes } from './routes/read-routes.ts'
import { sessionRoutes } from './routes/session-routes.ts'
import { storeRoutes } from './routes/store-routes.ts'
import { taskRoutes } from './routes/task-routes.ts'

/** Every route of the protocol that works on the store, in the order of its description. */
export const routes: readonly Route[] = [
  ...storeRoutes,
  ...sessionRoutes,
  ...taskRoutes,
  ...readRoutes,
  ...memoryRoutes,
  ...eventRoutes,
]
